package nic

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
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
	if !inNamespace(t) {
		return
	}
	add := func() {
		command(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
		command(t, "ip", "link", "set", "veth1", "up")
		command(t, "ip", "link", "set", "veth0", "up")
	}
	add()
	command(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "veth0")

	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("veth0").Run(ctx, l) }()
	eventually(t, "a sample", func() bool { return len(l.of(sources.TxOctets)) > 0 })

	// Datagrams to a neighbour that is told to the kernel: 100 of 1000 bytes and 42 of headers.
	command(t, "ip", "neigh", "add", "10.77.0.2", "lladdr", "02:00:00:00:00:02", "dev", "veth0")
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

	command(t, "ip", "link", "set", "veth1", "down")
	eventually(t, "link down", func() bool { return l.last().Kind == sources.LinkDown })
	command(t, "ip", "link", "set", "veth1", "up")
	eventually(t, "link up", func() bool { return l.last().Kind == sources.LinkUp })
	if e := l.last(); e.Span <= 0 || e.Span > 5*time.Second {
		t.Errorf("%+v", e)
	}

	command(t, "ip", "link", "del", "veth0")
	eventually(t, "GONE", func() bool { return l.last().Text == "veth0 GONE" })
	command(t, "ip", "link", "add", "other0", "type", "veth", "peer", "name", "other1") // never taken for it
	add()
	eventually(t, "back", func() bool { return l.last().Kind == sources.LinkUp })

	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNoSuchInterface(t *testing.T) {
	if err := New("none9").Run(t.Context(), &log{}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if _, err := Describe("none9"); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

func TestDescribeVeth(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	command(t, "ip", "link", "add", "veth0", "mtu", "1400", "type", "veth", "peer", "name", "veth1")
	command(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "veth0")
	f, err := Describe("veth0")
	if err != nil {
		t.Fatal(err)
	}
	if f.Driver != "veth" || f.MTU != 1400 || f.Up || len(f.Addrs) != 1 || f.Addrs[0].String() != "10.77.0.1/24" {
		t.Errorf("%+v", f)
	}
	command(t, "ip", "link", "set", "veth1", "up")
	command(t, "ip", "link", "set", "veth0", "up")
	if f, err := Describe("veth0"); err != nil || !f.Up || f.Speed != 10e9 {
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
	k, err := openKernel("lo")
	if err != nil {
		b.Skip(err)
	}
	defer k.close()
	var r reading
	b.ReportAllocs()
	for b.Loop() {
		if err := k.read(&r); err != nil {
			b.Fatal(err)
		}
	}
}
