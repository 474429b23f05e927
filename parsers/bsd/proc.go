package bsd

import "fmt"

// Places in struct kinfo_proc of 64-bit FreeBSD 12 to 15, sys/user.h: two integers, eight
// pointers, the process's numbers, and so on to its times. Its first word is its length.
const (
	procLen   = 1088
	procPID   = 72
	procStart = 336
)

// ParseProcStart decodes when a process began out of the reply to kern.proc.pid: seconds
// since 1970.
func ParseProcStart(b []byte, pid int) (int64, error) {
	if len(b) < procLen || order.Uint32(b) != procLen {
		return 0, fmt.Errorf("kern.proc.pid: %d bytes, want %d: %w", len(b), procLen, ErrFormat)
	}
	if got := int(int32(order.Uint32(b[procPID:]))); got != pid {
		return 0, fmt.Errorf("kern.proc.pid: process %d, want %d: %w", got, pid, ErrFormat)
	}
	return Timeval(b[procStart:])
}

// Timeval decodes the seconds of a struct timeval.
func Timeval(b []byte) (int64, error) {
	if len(b) < 16 {
		return 0, fmt.Errorf("a time of %d bytes: %w", len(b), ErrFormat)
	}
	return int64(order.Uint64(b)), nil
}
