package siftr

import (
	"encoding/binary"
	"math/bits"
)

// A repeater reads hexadecimal records where there is no vectorHex, and the few that
// vectorHex leaves. From one record of a connection to the next most fields stay as
// they are, and a field that stays has the same digits. A repeater remembers the
// digits of each field together with the separator behind them, as a machine word:
// comparing that is several times cheaper than reading digits, and the comparison is
// one that branch prediction gets right. Of the fields that change most keep their
// length, so that the place of the next one is known before the digits are looked at.
type repeater struct {
	// The text of each field when it was last read: w&mask == word where it is there
	// again.
	word, mask [hexNumbers]uint64
	size       [hexNumbers]int // bytes, with the separator
	v          [hexNumbers]uint32
}

const (
	ones = 0x0101010101010101

	// A record of 16 numbers has at most 155 bytes. Indices are cut to 8 bits, which
	// spares the checks of bounds, and a word is read at each.
	lineWindow = 256 + 8

	// payloadNumber is the field that goes to 0 and back from record to record: its
	// length is not guessed.
	payloadNumber = 4
)

func newRepeater() *repeater {
	r := new(repeater)
	r.forget()
	return r
}

// forget makes r remember nothing.
func (r *repeater) forget() {
	for f := range r.word {
		r.word[f], r.mask[f] = 1, 0 // fits nothing
	}
}

// hexFields reads the numbers of the record of f that line begins with, and returns
// them and the size of the record with its newline, or a size of 0 when something is
// not right there.
func (f *Flow) hexFields(line *[lineWindow]byte) (v *[hexNumbers]uint32, size int) {
	if f.repeater == nil {
		f.repeater = newRepeater()
	}
	return &f.repeater.v, f.repeater.hexFields(line)
}

// hexFields reads the numbers into r.v. No branch depends on a digit: what is wrong is
// gathered in bad.
func (r *repeater) hexFields(line *[lineWindow]byte) int {
	var bad uint64
	i := hexHead
	for f := 0; f < hexNumbers; f++ {
		w := binary.LittleEndian.Uint64(line[i&255:])
		if w&r.mask[f] == r.word[f] {
			i += r.size[f]
			continue
		}
		x := (0xaf*ones - w) & (0x80 * ones) // the bytes of w below '0'
		if x == 0 && w == r.word[f] {        // eight digits again; their separator is not in w
			i += 9
			bad |= uint64(line[(i-1)&255] ^ separators[f])
			continue
		}
		mask := x ^ (x - 1) // all bytes up to the first of them
		size := r.size[f]
		if f == payloadNumber || mask != r.mask[f] {
			size = bits.OnesCount64(mask) >> 3
			r.mask[f], r.size[f] = mask, size
			if x == 0 {
				size = 9
				r.mask[f] = 0 // fits nothing
			}
		}
		r.word[f] = w & mask
		i += size
		bad |= uint64(line[(i-1)&255] ^ separators[f])
		d := (binary.LittleEndian.Uint64(line[(i-9)&255:]) ^ 0x30*ones) & digits[size&15]
		letter := d >> 6 & ones // 'a'^0x30 is 0x51
		v := d - letter*(0x51-10)
		bad |= (v | ((v + 6*ones) ^ letter<<4)) & (0xf0 * ones) // v is below 16, and a letter from 10 on
		v = v * (1 + 1<<12) >> 8 & 0x00ff00ff00ff00ff
		v = v * (1 + 1<<24) >> 16 & 0x0000ffff0000ffff
		r.v[f] = uint32(v<<16 | v>>32)
	}
	if bad != 0 {
		r.forget()
		return 0
	}
	return i
}

var separators = [hexNumbers]byte{',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', ',', '\n'}

// digits masks the digits of a field by its size with the separator, in a word that
// ends before the separator. An empty field has what is in front of it for a digit,
// which is none.
var digits = [16]uint64{
	1: 0xff << 56,
	2: 0xff << 56,
	3: 0xffff << 48,
	4: 0xffffff << 40,
	5: 0xffffffff << 32,
	6: 0xffffffffff << 24,
	7: 0xffffffffffff << 16,
	8: 0xffffffffffffff << 8,
	9: 0xffffffffffffffff,
}
