package linux

import (
	"bytes"
	"fmt"
)

// A CPUTime is what one processor has done since boot, in clock ticks
// (USER_HZ, 1/100 s). See proc_stat(5).
type CPUTime struct {
	CPU  int
	Busy uint64 // user, nice, system, irq, softirq; guests are part of user
	Idle uint64 // idle and waiting for I/O; this one may go back a little
	// Steal is time the hypervisor gave to others: neither busy nor idle, yet part of
	// the time that passed.
	Steal uint64
}

// Total is all time told of the processor.
func (c CPUTime) Total() uint64 { return c.Busy + c.Idle + c.Steal }

// AppendCPUTimes reads the lines "cpu0 …", "cpu1 …" of /proc/stat into dst. The
// line "cpu" and everything after the processors is left out.
func AppendCPUTimes(dst []CPUTime, text []byte) ([]CPUTime, error) {
	start := len(dst)
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !bytes.HasPrefix(line, []byte("cpu")) || !whole {
			break
		}
		text = rest
		if bytes.HasPrefix(line, []byte("cpu ")) {
			continue
		}
		c, err := parseCPU(line)
		if err != nil {
			return dst, fmt.Errorf("/proc/stat line %d: %w", n, err)
		}
		dst = append(dst, c)
	}
	if len(dst) == start {
		return dst, fmt.Errorf("/proc/stat: no processor in %.40q: %w", text, ErrFormat)
	}
	return dst, nil
}

// parseCPU reads "cpuN user nice system idle [iowait irq softirq [steal …]]".
func parseCPU(line []byte) (CPUTime, error) {
	name, rest, _ := bytes.Cut(line, []byte(" "))
	id, ok := parseUint(name[len("cpu"):])
	if !ok || id > 1<<20 {
		return CPUTime{}, fmt.Errorf("processor number in %.40q: %w", line, ErrFormat)
	}
	var v [8]uint64
	read := 0
	for ; read < len(v); read++ {
		rest = bytes.TrimLeft(rest, " ")
		if len(rest) == 0 {
			break
		}
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte(" "))
		if v[read], ok = parseUint(word); !ok {
			return CPUTime{}, fmt.Errorf("%.20q is no tick count: %w", word, ErrFormat)
		}
	}
	if read < 4 {
		return CPUTime{}, fmt.Errorf("%d columns in %.40q, want 4 or more: %w", read, line, ErrFormat)
	}
	return CPUTime{CPU: int(id), Busy: v[0] + v[1] + v[2] + v[5] + v[6], Idle: v[3] + v[4], Steal: v[7]}, nil
}
