package bsd

import (
	"fmt"
	"strings"
	"unicode"
)

// An IntrLine is one used slot of hw.intrnames.
type IntrLine struct {
	Slot int    // its place in hw.intrcnt
	Name string // "irq28: em1:rxq0", without the padding
}

// IntrLines splits hw.intrnames into its used slots. countsLen is the length of
// hw.intrcnt, 8 bytes a slot: a name's slot is as wide as the two lengths say (20
// bytes on x86, 39 on arm64).
func IntrLines(names []byte, countsLen int) ([]IntrLine, error) {
	slots := countsLen / 8
	if slots == 0 || countsLen%8 != 0 || len(names) == 0 || len(names)%slots != 0 {
		return nil, fmt.Errorf("hw.intrnames: %d bytes for %d bytes of hw.intrcnt: %w", len(names), countsLen, ErrFormat)
	}
	width := len(names) / slots
	var lines []IntrLine
	for slot := range slots {
		if name := strings.TrimSpace(cString(names[slot*width : (slot+1)*width])); name != "" {
			lines = append(lines, IntrLine{slot, name})
		}
	}
	return lines, nil
}

// IntrCount reads one slot of hw.intrcnt; ok is false past its end.
func IntrCount(counts []byte, slot int) (n uint64, ok bool) {
	if slot < 0 || (slot+1)*8 > len(counts) {
		return 0, false
	}
	return order.Uint64(counts[slot*8:]), true
}

// Of tells whether a device raises this interrupt: queue is its own word for it
// ("rxq0", "irq0", or "" when it gives none), shared that another device raises it
// too, or that the name had no room for all.
//
// A name is "irqN: HANDLER…", a handler DEVICE or DEVICE:QUEUE; "+" or "*" at the
// end stands for handlers that did not fit (sys/kern/kern_intr.c,
// intr_event_update). Stray counters ("stray irq28") have no device.
func (l IntrLine) Of(device string) (queue string, shared, ours bool) {
	_, handlers, ok := strings.Cut(l.Name, ": ")
	if !ok || strings.HasPrefix(l.Name, "stray") {
		return "", false, false
	}
	for word := range strings.FieldsSeq(handlers) {
		full := strings.TrimRight(word, "+*")
		shared = shared || full != word
		owner, label, _ := strings.Cut(full, ":")
		switch {
		case owner == device:
			if !ours {
				ours, queue = true, label
			}
		case !strings.ContainsFunc(full, unicode.IsLetter):
			queue += full // "igb0:que 0" of FreeBSD 11: a device's name has letters
		default:
			shared = true
		}
	}
	if !ours {
		return "", false, false
	}
	return queue, shared, true
}
