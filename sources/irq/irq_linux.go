package irq

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"netwatch/parsers/linux"
)

// A linuxKernel reads /proc/interrupts, kept open, and finds the card's lines by
// the numbers in /sys/class/net/IFACE/device/msi_irqs or by name.
type linuxKernel struct {
	iface   string
	sys     string
	f       *os.File
	text    []byte
	numbers []string
	below   string              // the interfaces whose lines they are, when it has none of its own
	wide    map[string]*widened // by number
}

// widened makes a 64-bit count out of one of 32 bits.
type widened struct {
	raw   uint32
	value uint64
	fresh bool // seen in this pass
}

func openKernel(iface string) (kernel, error) { return openRoots(iface, "/proc", "/sys") }

func openRoots(iface, proc, sys string) (*linuxKernel, error) {
	f, err := os.Open(filepath.Join(proc, "interrupts"))
	if err != nil {
		return nil, err
	}
	return &linuxKernel{iface: iface, sys: sys, f: f, text: make([]byte, 8<<10), wide: map[string]*widened{}}, nil
}

func (k *linuxKernel) close() error           { return k.f.Close() }
func (k *linuxKernel) where() string          { return "/proc/interrupts" }
func (k *linuxKernel) of() string             { return k.below }
func (k *linuxKernel) limit() (float64, bool) { return 0, false }

func (k *linuxKernel) read() ([]byte, error) {
	n, err := k.f.ReadAt(k.text, 0)
	for err == nil { // the text fills the buffer: there may be more
		k.text = append(k.text, make([]byte, len(k.text))...)
		n, err = k.f.ReadAt(k.text, 0)
	}
	if err != io.EOF {
		return nil, err
	}
	return k.text[:n], nil
}

func (k *linuxKernel) lines() ([]line, error) {
	text, err := k.read()
	if err != nil {
		return nil, err
	}
	owners := k.owners()
	k.below = ""
	if owners[0].iface != k.iface {
		k.below = names(owners)
	}
	var lines []line
	var bad error
	readable := 0
	k.numbers = k.numbers[:0]
	for q, err := range linux.Interrupts(text) {
		if err != nil {
			bad = err
			continue
		}
		readable++
		number := string(q.Number)
		for _, o := range owners {
			l, ours := match(q, o.iface, o.device, o.vectors[number])
			if !ours {
				continue
			}
			if k.below != "" {
				l.queue = o.iface + ":" + l.queue
			}
			lines = append(lines, l)
			k.numbers = append(k.numbers, number)
			break
		}
	}
	if readable == 0 {
		return nil, bad
	}
	return lines, nil
}

// An owner is an interface whose lines are looked for.
type owner struct {
	iface   string
	device  string          // bus name of its device: "virtio2", "0000:03:00.0"; "" without one
	vectors map[string]bool // its interrupt numbers
}

// owners are the interface itself or, when it has no device (vlan, bond, bridge),
// those below it: /sys/class/net/IFACE/lower_*.
func (k *linuxKernel) owners() []owner {
	own := k.owner(k.iface)
	below, _ := filepath.Glob(filepath.Join(k.sys, "class/net", k.iface, "lower_*"))
	if own.device != "" || len(below) == 0 {
		return []owner{own}
	}
	var all []owner
	for _, path := range below {
		all = append(all, k.owner(strings.TrimPrefix(filepath.Base(path), "lower_")))
	}
	return all
}

func names(owners []owner) string {
	var list []string
	for _, o := range owners {
		list = append(list, o.iface)
	}
	return strings.Join(list, " ")
}

// owner finds an interface's device and interrupt numbers. A virtio device has
// them at its parent.
func (k *linuxKernel) owner(iface string) owner {
	o := owner{iface: iface, vectors: map[string]bool{}}
	dir, err := filepath.EvalSymlinks(filepath.Join(k.sys, "class/net", iface, "device"))
	if err != nil {
		return o
	}
	o.device = filepath.Base(dir)
	for _, d := range []string{dir, filepath.Dir(dir)} {
		entries, err := os.ReadDir(filepath.Join(d, "msi_irqs"))
		for _, e := range entries {
			o.vectors[e.Name()] = true
		}
		if err == nil {
			return o
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "irq")); err == nil {
		if n := strings.TrimSpace(string(b)); n != "0" {
			o.vectors[n] = true
		}
	}
	return o
}

// match decides whether a line is the card's: by its number, or by a handler
// named after the interface or its device.
func match(q linux.IRQ, iface, device string, byNumber bool) (l line, ours bool) {
	handlers, foreign := 0, 0
	for h := range q.Handlers() {
		handlers++
		queue, named := queueOf(string(h), iface, device)
		switch {
		case named || (byNumber && !ours):
			ours = true
			l.queue = queue
		default:
			foreign++
		}
	}
	if !ours && byNumber && handlers == 0 {
		ours = true
	}
	l.id, l.shared = string(q.Number), foreign > 0
	if l.queue == "" {
		l.queue = "irq" + l.id
	}
	return l, ours
}

// queueOf strips a handler's name down to the queue: "eth0-TxRx-0" and
// "i40e-eth0-TxRx-0" are "TxRx-0", "virtio2-input.0" is "input.0",
// "mlx5_comp0@pci:0000:03:00.0" is "mlx5_comp0". named tells whether the
// interface or its device is in the name.
func queueOf(handler, iface, device string) (queue string, named bool) {
	for _, owner := range []string{iface, device} {
		if owner == "" {
			continue
		}
		if handler == owner {
			return "", true
		}
		at := strings.Index(handler, owner)
		if at < 0 || (at > 0 && !isSeparator(handler[at-1])) {
			continue
		}
		switch after := handler[at+len(owner):]; {
		case after == "":
			queue, _, _ := strings.Cut(handler[:at-1], "@")
			return queue, true
		case isSeparator(after[0]):
			return after[1:], true
		}
	}
	queue, _, _ = strings.Cut(handler, "@")
	return queue, false
}

func isSeparator(c byte) bool { return c == '-' || c == ':' || c == '@' || c == '_' || c == '.' }

// counts reads every line's count. The kernel's are 32 bits wide: a step of less
// than half of that forward is a step, anything else a count that began again.
func (k *linuxKernel) counts(dst []count) ([]count, error) {
	text, err := k.read()
	if err != nil {
		return dst, err
	}
	for _, w := range k.wide {
		w.fresh = false
	}
	for _, n := range k.numbers {
		if k.wide[n] == nil {
			k.wide[n] = &widened{}
		}
	}
	for q, err := range linux.Interrupts(text) {
		if err != nil {
			continue // the line of a number that is followed stays stale, and is told as such
		}
		if w := k.wide[string(q.Number)]; w != nil {
			w.take(q.Count)
		}
	}
	for _, n := range k.numbers {
		w := k.wide[n]
		dst = append(dst, count{w.value, w.fresh})
	}
	return dst, nil
}

func (w *widened) take(raw uint32) {
	if step := raw - w.raw; step < 1<<31 {
		w.value += uint64(step)
	} else {
		w.value = uint64(raw)
	}
	w.raw, w.fresh = raw, true
}
