package nic

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
)

// leavesOf reads what sysctl(8) printed of a device.
func leavesOf(t *testing.T, file string) map[string]uint64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	leaves := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if v, err := strconv.ParseUint(value, 10, 64); err == nil {
			leaves[name] = v
		}
	}
	return leaves
}

// groupOf reads the leaves that a driver's row finds.
func groupOf(leaves map[string]uint64, found []leaf) (g group) {
	for _, l := range found {
		g.add(l.metric, leaves[l.name])
	}
	return g
}

func (g group) of(m sources.Metric) (v uint64, ok bool) {
	if i := slices.Index(g.metrics, m); i >= 0 {
		return g.values[i], true
	}
	return 0, false
}

// 12.1 and 15.0 are what running kernels told; dev.em.4 and dev.igb.0 are laid out
// as the driver's source has them. Expected values are those of the files.
func TestDriverTable(t *testing.T) {
	for _, c := range []struct {
		file, driver, prefix string
		mac                  map[sources.Metric]uint64
		queues               int
	}{
		{"dev.em.4-t0.txt", "em", "dev.em.4", map[sources.Metric]uint64{
			sources.RxWireOctets: 2872553019, sources.TxWireOctets: 123944418833, sources.RxWirePkts: 40817733, sources.TxWirePkts: 81655210,
			sources.MissedPkts: 0, sources.NoBuffer: 0, sources.TSOSends: 24613377, sources.IrqAsserts: 29933812}, 1},
		{"dev.igb.0.txt", "igb", "dev.igb.0", map[sources.Metric]uint64{
			sources.RxWireOctets: 771204118233, sources.TxWireOctets: 690118822411, sources.MissedPkts: 118, sources.NoBuffer: 341,
			sources.RxPause: 0, sources.TxPause: 0, sources.TSOSends: 30211884, sources.IrqAsserts: 311208831}, 4},
		{"15.0-dev.em.0.txt", "em", "dev.em.0", map[sources.Metric]uint64{
			sources.RxWireOctets: 271156, sources.TxWireOctets: 11114568, sources.RxWirePkts: 3803, sources.TxWirePkts: 10504,
			sources.TSOSends: 6648, sources.IrqAsserts: 0}, 1},
		{"15.0-before-dev.em.0.txt", "em", "dev.em.0", map[sources.Metric]uint64{
			sources.RxWireOctets: 306754, sources.TxWireOctets: 77998154, sources.RxWirePkts: 4382, sources.TxWirePkts: 52571,
			sources.TSOSends: 978, sources.MissedPkts: 0, sources.NoBuffer: 0}, 1},
		{"15.0-msix-dev.em.1.txt", "em", "dev.em.1", map[sources.Metric]uint64{
			sources.RxWireOctets: 0, sources.TxWireOctets: 0, sources.RxPause: 0, sources.TxPause: 0, sources.IrqAsserts: 0}, 2},
		{"15.0-iflib-dev.em.0.txt", "em", "dev.em.0", nil, 1}, // of which only iflib's was taken
		{"14.0-dev.em.0.txt", "em", "dev.em.0", map[sources.Metric]uint64{
			sources.RxWireOctets: 504202, sources.TxWireOctets: 54861632, sources.RxWirePkts: 7202, sources.TxWirePkts: 36524,
			sources.TSOSends: 573, sources.NoBuffer: 0}, 1},
		{"dev.em.4-after-tso.txt", "em", "dev.em.4", map[sources.Metric]uint64{ // the card's counters went on
			sources.RxWireOctets: 2873986619, sources.TxWireOctets: 124067792765, sources.TxWirePkts: 81736484,
			sources.TSOSends: 24637947, sources.IrqAsserts: 29937829}, 1},
		{"dev.em.4-leaves.txt", "em", "dev.em.4", map[sources.Metric]uint64{
			sources.RxWireOctets: 2873986619, sources.TxWireOctets: 124067792765, sources.RxWirePkts: 40838213, sources.TxWirePkts: 81736484,
			sources.TSOSends: 24637947, sources.IrqAsserts: 29937815, sources.MissedPkts: 0, sources.NoBuffer: 0}, 0},
		{"12.1-dev.em.0.txt", "em", "dev.em.0", map[sources.Metric]uint64{sources.TxWirePkts: 4344, sources.TSOSends: 0}, 1},
		{"dev.em.4-t0.txt", "re", "dev.em.4", nil, 0},
		{"dev.em.4-t0.txt", "epair", "dev.em.4", nil, 0},
	} {
		t.Run(c.file+" as "+c.driver, func(t *testing.T) {
			leaves := leavesOf(t, c.file)
			asked := 0
			has := func(name string) bool { asked++; _, ok := leaves[name]; return ok }
			d := driverOf(c.driver)
			mac := groupOf(leaves, d.macLeaves(c.prefix, has))
			for m, want := range c.mac {
				if got, ok := mac.of(m); !ok || got != want {
					t.Errorf("%s: %d, %v, want %d", m.Name, got, ok, want)
				}
			}
			if c.mac == nil && len(mac.metrics) > 0 {
				t.Error(mac)
			}
			if queues := d.queueLeaves(c.prefix, has); len(queues) != c.queues {
				t.Errorf("queues %v", queues)
			}
			if asked > 24 {
				t.Errorf("%d names were asked for", asked)
			}
		})
	}
}

// A leaf that a release lacks costs its own figure and no other.
func TestLeafMissing(t *testing.T) {
	leaves := leavesOf(t, "dev.em.4-t0.txt")
	delete(leaves, "dev.em.4.mac_stats.good_octets_recvd")
	found := driverOf("em").macLeaves("dev.em.4", func(name string) bool { _, ok := leaves[name]; return ok })
	g := groupOf(leaves, found)
	if _, ok := g.of(sources.RxWireOctets); ok {
		t.Error("a leaf that is not there was found")
	}
	if v, ok := g.of(sources.TxWireOctets); !ok || v != 123944418833 {
		t.Error(v, ok)
	}
}

// Above ten queues iflib writes their numbers with two digits.
func TestManyQueues(t *testing.T) {
	there := map[string]bool{}
	for _, q := range strings.Fields("00 01 02 03 04 05 06 07 08 09 10 11") {
		there["dev.igb.0.iflib.txq"+q+".r_drops"] = true
	}
	if got := driverOf("igb").queueLeaves("dev.igb.0", func(n string) bool { return there[n] }); len(got) != 12 {
		t.Error(got)
	}
}

// ix writes "rcvd" where em writes "recvd", and counts what each queue dropped.
func TestIxNames(t *testing.T) {
	there := strings.Fields("mac_stats.good_octets_rcvd mac_stats.good_octets_txd mac_stats.good_pkts_rcvd mac_stats.good_pkts_txd mac_stats.rx_missed_packets " +
		"mac_stats.xon_recvd mac_stats.xoff_recvd mac_stats.xon_txd mac_stats.xoff_txd queue0.rx_discarded queue1.rx_discarded")
	has := func(name string) bool { return slices.Contains(there, strings.TrimPrefix(name, "dev.ix.1.")) }
	d := driverOf("ix")
	if mac, queues := d.macLeaves("dev.ix.1", has), d.queueLeaves("dev.ix.1", has); len(mac) != 9 || len(queues) != 2 || !d.stepped || d.handed {
		t.Error(mac, queues)
	}
}

// Every row is well formed, no driver stands in two, and what is harmful or
// useless is never asked for.
func TestDriverRows(t *testing.T) {
	seen := map[string]bool{}
	legal := regexp.MustCompile(`^[A-Za-z0-9_.%]+$`)
	for _, d := range drivers {
		for _, n := range d.names {
			if seen[n] {
				t.Error(n, "stands twice")
			}
			seen[n] = true
		}
		for _, l := range slices.Concat(d.mac, d.queues) {
			if !legal.MatchString(l.name) || l.metric.Agg != sources.PerTime {
				t.Error(d.names, l)
			}
			for _, never := range []string{"reg_dump", "nvm", "debug", "rs_dump", "rx_irq", "tx_irq"} {
				if strings.Contains(l.name, never) {
					t.Error(d.names, l.name)
				}
			}
		}
	}
	// Whose names were compared with what a kernel told; the others are marked.
	for _, d := range drivers {
		if compared := slices.Contains(d.names, "em"); compared == d.documented {
			t.Error(d.names, "documented:", d.documented)
		}
	}
	for _, n := range strings.Fields("em igb igc ix ixl ice cxgbe cxl cc mce re bge vtnet vmx") {
		if !seen[n] {
			t.Error("no row for", n)
		}
	}
}

// One second of the tester's card through the meters: what the MAC counted, and
// the factor from 24571 packets handed over (iflib's r_enqueues of the same files).
func TestOneSecondOfEm4(t *testing.T) {
	k := newFake()
	d := driverOf("em")
	t0, t1 := leavesOf(t, "dev.em.4-t0.txt"), leavesOf(t, "dev.em.4-t1.txt")
	found := d.macLeaves("dev.em.4", func(name string) bool { _, ok := t0[name]; return ok })
	k.now.handed, k.now.speed = d.handed, 1e9
	k.now.mac = groupOf(t0, found)
	l := run(t, k, func(*log) {
		time.Sleep(30 * tick) // still for long enough to begin at an edge
		k.set(func(k *fakeKernel) { k.now.mac, k.now.stack[txPackets] = groupOf(t1, found), 24571 })
		time.Sleep(tick)
	})
	last := func(m sources.Metric) sources.Sample {
		s := l.of(m)
		if len(s) == 0 {
			t.Fatalf("no sample of %s", m.Name)
		}
		return s[len(s)-1]
	}
	for m, want := range map[sources.Metric]float64{
		sources.TxWireOctets: 124067792765 - 123944418833, sources.TxWirePkts: 81736484 - 81655210,
		sources.IrqAsserts: 29937815 - 29933812, sources.TSOSends: 24637947 - 24613377, sources.NoBuffer: 0, sources.RxPause: 0} {
		if s := last(m); s.Sum != want {
			t.Errorf("%s: %v, want %v", m.Name, s.Sum, want)
		}
	}
	if f, _ := last(sources.TSOFactor).Mean(); f != 81274./24571 {
		t.Errorf("factor %v", f)
	}
}

func TestWide(t *testing.T) {
	var w wide
	got := []uint64{}
	for _, raw := range []uint32{4294967290, 4, 14, 3} {
		got = append(got, w.take(raw))
	}
	// 6 to the wrap and 4 after it, 10 more, then a count that began again.
	if want := []uint64{4294967290, 4294967300, 4294967310, 3}; !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestEthtoolPlaces(t *testing.T) {
	names := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct {
		driver string
		names  []string
		want   map[sources.Metric][]int
	}{
		{"igb", names("rx_packets tx_packets rx_bytes tx_bytes rx_no_buffer_count rx_flow_control_xon rx_flow_control_xoff rx_queue_0_drops rx_queue_0_packets rx_queue_11_drops rx_queue__drops"),
			map[sources.Metric][]int{sources.RxWirePkts: {0}, sources.TxWirePkts: {1}, sources.RxWireOctets: {2}, sources.TxWireOctets: {3},
				sources.NoBuffer: {4}, sources.RxPause: {5, 6}, sources.QueueDrops: {7, 9}}},
		{"virtio_net", names("rx_queue_0_packets rx_queue_0_drops tx_queue_0_packets"), map[sources.Metric][]int{sources.QueueDrops: {1}}},
		{"mlx5_core", names("rx_packets rx_bytes_phy rx_pause_ctrl_phy"), map[sources.Metric][]int{sources.RxWireOctets: {1}, sources.RxPause: {2}}},
		{"i40e", names("rx_packets port.rx_unicast port.rx_broadcast port.tx_bytes"), map[sources.Metric][]int{sources.RxWirePkts: {1, 2}, sources.TxWireOctets: {3}}},
		{"veth", names("peer_ifindex rx_queue_0_drops"), map[sources.Metric][]int{}},
	} {
		got := map[sources.Metric][]int{}
		for _, p := range ethtoolDriverOf(c.driver).places(c.names) {
			got[p.metric] = append(got[p.metric], p.index)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", c.driver, got)
		}
		for m, want := range c.want {
			if !slices.Equal(got[m], want) {
				t.Errorf("%s %s: %v, want %v", c.driver, m.Name, got[m], want)
			}
		}
	}
}
