package bsd

import "fmt"

// cpStates is CPUSTATES of sys/resource.h.
const cpStates = 5

// A CPTime is what one core has done since boot, in statclock ticks (clockrate's stathz).
type CPTime struct{ User, Nice, Sys, Intr, Idle uint64 }

// Busy is all but idle time. Interrupt threads count as Intr.
func (c CPTime) Busy() uint64 { return c.User + c.Nice + c.Sys + c.Intr }

// Total is all time told of the core.
func (c CPTime) Total() uint64 { return c.Busy() + c.Idle }

// AppendCPTimes decodes kern.cp_times (five longs a core) into dst.
func AppendCPTimes(dst []CPTime, b []byte) ([]CPTime, error) {
	const size = cpStates * 8
	if len(b) == 0 || len(b)%size != 0 {
		return dst, fmt.Errorf("kern.cp_times: %d bytes, want a multiple of %d: %w", len(b), size, ErrFormat)
	}
	for ; len(b) > 0; b = b[size:] {
		u64 := func(i int) uint64 { return order.Uint64(b[i*8:]) }
		dst = append(dst, CPTime{u64(0), u64(1), u64(2), u64(3), u64(4)})
	}
	return dst, nil
}

// ClockRate is kern.clockrate, struct clockinfo of sys/time.h.
type ClockRate struct {
	Hz     int // ticks per second of the timer that TCP's own times step with
	Tick   int // microseconds per tick
	StatHz int // ticks per second of kern.cp_times
}

// ParseClockRate decodes struct clockinfo.
func ParseClockRate(b []byte) (ClockRate, error) {
	if len(b) != 20 {
		return ClockRate{}, fmt.Errorf("kern.clockrate: %d bytes, want 20: %w", len(b), ErrFormat)
	}
	i32 := func(at int) int { return int(int32(order.Uint32(b[at:]))) }
	return ClockRate{Hz: i32(0), Tick: i32(4), StatHz: i32(12)}, nil
}
