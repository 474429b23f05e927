package tcp

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// netwatch's own ssh is left out on both of its hosts, on whatever port its server
// listens, and nothing else is.
func TestTheOwnWayIsLeftOut(t *testing.T) {
	prefix := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	const v4, v6, local = "10.0.0.1 40001 10.0.0.2 2222", "fd00::1 40001 fd00::2 2222", "fe80::1%em1 40001 fe80::2%em1 2222"
	for _, c := range []struct {
		name, way, iface, local, remote string
		counts                          bool
	}{
		{"here", v4, "10.0.0.1/24", "10.0.0.1:40001", "10.0.0.2:2222", false},
		{"here, mapped", v4, "10.0.0.1/24", "10.0.0.1:40001", "[::ffff:10.0.0.2]:2222", false},
		{"here, another to that server", v4, "10.0.0.1/24", "10.0.0.1:40007", "10.0.0.2:2222", false},
		{"here, the server has another address on the way", v4, "10.0.0.1/24", "10.0.0.1:40001", "192.0.2.9:443", false},
		{"here, another port of that host", v4, "10.0.0.1/24", "10.0.0.1:40007", "10.0.0.2:5201", true},
		{"here, that port of another host", v4, "10.0.0.1/24", "10.0.0.1:40007", "10.0.0.3:2222", true},
		{"there", v4, "10.0.0.2/24", "10.0.0.2:2222", "10.0.0.1:40001", false},
		{"there, another client's port", v4, "10.0.0.2/24", "10.0.0.2:2222", "10.0.0.1:40007", true},
		{"there, a load from that host", v4, "10.0.0.2/24", "10.0.0.2:5201", "10.0.0.1:40001", true},
		{"IPv6", v6, "fd00::1/64", "[fd00::1]:40001", "[fd00::2]:2222", false},
		{"link-local, the scope inside", local, "fe80::1/64", "[fe80:2::1]:40001", "[fe80:2::2]:2222", false},
		{"port 22 all the same", v4, "10.0.0.2/24", "10.0.0.2:22", "10.0.0.1:40007", false},
	} {
		w, ok := ParseWay(c.way)
		if !ok {
			t.Fatalf("%s is not read", c.way)
		}
		s := scope{prefix(c.iface), map[string]Way{"r1": w}}
		if got := s.has(netip.MustParseAddrPort(c.local), netip.MustParseAddrPort(c.remote)); got != c.counts {
			t.Errorf("%s: counted %v", c.name, got)
		}
	}
	for _, text := range []string{"", "10.0.0.1 40001 10.0.0.2", "r1 40001 10.0.0.2 2222", "10.0.0.1 40001 10.0.0.2 x", "UNKNOWN 65535 UNKNOWN 65535"} {
		if _, ok := ParseWay(text); ok {
			t.Errorf("%q was taken for a connection", text)
		}
	}
}

// The way to a peer is known when the peer has come; then, and when it comes anew by
// another one, it is left out.
func TestAWayThatIsLearntLater(t *testing.T) {
	k := newFake()
	l := runSource(t, followEvery, k, func(s *Source, _ *log) {
		for n := range 2 {
			ssh := k.connect(10+n, uint16(2222+n))
			w, _ := ParseWay("10.0.0.1 " + []string{"40010", "40011"}[n] + " 10.0.0.2 " + []string{"2222", "2223"}[n])
			s.LeaveOut("r1", w)
			for range 30 {
				time.Sleep(100 * time.Millisecond)
				k.set(func(*fakeKernel) { ssh.acked += 10_000_000 })
			}
			k.set(func(k *fakeKernel) { delete(k.sockets, 10+n) })
		}
		load := k.connect(1, 5201)
		for range 30 {
			time.Sleep(100 * time.Millisecond)
			k.set(func(*fakeKernel) { load.acked += 10_000_000 })
		}
	})
	if got := l.story(); !slices.Equal(got, []string{"flow-seen " + id1, "run-started noticed #1"}) {
		t.Errorf("it said %q", got)
	}
}
