package siftr

import (
	"encoding/binary"
	"math/bits"
)

// A decRepeater does for decimal records what a repeater does for hexadecimal
// ones. Decimal numbers are longer: those of more than seven digits have a second
// word.
type decRepeater struct {
	word, mask [decNumbers]uint64
	rest, tail [decNumbers]uint64 // of the bytes behind the first eight: w&tail == rest
	size       [decNumbers]int    // bytes, with the separator
	v          [decNumbers]uint32
}

// decWindow is from the first number on; 24 numbers of ten digits have 264 bytes.
const decWindow = 512 + 16

func newDecRepeater() *decRepeater {
	r := new(decRepeater)
	r.forget()
	return r
}

// forget makes r remember nothing.
func (r *decRepeater) forget() {
	for f := range r.word {
		r.word[f], r.mask[f] = 1, 0 // fits nothing
	}
}

// decFields reads the n numbers of a record from b[start] to its newline into r.v and
// returns the place behind it, or -1 when something is not right, or not usual,
// there. b must reach to decWindow behind start.
func (r *decRepeater) decFields(b []byte, start, n int) int {
	a := (*[decWindow]byte)(b[start:])
	var bad uint64
	i := 0
	for f := range r.word[:n] {
		at := i & 511
		w := binary.LittleEndian.Uint64(a[at:])
		if w&r.mask[f] == r.word[f] && (r.size[f] <= 8 || binary.LittleEndian.Uint64(a[at+8:])&r.tail[f] == r.rest[f]) {
			i += r.size[f]
			continue
		}
		end := byte(',')
		if f == n-1 {
			end = '\n'
		}
		x := ^w << 3 & (0x80 * ones) // the bytes of w that are no digits: those have bit 4
		if x == 0 {
			size := r.long(f, a[at:], end)
			if size == 0 {
				bad = 1
				break
			}
			i += size
			continue
		}
		mask := x ^ (x - 1) // all bytes up to the first of them
		size := r.size[f]
		if mask != r.mask[f] || size > 8 {
			size = bits.OnesCount64(mask) >> 3
			r.mask[f], r.size[f] = mask, size
		}
		r.word[f] = w & mask
		i += size
		bad |= uint64(a[(i-1)&511] ^ end)
		d := (w ^ 0x30*ones) << ((72 - 8*size) & 63) // the last digit comes to the top
		bad |= (d + 0x76*ones | d) & (0x80 * ones)   // each byte is below 10
		r.v[f] = fold(d)
	}
	if bad != 0 {
		r.forget()
		return -1
	}
	return start + i
}

// long reads field f, a number of 8 to 10 digits that fits 32 bits, and returns its
// size, 0 when it is none.
func (r *decRepeater) long(f int, b []byte, end byte) int {
	n, v := 0, uint64(0)
	for n < 11 && b[n]-'0' <= 9 {
		v = v*10 + uint64(b[n]-'0')
		n++
	}
	if n > 10 || v > 1<<32-1 || b[n] != end {
		return 0
	}
	r.v[f], r.size[f] = uint32(v), n+1
	r.word[f], r.mask[f] = binary.LittleEndian.Uint64(b), ^uint64(0)
	r.tail[f] = ^uint64(0) >> ((128 - 8*(n+1)) & 63)
	r.rest[f] = binary.LittleEndian.Uint64(b[8:]) & r.tail[f]
	return n + 1
}

// sixDigits is the number whose digits are the first six bytes of w.
func sixDigits(w uint64) (x uint32, ok bool) {
	d := (w ^ 0x30*ones) << 16 // a digit a byte, behind two zeros
	ok = (d+0x76*ones|d)&(0x80*ones) == 0
	return fold(d), ok
}

// fold makes one number of the eight digits in d, a byte each.
func fold(d uint64) uint32 {
	d = d * (1 + 10<<8) >> 8 & 0x00ff00ff00ff00ff
	d = d * (1 + 100<<16) >> 16 & 0x0000ffff0000ffff
	return uint32(d * (1 + 10000<<32) >> 32)
}
