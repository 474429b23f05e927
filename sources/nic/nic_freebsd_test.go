package nic

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/sysctl"
)

// lo0 of this kernel counts what is sent over it.
func TestLoopback(t *testing.T) {
	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("lo0", pollEvery).Run(ctx, l) }()
	var sum float64
	for deadline := time.Now().Add(10 * time.Second); sum < 100*1000 && time.Now().Before(deadline); {
		if c, err := net.Dial("udp", "127.0.0.1:9"); err == nil {
			c.Write(make([]byte, 1000))
			c.Close()
		}
		time.Sleep(5 * time.Millisecond)
		sum, _ = total(l.of(sources.TxOctets))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if sum < 100*1000 {
		t.Skipf("%v octets: lo0 seems to be down", sum)
	}
	if len(l.events) > 0 {
		t.Errorf("%+v", l.events)
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

func TestDescribe(t *testing.T) {
	f, err := Describe("lo0")
	if err != nil || f.Name != "lo0" || f.MTU == 0 || f.Media != "" {
		t.Errorf("%+v, %v", f, err)
	}
}

// A card of this machine, if it has one that the table knows: what its row finds
// can be read, and does not go back.
func TestCard(t *testing.T) {
	for _, iface := range []string{"em0", "em1", "igb0", "igc0", "ix0", "vtnet0", "vmx0", "re0", "bge0"} {
		k, err := openKernel(iface)
		if err != nil {
			continue
		}
		var a, b reading
		if err := k.read(&a, true); err != nil {
			t.Fatal(iface, err)
		}
		if err := k.read(&b, true); err != nil {
			t.Fatal(iface, err)
		}
		t.Log(iface, a.mac, a.queues, a.speed)
		for _, g := range [][2]group{{a.mac, b.mac}, {a.queues, b.queues}} {
			if len(g[0].values) != len(g[1].values) || len(g[0].metrics) != len(g[0].values) {
				t.Errorf("%s: %v then %v", iface, g[0], g[1])
				continue
			}
			for i, v := range g[1].values {
				if v < g[0].values[i] {
					t.Errorf("%s: %s went from %d to %d", iface, g[0].metrics[i].Name, g[0].values[i], v)
				}
			}
		}
		return
	}
	t.Skip("no card that is known to the test")
}

// lo0 lies on nothing; asking it does no harm.
func TestLoopbackBelow(t *testing.T) {
	if f, err := Describe("lo0"); err != nil || f.Below() != "" {
		t.Error(f.Below(), err)
	}
}

// A route socket can be waited for: it neither fails nor keeps the source from ending.
func TestWatchEnds(t *testing.T) {
	k, err := openKernel("lo0")
	if err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if err := k.watch(ctx, make(chan linkChange, 16)); err != nil || ctx.Err() == nil {
		t.Errorf("it ended with %v before its context", err)
	}
}

// A counter that cannot be read has the name looked up again, once: what was known of
// the interface stays, so that a rename can be told, and the counter is left out.
func TestCounterThatCannotBeRead(t *testing.T) {
	opened, err := openKernel("lo0")
	if err != nil {
		t.Skip(err)
	}
	k := opened.(*freebsdKernel)
	index := k.index
	k.mac = []*counter{{leaf: leaf{name: "dev.none.0.none"}, mib: sysctl.MIB{0, 1<<31 - 1}}}
	var r reading
	if err := k.read(&r, true); err != nil || !k.lost || k.index != index || len(r.mac.values) != 0 {
		t.Errorf("%v; lost %v, index %d of %d, %v", err, k.lost, k.index, index, r.mac)
	}
	if err := k.read(&r, true); err != nil || k.lost || k.index != index || len(k.mac) != 0 {
		t.Errorf("again: %v; lost %v, index %d of %d", err, k.lost, k.index, index)
	}
}
