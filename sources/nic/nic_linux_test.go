package nic

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"netwatch/parsers/linux"
	"netwatch/sources"
	"netwatch/sources/netns"
)

// eventually waits for something a kernel does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func (l *log) last() sources.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return sources.Event{}
	}
	return l.events[len(l.events)-1]
}

// A real veth: the octets told are those the kernel's files count, the link goes
// down and up, the interface vanishes and one of the same name returns.
func TestVeth(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	add := func() {
		netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
		netns.Run(t, "ip", "link", "set", "veth1", "up")
		netns.Run(t, "ip", "link", "set", "veth0", "up")
	}
	add()
	netns.Run(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "veth0")

	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("veth0", pollEvery).Run(ctx, l) }()
	eventually(t, "a sample", func() bool { return len(l.of(sources.TxOctets)) > 0 })

	// Datagrams to a neighbour that is told to the kernel: 100 of 1000 bytes and 42 of headers.
	netns.Run(t, "ip", "neigh", "add", "10.77.0.2", "lladdr", "02:00:00:00:00:02", "dev", "veth0")
	c, err := net.Dial("udp", "10.77.0.2:9")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 100 {
		if _, err := c.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all octets", func() bool { sum, _ := total(l.of(sources.TxOctets)); return sum >= 100*1042 })
	// The kernel adds a few packets of its own (router solicitations).
	if sum, _ := total(l.of(sources.TxOctets)); sum > 100*1042+2000 {
		t.Errorf("%v octets, want about %d", sum, 100*1042)
	}

	netns.Run(t, "ip", "link", "set", "veth1", "down")
	eventually(t, "link down", func() bool { return l.last().Kind == sources.LinkDown })
	netns.Run(t, "ip", "link", "set", "veth1", "up")
	eventually(t, "link up", func() bool { return l.last().Kind == sources.LinkUp })
	if e := l.last(); e.Span <= 0 || e.Span > 5*time.Second {
		t.Errorf("%+v", e)
	}

	netns.Run(t, "ip", "link", "del", "veth0")
	eventually(t, "GONE", func() bool { return l.last().Text == "veth0 GONE" })
	netns.Run(t, "ip", "link", "add", "other0", "type", "veth", "peer", "name", "other1") // never taken for it
	add()
	eventually(t, "back", func() bool { return l.last().Kind == sources.LinkUp })

	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNoSuchInterface(t *testing.T) {
	if err := New("none9", pollEvery).Run(t.Context(), &log{}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if _, err := Describe("none9"); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

func TestDescribeVeth(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "mtu", "1400", "type", "veth", "peer", "name", "veth1")
	netns.Run(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "veth0")
	f, err := Describe("veth0")
	if err != nil {
		t.Fatal(err)
	}
	if f.Driver != "veth" || f.MTU != 1400 || f.Up || len(f.Addrs) != 1 || f.Addrs[0].String() != "10.77.0.1/24" {
		t.Errorf("%+v", f)
	}
	netns.Run(t, "ip", "link", "set", "veth1", "up")
	netns.Run(t, "ip", "link", "set", "veth0", "up")
	// The kernel tells the new state of a link in its own time.
	eventually(t, "up", func() bool { f, err = Describe("veth0"); return err != nil || f.Up })
	if err != nil || f.Speed != 10e9 {
		t.Errorf("%+v, %v", f, err)
	}
	names, err := Interfaces()
	if err != nil || strings.Join(names, " ") != "lo veth0 veth1" {
		t.Error(names, err)
	}
}

func TestLinkSpeed(t *testing.T) {
	for _, c := range []struct {
		mbits  uint32
		duplex uint8
		bits   uint64
		media  string
	}{
		{1000, 1, 1e9, "1000 Mbit/s full-duplex"},
		{100, 0, 1e8, "100 Mbit/s half-duplex"},
		{400000, 0xff, 4e11, "400000 Mbit/s"},
		{0xffffffff, 1, 0, ""}, // unknown
		{0xffff, 1, 0, ""},     // unknown, older drivers
	} {
		if bits, media := linkSpeed(c.mbits, c.duplex); bits != c.bits || media != c.media {
			t.Errorf("%s: %d %q", strconv.Itoa(int(c.mbits)), bits, media)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	names, err := Interfaces()
	if err != nil {
		b.Skip(err)
	}
	for _, name := range names {
		k, err := openKernel(name)
		if err != nil {
			b.Skip(err)
		}
		defer k.close()
		for what, whole := range map[string]bool{"each 100 ms": false, "each second": true} {
			b.Run(name+" "+what, func(b *testing.B) {
				var r reading
				b.ReportAllocs()
				for b.Loop() {
					if err := k.read(&r, whole); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestBelowIn(t *testing.T) {
	links := []linux.Link{
		{Index: 2, Name: "eth0", Master: 7}, {Index: 3, Name: "eth1", Master: 7}, {Index: 7, Name: "bond0", Kind: "bond"},
		{Index: 8, Name: "eth0.100", Kind: "vlan", VLAN: 100, Lower: 2}, {Index: 9, Name: "eth9.5", Kind: "vlan", VLAN: 5, Lower: 99},
		{Index: 10, Name: "veth0", Kind: "veth", Lower: 2}, {Index: 11, Name: "br0", Kind: "bridge"},
	}
	for name, want := range map[string]string{
		"eth0": "", "bond0": "bond of eth0 eth1", "eth0.100": "vlan 100 on eth0", "eth9.5": "vlan 5 without members",
		"veth0": "", "br0": "bridge without members", "none": "",
	} {
		f := Facts{}
		if f.Kind, f.Over = belowIn(links, name); f.Below() != want {
			t.Errorf("%s: %q, want %q", name, f.Below(), want)
		}
	}
}

// Interfaces on others say so. A kernel without the module skips that one.
func TestDescribeBelow(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	for _, c := range []struct{ add, member, name, want string }{
		{"ip link add link veth0 name veth0.100 type vlan id 100", "", "veth0.100", "vlan 100 on veth0"},
		{"ip link add bond9 type bond", "ip link set veth0 master bond9", "bond9", "bond of veth0"},
		{"ip link add br9 type bridge", "ip link set veth1 master br9", "br9", "bridge of veth1"},
		{"", "", "veth0", ""}, // its other end is not below it
	} {
		if c.add != "" && exec.Command("sh", "-c", c.add).Run() != nil {
			t.Log("this kernel refuses: " + c.add)
			continue
		}
		if c.member != "" {
			netns.Run(t, strings.Fields(c.member)...)
		}
		if f, err := Describe(c.name); err != nil || f.Below() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, f.Below(), err, c.want)
		}
	}
}

func TestRenamedVeth(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("veth0", pollEvery).Run(ctx, l) }()
	eventually(t, "a sample", func() bool { return len(l.of(sources.TxOctets)) > 0 })
	netns.Run(t, "ip", "link", "set", "veth0", "name", "wan0")
	eventually(t, "GONE", func() bool { return l.last().Text == "veth0 GONE: renamed to wan0" })
	netns.Run(t, "ip", "link", "set", "wan0", "name", "veth0")
	eventually(t, "present again", func() bool {
		return len(l.of(sources.TxOctets)) > 0 && l.of(sources.TxOctets)[len(l.of(sources.TxOctets))-1].At.After(l.last().At)
	})
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The ioctl against whatever cards this machine has: names are found only where
// the driver's row expects them, and the numbers stand still or grow.
func TestEthtoolOfThisMachine(t *testing.T) {
	names, err := Interfaces()
	if err != nil {
		t.Skip(err)
	}
	told := 0
	for _, name := range names {
		e, err := openCardStats(name)
		if err != nil {
			t.Skip(err)
		}
		defer e.Close()
		e.find()
		var a, b group
		e.read(&a)
		e.read(&b)
		if len(a.values) != len(b.values) {
			t.Errorf("%s: %v then %v", name, a, b)
		}
		for i := range min(len(a.values), len(b.values)) {
			if b.values[i] < a.values[i] {
				t.Errorf("%s: %v then %v", name, a, b)
			}
		}
		told += len(a.values)
		t.Log(name, e.driver.names, e.count, "statistics", a)
	}
	if told == 0 {
		t.Skip("no driver here tells statistics that the table knows")
	}
}
