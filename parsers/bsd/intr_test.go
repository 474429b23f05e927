package bsd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines of a real table are those another reader found, slot by slot.
func TestIntrLines(t *testing.T) {
	for _, c := range []struct {
		prefix string
		slots  int
		used   int
	}{
		{"intx", 12339, 58},
		{"12.1", 1539, 56},
	} {
		t.Run(c.prefix, func(t *testing.T) {
			names, counts := load(t, c.prefix+"-intrnames.bin.gz"), load(t, c.prefix+"-intrcnt.bin.gz")
			if len(counts) != c.slots*8 {
				t.Fatalf("%d bytes of counts", len(counts))
			}
			lines, err := IntrLines(names, len(counts))
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != c.used {
				t.Errorf("%d used slots", len(lines))
			}
			_, decoded, _ := strings.Cut(string(load(t, c.prefix+"-decoded.txt")), "\n")
			for i, want := range strings.Split(strings.TrimSpace(decoded), "\n") {
				var slot int
				var name string
				var count uint64
				if _, err := fmt.Sscanf(want, "%d\t%q\t%d", &slot, &name, &count); err != nil {
					t.Fatal(want, err)
				}
				l := lines[i]
				n, ok := IntrCount(counts, l.Slot)
				// The other reader read some milliseconds earlier.
				if !ok || l.Slot != slot || l.Name != strings.TrimSpace(name) || n < count || n > count+50 {
					t.Errorf("got %+v %d, want %s", l, n, want)
				}
				if l.Name == "irq23: em0:irq0" && n != count {
					t.Errorf("em0: %d interrupts, want %d", n, count)
				}
			}
		})
	}
}

type found struct {
	Queue  string
	Shared bool
}

func TestIntrLineOf(t *testing.T) {
	for _, c := range []struct {
		name, device string
		want         *found
	}{
		{"irq23: em0:irq0", "em0", &found{"irq0", false}},
		{"irq28: em1:rxq0", "em1", &found{"rxq0", false}},
		{"irq28: em1:rxq0", "em0", nil},
		{"irq28: em1:rxq0", "em", nil},
		{"irq128: em10:rxq0", "em1", nil},
		{"irq256: virtio_pci0", "virtio_pci0", &found{"", false}},
		{"stray irq28", "irq28", nil},
		{"irq28:", "em1", nil},
		{"???", "em1", nil},
		{"cpu0:timer", "cpu0", nil},
		{"irq48: em4:irq0+", "em4", &found{"irq0", true}},       // more did not fit
		{"irq18: ata0 ehci0", "ehci0", &found{"", true}},        // two share it
		{"irq18: ehci0 em4:irq0*", "em4", &found{"irq0", true}}, // two and more
		{"irq11: em0:irq0 em0:irq1", "em0", &found{"irq0", false}},
		{"its0,3: igb0:rxq0", "igb0", &found{"rxq0", false}}, // arm64
		{"irq264: igb0:que 0", "igb0", &found{"que0", false}},
	} {
		queue, shared, ours := IntrLine{Name: c.name}.Of(c.device)
		switch {
		case !ours && c.want == nil:
		case ours != (c.want != nil), (found{queue, shared}) != *c.want:
			t.Errorf("%q of %s: %q shared %v ours %v", c.name, c.device, queue, shared, ours)
		}
	}
}

func TestIntrLinesOfMSIX(t *testing.T) {
	names, counts := load(t, "msix-intrnames.bin.gz"), load(t, "msix-intrcnt.bin.gz")
	lines, err := IntrLines(names, len(counts))
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]string{}
	for _, l := range lines {
		if queue, shared, ours := l.Of("em1"); ours && !shared {
			got[l.Slot] = queue
		}
	}
	if d := cmp.Diff(map[int]string{57: "rxq0", 59: "rxq1", 61: "aq"}, got); d != "" {
		t.Error(d)
	}
}

// arm64 has slots of 39 bytes: the width follows from the two lengths.
func TestIntrLinesWidth(t *testing.T) {
	slot := func(s string) string { return fmt.Sprintf("%-38s\x00", s) }
	names := slot("its0,3: igb0:rxq0") + strings.Repeat("\x00", 39) + slot("gic0,p11: generic_timer0")
	got, err := IntrLines([]byte(names), 3*8)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]IntrLine{{0, "its0,3: igb0:rxq0"}, {2, "gic0,p11: generic_timer0"}}, got); d != "" {
		t.Error(d)
	}
}

func TestIntrRefuses(t *testing.T) {
	for _, c := range []struct{ names, counts int }{{0, 0}, {20, 0}, {0, 8}, {20, 7}, {21, 16}} {
		if _, err := IntrLines(make([]byte, c.names), c.counts); !errors.Is(err, ErrFormat) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, slot := range []int{-1, 1, 1 << 40} {
		if _, ok := IntrCount(make([]byte, 8), slot); ok {
			t.Errorf("slot %d was read", slot)
		}
	}
}
