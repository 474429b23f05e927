package siftr

import "golang.org/x/sys/cpu"

// hasVector tells whether this machine can run vectorHex: it needs AVX2 and the bit
// instructions that came with it.
func hasVector() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 }

// vectorHex reads the numbers of the record that line begins with into v and returns
// the size of the record with its newline. It returns 0, and leaves anything in v, for
// a record that is not flawless (a field that is empty, has more than eight digits or
// another byte than 0 to 9 and a to f) and for one with eight neighbouring fields in
// more than 64 bytes. Unlike a repeater it remembers nothing and has no branch that
// depends on the text.
//
//go:noescape
func vectorHex(line *[lineWindow]byte, v *[hexNumbers]uint32) int
