package irq

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"netwatch/parsers/bsd"
)

func unzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The names of a real 15.0 with an em(4) on MSI-X (em1) and one on INTx (em0).
func TestSlotsOfRealNames(t *testing.T) {
	names, counts := unzip(t, "msix-intrnames.bin.gz"), unzip(t, "msix-intrcnt.bin.gz")
	all, err := bsd.IntrLines(names, len(counts))
	if err != nil {
		t.Fatal(err)
	}
	queues := []line{{"irq28", "rxq0", false}, {"irq29", "rxq1", false}, {"irq30", "aq", false}}
	of := func(iface string, lines []line) []line {
		out := slices.Clone(lines)
		for i := range out {
			out[i].queue = iface + ":" + out[i].queue
		}
		return out
	}
	for _, c := range []struct {
		name, iface string
		devices     []device
		want        []line
	}{
		{"by its own name", "em1", []device{{"em1", "em1", "pci0"}}, queues},
		{"renamed", "wan0", []device{{"wan0", "em1", "pci0"}}, queues},
		{"a vlan on it", "em1.100", []device{{"em1", "em1", "pci0"}}, of("em1", queues)},
		{"a lagg with it and a tap", "lagg0", []device{{"em1", "em1", "pci0"}, {"tap0", "tap0", ""}}, of("em1", queues)},
		{"none of that name", "em9", []device{{"em9", "em9", "pci0"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, slots := slotsOf(all, c.iface, c.devices)
			if !slices.Equal(lines, c.want) || len(slots) != len(lines) {
				t.Errorf("%v, slots %v, want %v", lines, slots, c.want)
			}
		})
	}
}

func TestSlotsOfParent(t *testing.T) {
	all := []bsd.IntrLine{{Slot: 3, Name: "irq25: virtio_pci0:rxq0"}, {Slot: 5, Name: "irq26: virtio_pci1:rxq0"},
		{Slot: 7, Name: "irq30: t5nex0:0a0"}, {Slot: 9, Name: "irq16: em0:irq0+"}}
	for _, c := range []struct {
		d    device
		want line
		slot int
	}{
		{device{"vtnet0", "vtnet0", "virtio_pci0"}, line{"irq25", "rxq0", false}, 3},
		{device{"cxl0", "cxl0", "t5nex0"}, line{"irq30", "0a0", true}, 7}, // of all its ports
		{device{"em0", "em0", "pci1"}, line{"irq16", "irq0", true}, 9},
	} {
		lines, slots := slotsOf(all, c.d.iface, []device{c.d})
		if !slices.Equal(lines, []line{c.want}) || slots[0] != c.slot {
			t.Errorf("%s: %v %v", c.d.name, lines, slots)
		}
	}
}
