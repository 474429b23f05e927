package linux

import (
	"bytes"
	"fmt"
)

// UserHz is how many clock ticks a second has in /proc.
const UserHz = 100

// ParseProcStart reads when a process began out of /proc/PID/stat: ticks since the boot,
// the 22nd field. The second is the program's name in parentheses, which may hold any
// character.
func ParseProcStart(text []byte) (uint64, error) {
	const start = 22 - 3 // counted from the third field
	at := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[at+1:])
	if at < 0 || len(fields) <= start {
		return 0, fmt.Errorf("/proc/PID/stat %.40q: %w", text, ErrFormat)
	}
	ticks, ok := parseUint(fields[start])
	if !ok {
		return 0, fmt.Errorf("/proc/PID/stat: start %.40q: %w", fields[start], ErrFormat)
	}
	return ticks, nil
}
