package bsd

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linesOf are the used slots of a table and their counts.
func linesOf(t *testing.T, names, counts string) (lines []IntrLine, counted map[int]uint64) {
	t.Helper()
	raw := load(t, counts)
	lines, err := IntrLines(load(t, names), len(raw))
	if err != nil {
		t.Fatal(err)
	}
	counted = map[int]uint64{}
	for _, l := range lines {
		n, ok := IntrCount(raw, l.Slot)
		if !ok {
			t.Fatal(l)
		}
		counted[l.Slot] = n
	}
	return lines, counted
}

// The lines of a real table are those another reader found, slot by slot.
func TestIntrLines(t *testing.T) {
	for _, c := range []struct {
		names, counts string
		slots, used   int
	}{
		{"intx", "intx", 12339, 58},
		{"intx", "intx-after", 12339, 58},
		{"12.1", "12.1-end", 1539, 56},
	} {
		t.Run(c.counts, func(t *testing.T) {
			if n := len(load(t, "intr/"+c.counts+"-intrcnt.bin.gz")); n != c.slots*8 {
				t.Fatalf("%d bytes of counts", n)
			}
			lines, counted := linesOf(t, "intr/"+c.names+"-intrnames.bin.gz", "intr/"+c.counts+"-intrcnt.bin.gz")
			want := decoded(t, "intr/"+c.counts+"-decoded.txt")
			if len(lines) != c.used || len(want) != c.used {
				t.Fatalf("%d used slots, want %d", len(lines), len(want))
			}
			for i, l := range lines {
				w, n := want[i], counted[l.Slot]
				// The other reader read less than a second of 100 ticks earlier, and wrote to the console then.
				if l.Slot != w.slot || l.Name != w.name || n < w.count || n > w.count+100 {
					t.Errorf("got %+v %d, want %+v", l, n, w)
				}
				if l.Name == "irq23: em0:irq0" && n != w.count {
					t.Errorf("em0: %d interrupts, want %d", n, w.count)
				}
			}
		})
	}
}

type slot struct {
	slot  int
	name  string
	count uint64
}

// decoded is a table as the other reader printed it.
func decoded(t *testing.T, file string) (list []slot) {
	t.Helper()
	_, text, _ := strings.Cut(string(load(t, file)), "\n")
	for line := range strings.Lines(text) {
		var s slot
		if _, err := fmt.Sscanf(line, "%d\t%q\t%d", &s.slot, &s.name, &s.count); err != nil {
			t.Fatal(line, err)
		}
		s.name = strings.TrimSpace(s.name)
		list = append(list, s)
	}
	return list
}

// The kernel's own list of handlers, hw.intrs ("irq23: em0:irq0:45 @cpu0(domain0): 0"),
// names the same slots, with the same counts some milliseconds later: the console and
// the disk count meanwhile. Before the cards sent anything, a user read the same.
func TestIntrLinesAsHwIntrs(t *testing.T) {
	row := regexp.MustCompile(`(?m)^(.*):(\d+) @cpu\d+\(domain\d+\): (\d+)$`)
	for prefix, want := range map[string]int{"intx": 28, "12.1": 27, "msix": 30} {
		lines, counted := linesOf(t, "intr/"+prefix+"-intrnames.bin.gz", "intr/"+prefix+"-intrcnt.bin.gz")
		names := map[int]string{}
		for _, l := range lines {
			names[l.Slot] = l.Name
		}
		rows := row.FindAllStringSubmatch(undump(t, "intr/"+prefix+"-intrs.txt"), -1)
		if len(rows) != want {
			t.Errorf("%s: %d rows", prefix, len(rows))
		}
		for _, r := range rows {
			at, _ := strconv.Atoi(r[2])
			later, _ := strconv.ParseUint(r[3], 10, 64)
			if names[at] != r[1] || later < counted[at] || later > counted[at]+10 {
				t.Errorf("%s: slot %d is %q %d, want %s", prefix, at, names[at], counted[at], r[0])
			}
		}
	}
}

// undump reads the bytes of a dump: an offset, 16 bytes in hex, the text.
func undump(t *testing.T, file string) string {
	t.Helper()
	var all []byte
	for line := range strings.Lines(string(load(t, file))) {
		if len(line) < 60 || strings.Contains(line, "mib=") {
			continue
		}
		b, err := hex.DecodeString(strings.ReplaceAll(line[10:58], " ", ""))
		if err != nil {
			t.Fatal(line, err)
		}
		all = append(all, b...)
	}
	return string(all)
}

// Tables of which only the other reader's lines are kept: em0's is found in each, also
// in that of a user, and MSI-X's three before the card was up.
func TestIntrLineOfReal(t *testing.T) {
	for file, want := range map[string]string{
		"14.0-before-itr0": "em0 irq0 2", "14.0-after-3s-itr0": "em0 irq0 4723", "14.0-after-3s-itr488": "em0 irq0 7953",
		"intx-as-user": "em0 irq0 9380", "msix-before-up": "em1 rxq0 0, em1 rxq1 0, em1 aq 0",
	} {
		var got []string
		device, _, _ := strings.Cut(want, " ")
		for _, s := range decoded(t, "intr/"+file+"-decoded.txt") {
			if queue, shared, ours := (IntrLine{Name: s.name}).Of(device); ours && !shared {
				got = append(got, fmt.Sprintf("%s %s %d", device, queue, s.count))
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", file, s, want)
		}
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
	names, counts := load(t, "intr/msix-intrnames.bin.gz"), load(t, "intr/msix-intrcnt.bin.gz")
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
