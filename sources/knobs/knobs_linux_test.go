package knobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netwatch/sources"
	"netwatch/sources/netns"
)

// ethtool's own words for the features of veth0.
func ethtoolSays(t *testing.T, feature string) string {
	t.Helper()
	for line := range strings.Lines(netns.Run(t, "ethtool", "-k", "veth0")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name == feature {
			return value
		}
	}
	return ""
}

// Every offload of a real veth is turned, read back by ethtool, and put back to
// exactly what it was.
func TestVethOffloads(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	before := netns.Run(t, "ethtool", "-k", "veth0")
	list, err := For("veth0")
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	b := New(l, list...)
	turn := func(knob, value, feature, want string) {
		t.Helper()
		if err := b.Turn(t.Context(), "", knob, value); err != nil {
			t.Fatal(err)
		}
		if got := ethtoolSays(t, feature); got != want {
			t.Errorf("%s %s: ethtool says %s: %q", knob, value, feature, got)
		}
	}
	turn("tso", "off", "tcp-segmentation-offload", "off")
	turn("tso", "tso6", "tx-tcp6-segmentation", "on")
	turn("tso", "tso6", "tx-tcp-segmentation", "off")
	turn("gso", "off", "generic-segmentation-offload", "off")
	turn("gro", "on", "generic-receive-offload", "on")
	turn("rxcsum", "off", "rx-checksumming", "off")
	turn("txcsum", "off", "tx-checksum-ip-generic", "off")
	for _, e := range l.events {
		if e.Kind == sources.KnobFailed {
			t.Errorf("%+v", e)
		}
	}
	if err := b.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	if after := netns.Run(t, "ethtool", "-k", "veth0"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	for knob, what := range map[string]string{"aim": "interrupt moderation", "rx-usecs": "interrupt moderation",
		"tx-usecs": "interrupt moderation", "fc": "flow control"} {
		err = b.Turn(t.Context(), "", knob, "on")
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "veth0's driver has no "+what) {
			t.Error(knob, err)
		}
	}
	// Another hand on the card, then none at all.
	netns.Run(t, "ethtool", "-K", "veth0", "tso", "off")
	if v, err := byName(list, "tso").Get(t.Context()); v != "off" || err != nil {
		t.Error(v, err)
	}
	netns.Run(t, "ip", "link", "del", "veth0")
	if _, err := byName(list, "tso").Get(t.Context()); !errors.Is(err, unix.ENODEV) {
		t.Error(err)
	}
	if _, err := For("veth0"); err == nil {
		t.Error("an interface that is gone has knobs")
	}
}

// The turn of TSO and the command by hand come to the same; putting back leaves nothing
// of either.
func TestVethTSO(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	says := func() string { return netns.Run(t, "ethtool", "-k", "veth0") }
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	before := says()
	netns.Run(t, "ethtool", "-K", "veth0", "tso", "off")
	byHand := says()
	netns.Run(t, "ethtool", "-K", "veth0", "tso", "on")
	list, err := For("veth0")
	if err != nil {
		t.Fatal(err)
	}
	b := New(&log{}, list...)
	turn(t, b, "tso", "off")
	if got := says(); !sameTSO(got, byHand) {
		t.Errorf("TSO off by hand:\n%s\nby netwatch:\n%s", byHand, got)
	}
	turn(t, b, "tso", "tso4+tso6") // on this kernel that may be less than "on"
	if got, err := byName(list, "tso").Get(t.Context()); got != "on" && got != "tso4+tso6" || err != nil {
		t.Error(got, err)
	}
	if err := b.Restore(t.Context()); err != nil || says() != before {
		t.Errorf("%v; before:\n%s\nafter:\n%s", err, before, says())
	}
}

// sameTSO compares what ethtool says but for the segmentations of ECN and mangled ids,
// which follow by themselves: by hand they are asked for too.
func sameTSO(a, b string) bool {
	return strings.ReplaceAll(a, " [requested on]", "") == strings.ReplaceAll(b, " [requested on]", "")
}

// TSO cannot be without txcsum. The kernel switches it off and on with it, unless it
// was turned off by a turn of its own.
func TestVethSums(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	before := netns.Run(t, "ethtool", "-k", "veth0")
	list, err := For("veth0")
	if err != nil {
		t.Fatal(err)
	}
	dir, l := stateDirOf(t), &log{}
	b := NewJournaled(l, aJournal(t, dir, os.Getpid(), nil), list...)
	says := func(sum, tso string) {
		t.Helper()
		for feature, want := range map[string]string{"tx-checksum-ip-generic": sum, "tx-tcp-segmentation": tso, "tx-tcp6-segmentation": tso} {
			if got := ethtoolSays(t, feature); got != want {
				t.Errorf("ethtool says %s: %q, want %q", feature, got, want)
			}
		}
	}
	turn(t, b, "txcsum", "off")
	says("off", "off [requested on]")
	without := "off" // what is left of TSO: newer kernels need no txcsum for that of accurate ECN
	if ethtoolSays(t, "tx-tcp-accecn-segmentation") == "on" {
		without = "accecn"
	}
	l.expect(t, "knob-turning txcsum on>off>", "knob-drifted tso on>>"+without, "knob-turned txcsum on>off>off")
	expectJournal(t, dir, "tso on>"+without+" asked= kept=", "txcsum on>off asked= kept=")
	turn(t, b, "txcsum", "on")
	says("on", "on")
	expectJournal(t, dir)

	turn(t, b, "txcsum", "off")
	turn(t, b, "tso", "off")
	turn(t, b, "txcsum", "on")
	says("on", "off")
	expectJournal(t, dir, "tso on>off asked= kept=")
	turn(t, b, "txcsum", "off")
	if err := b.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcomes, err := aJournal(t, dir, os.Getpid(), nil).Restore(t.Context(), false,
		func(e Entry) (sources.Knob, error) { return byName(list, e.Knob), nil })
	if after := netns.Run(t, "ethtool", "-k", "veth0"); err != nil || after != before {
		t.Errorf("%+v, %v; before:\n%s\nafter:\n%s", outcomes, err, before, after)
	}
	expectJournal(t, dir)
}

func TestCongestionControlOfANamespace(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	list, err := For("lo")
	if err != nil {
		t.Fatal(err)
	}
	b := New(&log{}, list...)
	start, err := byName(list, "cc").Get(t.Context())
	if err != nil || start == "" {
		t.Fatal(start, err)
	}
	if err := b.Turn(t.Context(), "", "cc", "reno"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil || strings.TrimSpace(string(got)) != "reno" {
		t.Errorf("%q, %v", got, err)
	}
	if err := b.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	if v, _ := byName(list, "cc").Get(t.Context()); v != start {
		t.Errorf("%q, want %q", v, start)
	}
}

// fakeCard is a driver with interrupt moderation and flow control.
type fakeCard struct {
	words  [coalesceWords]uint32
	rx, tx bool
	err    error
}

func (c *fakeCard) switches([]string) switches               { return fakeSwitches{} }
func (c *fakeCard) coalesce(word int) (uint32, error)        { return c.words[word], c.err }
func (c *fakeCard) setCoalesce(word int, value uint32) error { c.words[word] = value; return c.err }
func (c *fakeCard) pause() (rx, tx bool, err error)          { return c.rx, c.tx, c.err }
func (c *fakeCard) setPause(rx, tx bool) error               { c.rx, c.tx = rx, tx; return c.err }

// fakeSwitches are on and fixed, as some drivers' are.
type fakeSwitches struct{}

func (fakeSwitches) get() (on, can uint32, err error) { return 1, 0, nil }
func (fakeSwitches) set(uint32) error                 { return unix.EINVAL }

func TestAdaptiveModeration(t *testing.T) {
	c := &fakeCard{}
	c.words[adaptiveRx] = 1
	list := list("eth0", c, newFake(), "")
	aim := byName(list, "aim")
	if v, err := aim.Get(t.Context()); v != "on" || err != nil || aim.Spec().Locked != "" {
		t.Error(v, err, aim.Spec())
	}
	if err := aim.Set(t.Context(), "off"); err != nil || c.words[adaptiveRx] != 0 {
		t.Error(err)
	}
	if err := aim.Set(t.Context(), "1"); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	if gro := byName(list, "gro").Spec(); gro.Locked != "fixed by the driver" {
		t.Errorf("%+v", gro)
	}
	if byName(list, "cc") != nil {
		t.Error("a kernel that tells no congestion controls has the knob")
	}
	refused := newModeration("eth0", &fakeCard{err: fmt.Errorf("ethtool eth0: %w", unix.EOPNOTSUPP)}, "")
	if refused.spec.Locked != "eth0's driver has no interrupt moderation" {
		t.Errorf("%+v", refused.spec)
	}
}

func TestProcSys(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "net/ipv4"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "net/ipv4/tcp_sack")
	if err := os.WriteFile(path, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := procSys{root}
	if v, err := p.get("net.ipv4.tcp_sack"); v != "1" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if err := p.set("net.ipv4.tcp_sack", "0"); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "0\n" && string(b) != "0" {
		t.Errorf("%q", b)
	}
	for _, name := range []string{"", "net.ipv4.none", "../../etc/passwd", "/etc/passwd"} {
		if _, err := p.get(name); err == nil {
			t.Errorf("%q was read", name)
		}
		if err := p.set(name, "0"); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}
