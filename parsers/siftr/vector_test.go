package siftr

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// fields are texts that a field may have, and some that it may not.
var fields = []string{
	"0", "f", "10", "9a9", "ffff", "12345", "abcdef", "7654321", "3fffc000", "ffffffff",
	"", "123456789", "1g", "A", "-1", "/", ":", "`", "1\x002", "\xb1", "7,,",
}

const flawless = 10 // of them

// hexLine is a record with these numbers, in a window that other records fill.
func hexLine(numbers []string) *[lineWindow]byte {
	line := "52455584,o," + strings.Join(numbers, ",") + "\n"
	for len(line) < lineWindow {
		line += "29273623,i,2709,ae1e3,53e1b,2c53,0,be06b,100a4,10003e1,2,38270,b650f,9b22a,100a4,0,9ad70,0\n"
	}
	return (*[lineWindow]byte)([]byte(line))
}

// plainly reads the record digit by digit; 0 is no record.
func plainly(line *[lineWindow]byte) (v [hexNumbers]uint32, size int) {
	return v, max(0, hexFields(line[:], hexHead, &v))
}

// fits tells whether vectorHex promises to read a flawless record.
func fits(numbers []string) bool {
	return len(strings.Join(numbers[:8], ",")) < 64 && len(strings.Join(numbers[8:], ",")) < 64
}

func checkVector(t *testing.T, line *[lineWindow]byte, must bool) {
	t.Helper()
	want, size := plainly(line)
	var got [hexNumbers]uint32
	switch n := vectorHex(line, &got); {
	case n == 0 && !(must && size > 0):
	case n != size || got != want:
		t.Fatalf("%q\nvector: %d bytes, %x\nplain:  %d bytes, %x", line[:], n, got, size, want)
	}
}

// TestVector: vectorHex reads what hexFields reads, and nothing else.
func TestVector(t *testing.T) {
	if !hasVector() {
		t.Skip("this machine has no AVX2")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := make([]string, hexNumbers)
	read, all := 0, 200_000
	for round := range all {
		choice := len(fields)
		if round%2 == 0 {
			choice = flawless
		}
		for f := range numbers {
			numbers[f] = fields[rnd.IntN(flawless)]
		}
		numbers[rnd.IntN(hexNumbers)] = fields[rnd.IntN(choice)]
		line := hexLine(numbers)
		checkVector(t, line, fits(numbers))
		if _, size := plainly(line); size > 0 && fits(numbers) {
			read++
		}
	}
	if read < all/4 {
		t.Errorf("only %d of %d records were of the kind that vectorHex reads", read, all)
	}
}

// TestVectorBytes puts every byte in each place of a record, and of what follows it.
func TestVectorBytes(t *testing.T) {
	if !hasVector() {
		t.Skip("this machine has no AVX2")
	}
	for _, text := range []string{
		"2709,ae1e3,53e1b,2c53,0,be06b,100a4,10003e1,2,38270,b650f,9b22a,100a4,0,9ad70,0",
		"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
		"1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567,1234567", // 64 and 64 bytes
	} {
		line := hexLine(strings.Split(text, ","))
		checkVector(t, line, true)
		for at := hexHead; at < hexHead+140; at++ {
			was := line[at]
			for c := range 256 {
				line[at] = byte(c)
				checkVector(t, line, false)
			}
			line[at] = was
		}
	}
}
