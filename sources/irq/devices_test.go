package irq

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netwatch/parsers/bsd"
)

// A fakeTree is a host with the interfaces of a test: by name their driver, unit and
// parent, and what they lie on.
type fakeTree map[string]struct {
	driver string
	unit   int
	parent string
	over   []string
}

var errNone = errors.New("no such interface")

func (t fakeTree) names() []string {
	var all []string
	for n := range t {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func (t fakeTree) index(iface string) (int, bool) {
	i := slices.Index(t.names(), iface)
	return i + 1, i >= 0
}

func (t fakeTree) driver(index int) (string, int, bool) {
	if index == 0 {
		return "", 0, false
	}
	i := t[t.names()[index-1]]
	return i.driver, i.unit, i.driver != ""
}

func (t fakeTree) variable(name string) ([]byte, error) {
	for _, i := range t {
		if i.parent != "" && name == "dev."+i.driver+"."+string(rune('0'+i.unit))+".%parent" {
			return []byte(i.parent + "\x00"), nil
		}
	}
	return nil, errNone
}

// The structures are laid out as net/if_vlan_var.h, if_lagg.h and if_bridgevar.h have
// them; each kind answers for its own only.
func (t fakeTree) vlan(iface string) ([]byte, error) {
	if t[iface].driver != "vlan" {
		return nil, errNone
	}
	b := make([]byte, 20)
	copy(b, t[iface].over[0])
	b[16] = 100
	return b, nil
}

func (t fakeTree) lagg(iface string) (all, ports []byte, err error) {
	if t[iface].driver != "lagg" {
		return nil, nil, errNone
	}
	all = make([]byte, 80)
	binary.LittleEndian.PutUint32(all[40:], uint32(len(t[iface].over)))
	for _, name := range t[iface].over {
		port := make([]byte, 72)
		copy(port[16:], name)
		ports = append(ports, port...)
	}
	return all, ports, nil
}

func (t fakeTree) bridge(iface string) ([]byte, error) {
	if t[iface].driver != "bridge" {
		return nil, errNone
	}
	var b []byte
	for _, name := range t[iface].over {
		member := make([]byte, 80)
		copy(member, name)
		b = append(b, member...)
	}
	return b, nil
}

func TestDevicesOf(t *testing.T) {
	host := fakeTree{
		"em0": {driver: "em", unit: 0, parent: "pci0"}, "wan0": {driver: "em", unit: 1, parent: "pci1"},
		"vtnet0": {driver: "vtnet", unit: 0, parent: "virtio_pci0"}, "epair0a": {driver: "epair", unit: 0},
		"em0.100": {driver: "vlan", over: []string{"em0"}}, "lagg0": {driver: "lagg", over: []string{"em0", "wan0"}},
		"bridge0": {driver: "bridge", over: []string{"em0", "epair0a"}},
		"vlan7":   {driver: "vlan", over: []string{"lagg0"}}, "bridge1": {driver: "bridge", over: []string{"vlan7", "em0.100", "vtnet0"}},
		"bridge2": {driver: "bridge"},
	}
	em0, wan0 := device{"em0", "em0", "pci0"}, device{"wan0", "em1", "pci1"}
	vtnet0, epair := device{"vtnet0", "vtnet0", "virtio_pci0"}, device{"epair0a", "epair0", ""}
	for _, c := range []struct {
		iface   string
		devices []device
		below   string
		ceiling string
	}{
		{"em0", []device{em0}, "", "dev.em.0.queue_rx_0.interrupt_rate"},
		{"wan0", []device{wan0}, "", "dev.em.1.queue_rx_0.interrupt_rate"},
		{"vtnet0", []device{vtnet0}, "", ""},
		{"em0.100", []device{em0}, "em0", ""},
		{"lagg0", []device{em0, wan0}, "em0 wan0", ""},
		{"bridge0", []device{em0, epair}, "em0 epair0a", ""},
		{"vlan7", []device{em0, wan0}, "em0 wan0", ""},
		{"bridge1", []device{vtnet0, em0, wan0}, "vtnet0 em0 wan0", ""},
		{"bridge2", []device{{"bridge2", "bridge0", ""}}, "", ""},
		{"em9", []device{{"em9", "em9", ""}}, "", ""},
	} {
		devices, below, ceiling := devicesOf(host, c.iface)
		if !slices.Equal(devices, c.devices) || strings.Join(below, " ") != c.below || ceiling != c.ceiling {
			t.Errorf("%s: %v below %v, %q", c.iface, devices, below, ceiling)
		}
	}
}

// The lines of a bridge that an em(4) on MSI-X is a member of, from the names of a real
// 15.0: they carry the member's name.
func TestLinesOfABridge(t *testing.T) {
	host := fakeTree{
		"em1": {driver: "em", unit: 1, parent: "pci0"}, "tap0": {driver: "tap"},
		"bridge0": {driver: "bridge", over: []string{"tap0", "em1"}},
	}
	all, err := bsd.IntrLines(unzip(t, "msix-intrnames.bin.gz"), len(unzip(t, "msix-intrcnt.bin.gz")))
	if err != nil {
		t.Fatal(err)
	}
	devices, _, _ := devicesOf(host, "bridge0")
	lines, _ := slotsOf(all, "bridge0", devices)
	if want := []line{{"irq28", "em1:rxq0", false}, {"irq29", "em1:rxq1", false}, {"irq30", "em1:aq", false}}; !slices.Equal(lines, want) {
		t.Error(lines)
	}
}

// The leaf of the cap: em's as running kernels list it and as one answered for it, after
// a load under AIM (4002: 4000/s in em's register); igb's, igc's and ix's as their
// sources have it.
func TestCapLeaves(t *testing.T) {
	for _, c := range []struct{ driver, unit, source string }{
		{"em", "0", "15.0-before-dev.em.0.txt"}, {"em", "1", "15.0-msix-dev.em.1.txt"},
	} {
		b, err := os.ReadFile(filepath.Join("..", "nic", "testdata", c.source))
		if err != nil {
			t.Fatal(err)
		}
		if name := "dev." + c.driver + "." + c.unit + "." + caps[c.driver] + ": "; !strings.Contains(string(b), "\n"+name) {
			t.Errorf("%s has no %s", c.source, name)
		}
	}
	for driver, want := range map[string]string{
		"igb": "queue_rx_0.interrupt_rate", // sys/dev/e1000/if_em.c, one source with em's
		"igc": "queue_rx_0.interrupt_rate", // sys/dev/igc/if_igc.c
		"ix":  "queue0.interrupt_rate",     // sys/dev/ixgbe/if_ix.c; a listing of dev.ix.0 is in MonkWho/pfatt issue 67
	} {
		if caps[driver] != want {
			t.Errorf("%s: %q, want %q", driver, caps[driver], want)
		}
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "parsers", "bsd", "testdata", "raw", "15.0-t1.dev.em.0.queue_rx_0.interrupt_rate.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := capOf(raw); !ok || v != 4002 {
		t.Error(v, ok)
	}
	for _, bad := range [][]byte{{0, 0, 0, 0}, {1, 2, 3}, nil} { // the first: of a card that is not up
		if v, ok := capOf(bad); ok {
			t.Error(bad, v)
		}
	}
}
