// Package bsd decodes what a FreeBSD kernel answers to sysctl and ioctl calls and
// says on a route socket: interface counters and link state, interrupt counters,
// core times, the table of TCP connections, interface capabilities. It takes
// bytes and gives records; it makes no call, so every decoder is tested on any
// system with bytes that real kernels gave.
//
// Layouts are those of 64-bit FreeBSD 12 to 15 (amd64, arm64: both little-endian).
// What has a length of its own is refused when the length is another one.
package bsd

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// ErrFormat is wrapped by every error of this package: the bytes are not what the
// kernel's headers promise.
var ErrFormat = errors.New("unexpected format")

var order = binary.LittleEndian

// cString is the text before the first NUL.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
