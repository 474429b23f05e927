//go:build !amd64

package siftr

func hasVector() bool { return false }

func vectorHex(*[lineWindow]byte, *[hexNumbers]uint32) int { return 0 }
