package siftr

import (
	"encoding/binary"
	"math/bits"
)

// A decRepeater does for decimal records what a repeater does for hexadecimal
// ones. Decimal numbers are longer, so two words hold the text of a field.
type decRepeater struct {
	fields [decNumbers]decRepeated
	v      [decNumbers]uint32
}

type decRepeated struct {
	word, mask [2]uint64
	size       int // bytes, with the separator
}

// decWindow is more than a record can have from its first number on.
const decWindow = decNumbers*11 + 16

func newDecRepeater() *decRepeater {
	r := new(decRepeater)
	r.forget()
	return r
}

// forget makes r remember nothing.
func (r *decRepeater) forget() {
	for f := range r.fields {
		r.fields[f] = decRepeated{word: [2]uint64{1, 0}} // mask 0: fits nothing
	}
}

// decFields reads the first n numbers of a record, which begins at b[i], up to its
// newline, and returns the place behind it, or -1 when something is not right, or
// not usual, there. b must reach decWindow beyond i.
func (r *decRepeater) decFields(b []byte, i, n int) int {
	bad := false
	for f := range r.fields[:n] {
		c := &r.fields[f]
		lo, hi := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:])
		if (lo&c.mask[0]^c.word[0])|(hi&c.mask[1]^c.word[1]) == 0 {
			i += c.size
			continue
		}
		size := bits.TrailingZeros64(^lo&(0x10*ones)) >> 3 // digits have bit 4 set, separators do not
		x, ok := decimal8(lo, size)
		if size == 8 && b[i+8] >= '0' {
			size, x, ok = longDecimal(b, i)
		}
		end := byte(',')
		if f == n-1 {
			end = '\n'
		}
		if !ok || b[i+size] != end {
			bad = true
			break
		}
		r.v[f] = x
		c.set(lo, hi, size+1)
		i += size + 1
	}
	if bad {
		r.forget()
		return -1
	}
	return i
}

// set remembers a text of size bytes, at most 11.
func (c *decRepeated) set(lo, hi uint64, size int) {
	c.size = size
	if size <= 8 {
		c.mask = [2]uint64{^uint64(0) >> ((64 - 8*size) & 63), 0}
	} else {
		c.mask = [2]uint64{^uint64(0), ^uint64(0) >> ((128 - 8*size) & 63)}
	}
	c.word = [2]uint64{lo & c.mask[0], hi & c.mask[1]}
}

// decimal8 is the number whose n digits, 1 to 8, are the first bytes of w.
func decimal8(w uint64, n int) (x uint32, ok bool) {
	shift := uint(64-8*n) & 63
	v := w<<shift ^ (0x30*ones)<<shift // a digit a byte, in the last n; zeros before them
	ok = n > 0 && (v+0x76*ones|v)&(0x80*ones) == 0
	v = (v*10 + v>>8) & 0x00ff00ff00ff00ff
	v = (v*100 + v>>16) & 0x0000ffff0000ffff
	v = v*10000 + v>>32
	return uint32(v), ok
}

// longDecimal reads a number of 9 or 10 digits that fits 32 bits.
func longDecimal(b []byte, i int) (n int, x uint32, ok bool) {
	var v uint64
	for n < 11 && b[i+n]-'0' <= 9 {
		v = v*10 + uint64(b[i+n]-'0')
		n++
	}
	return n, uint32(v), n <= 10 && v <= 1<<32-1
}
