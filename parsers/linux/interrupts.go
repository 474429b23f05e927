package linux

import (
	"bytes"
	"fmt"
	"iter"
)

// An IRQ is one line of /proc/interrupts. Its slices point into the text.
type IRQ struct {
	Number []byte // "38", or a word such as "LOC"
	// Count is the sum over the processors modulo 2^32. The kernel counts in 32
	// bits per processor, so only differences modulo 2^32 mean anything.
	Count uint32
	Rest  []byte // controller, hardware number, trigger, and the names of the handlers
}

// Handlers are the names of those who asked for the interrupt, in the order of
// the line. More than one means the line is shared.
//
// A line is "CONTROLLER HWIRQ-TRIGGER NAME, NAME…"; the columns before the names
// differ between architectures and kernels, and a name may hold spaces, so a
// name is what follows the last run of two or more blanks, or else all words
// from the first after the one ending in -edge, -level or -fasteoi.
func (q IRQ) Handlers() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := q.names(); len(rest) > 0; {
			var name []byte
			name, rest, _ = bytes.Cut(rest, []byte(","))
			if name = bytes.TrimSpace(name); len(name) > 0 && !yield(name) {
				return
			}
		}
	}
}

func (q IRQ) names() []byte {
	if i := bytes.LastIndex(q.Rest, []byte("  ")); i >= 0 {
		tail := bytes.TrimSpace(q.Rest[i:])
		// Two blanks may also stand before the hardware number: skip its column.
		if w, after, ok := bytes.Cut(tail, []byte(" ")); ok && endsInTrigger(w) {
			return bytes.TrimSpace(after)
		}
		if endsInTrigger(tail) {
			return nil
		}
		return tail
	}
	for rest := q.Rest; len(rest) > 0; {
		w, after, _ := bytes.Cut(rest, []byte(" "))
		if endsInTrigger(w) {
			return bytes.TrimSpace(after)
		}
		rest = bytes.TrimLeft(after, " ")
	}
	return nil
}

func endsInTrigger(w []byte) bool {
	for _, t := range []string{"-edge", "-level", "-fasteoi", "Edge", "Level"} {
		if bytes.HasSuffix(w, []byte(t)) {
			return true
		}
	}
	return false
}

// Interrupts walks the lines of /proc/interrupts. A line that cannot be read is
// given as an error that names it, and the walk goes on; a text without the
// heading of processors ends it.
func Interrupts(text []byte) iter.Seq2[IRQ, error] {
	return func(yield func(IRQ, error) bool) {
		heading, rest, _ := bytes.Cut(text, []byte("\n"))
		cpus := bytes.Count(heading, []byte("CPU"))
		if cpus == 0 {
			yield(IRQ{}, fmt.Errorf("/proc/interrupts line 1: no CPU column in %.40q: %w", heading, ErrFormat))
			return
		}
		for n := 2; len(rest) > 0; n++ {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			q, err := parseIRQ(line, cpus)
			if err != nil {
				err = fmt.Errorf("/proc/interrupts line %d: %w", n, err)
			}
			if !yield(q, err) {
				return
			}
		}
	}
}

// parseIRQ reads one line. Lines such as "ERR: 0" have fewer columns than there
// are processors, and hot-plugged processors may leave none.
func parseIRQ(line []byte, cpus int) (IRQ, error) {
	number, rest, ok := bytes.Cut(line, []byte(":"))
	number = bytes.TrimSpace(number)
	if !ok || len(number) == 0 {
		return IRQ{}, fmt.Errorf("no interrupt number in %.40q: %w", line, ErrFormat)
	}
	q := IRQ{Number: number}
	read := 0
	for ; read < cpus; read++ {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(rest)
		}
		v, isNumber := parseUint(rest[:end])
		if !isNumber {
			break
		}
		q.Count += uint32(v)
		rest = rest[end:]
	}
	if read == 0 {
		return IRQ{}, fmt.Errorf("no count in %.40q: %w", line, ErrFormat)
	}
	q.Rest = bytes.TrimSpace(rest)
	return q, nil
}

// parseUint reads a decimal number; ok is false for anything else and past 2^64.
func parseUint(b []byte) (v uint64, ok bool) {
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, len(b) > 0
}
