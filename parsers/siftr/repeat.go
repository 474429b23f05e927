package siftr

import (
	"encoding/binary"
	"math/bits"
)

// From one record of a connection to the next most fields stay as they are, and a
// field that stays has the same digits. A repeater remembers the digits of each
// field together with the comma behind them, as a machine word: comparing that is
// several times cheaper than reading digits, and the comparison is one that branch
// prediction gets right.
type repeater struct {
	fields [hexNumbers]repeated
	v      [hexNumbers]uint32
}

// A repeated is the text of a field when it was last read: w&mask == word where it
// is there again.
type repeated struct {
	word, mask uint64
	size       int // bytes, with the separator
}

const (
	ones = 0x0101010101010101

	// lineWindow is more than a record can have from its first number on: 16 numbers
	// of 8 digits and as many separators.
	lineWindow = 256 + 8
)

func newRepeater() *repeater {
	r := new(repeater)
	r.forget()
	return r
}

// forget makes r remember nothing.
func (r *repeater) forget() {
	for f := range r.fields {
		r.fields[f] = repeated{word: 1} // mask 0: fits nothing
	}
}

// hexFields reads the numbers of a record from b[i] to its newline into r.v and
// returns the place behind it, or -1 when something is not right there. b must
// reach lineWindow beyond i. No branch depends on a digit: what is wrong is gathered
// in bad.
func (r *repeater) hexFields(b []byte, start int) int {
	var bad uint64
	a := (*[lineWindow]byte)(b[start:])
	i := 0
	for f := range r.fields {
		c := &r.fields[f]
		at := i & 255 // no more than i; it spares the check of bounds
		w := binary.LittleEndian.Uint64(a[at : at+8])
		if w&c.mask == c.word {
			i += c.size
			continue
		}
		// Digits have bit 4 set, letters bit 6; the separators have neither.
		n := bits.TrailingZeros64(^(w|w>>2)&(0x10*ones)) >> 3 & 15
		bad |= uint64(a[at+n] ^ separators[f])
		shift := uint(64-8*n) & 63
		digits := w << shift // in the last n bytes; before them zeros, which count as such
		letter := digits >> 6 & ones
		v := digits&(0x0f*ones) + letter*9
		// Written again, v must give the same digits: '0'+v below ten, 'a'-10+v from
		// there on.
		bad |= v + letter*('a'-10-'0') + (0x30*ones)<<shift ^ digits
		bad |= (v+0x76*ones)&(0x80*ones) ^ letter<<7 | (v+0x70*ones)&(0x80*ones)
		v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
		v = (v<<8 | v>>16) & 0x0000ffff0000ffff
		r.v[f] = uint32(v<<16 | v>>32)
		i += n + 1
		c.size = n + 1
		c.mask = ^uint64(0) >> ((56 - 8*n) & 63)
		c.word = w & c.mask
		if n == 8 { // no room for the separator
			c.mask, c.word = 0, 1
		}
	}
	if bad != 0 {
		r.forget()
		return -1
	}
	return start + i
}

var separators = [hexNumbers]byte{',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', '\n'}
