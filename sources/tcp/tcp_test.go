package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// A fakeKernel is a table of connections that a test changes.
type fakeKernel struct {
	mu      sync.Mutex
	sockets map[int]*socket
	oneErr  error
	ones    int
	dumps   int
	dumpErr error
}

func newFake() *fakeKernel { return &fakeKernel{sockets: map[int]*socket{}} }

func (k *fakeKernel) set(f func(k *fakeKernel)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k)
}

func (k *fakeKernel) dump(dst []socket) ([]socket, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dumps++
	for _, s := range k.sockets {
		dst = append(dst, *s)
	}
	return dst, k.dumpErr
}

func (k *fakeKernel) one(s *socket) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ones++
	if k.oneErr != nil {
		return k.oneErr
	}
	for _, x := range k.sockets {
		if x.key == s.key {
			*s = *x
			return nil
		}
	}
	return errEnded
}

func (k *fakeKernel) close() error { return nil }

// connect adds connection n from 10.0.0.1 to a port of 10.0.0.2.
func (k *fakeKernel) connect(n int, port uint16) *socket {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.add(n, port)
}

// add is connect for those who hold the lock.
func (k *fakeKernel) add(n int, port uint16) *socket {
	s := &socket{local: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(40000+n)),
		remote: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port), cc: "cubic", mss: 1448,
		cwnd: 14480, srtt: 500, rttvar: 20, knows: knowsBytes | knowsRTT | knowsInflight | knowsCwnd}
	s.key[0], s.key[1] = byte(n), byte(n>>8)
	k.sockets[n] = s
	return s
}

type log struct {
	mu      sync.Mutex
	samples []sources.Sample
	events  []sources.Event
}

func (l *log) Sample(s sources.Sample) { l.mu.Lock(); l.samples = append(l.samples, s); l.mu.Unlock() }
func (l *log) Event(e sources.Event)   { l.mu.Lock(); l.events = append(l.events, e); l.mu.Unlock() }

func (l *log) of(subject string, m sources.Metric) (list []sources.Sample) {
	for _, s := range l.samples {
		if s.Series.Subject == subject && s.Series.Metric == m {
			list = append(list, s)
		}
	}
	return list
}

// story is the events as "kind subject".
func (l *log) story() (list []string) {
	for _, e := range l.events {
		list = append(list, string(e.Kind)+" "+e.Subject)
	}
	return list
}

func run(t *testing.T, k *fakeKernel, script func(l *log)) *log {
	return runEvery(t, followEvery, k, script)
}

func runEvery(t *testing.T, every time.Duration, k *fakeKernel, script func(l *log)) *log {
	return runSource(t, every, k, func(_ *Source, l *log) { script(l) })
}

func runSource(t *testing.T, every time.Duration, k *fakeKernel, script func(s *Source, l *log)) *log {
	l := &log{}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := New("em0", every, true)
		s.open = func() (kernel, error) { return k, nil }
		s.addrs = func(string) ([]netip.Prefix, error) {
			return []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}, nil
		}
		done := make(chan error)
		go func() { done <- s.Run(ctx, l) }()
		time.Sleep(50 * time.Millisecond)
		script(s, l)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

const id1 = "10.0.0.1:40001>10.0.0.2:5201"

// A load that starts after netwatch: noticed, followed at 10 Hz, ended.
func TestRunIsNoticed(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		time.Sleep(2 * time.Second)
		s := k.connect(1, 5201)
		for range 50 {
			k.set(func(*fakeKernel) { s.acked += 1_250_000; s.cwnd = 400_000; s.retrans++ })
			time.Sleep(100 * time.Millisecond)
		}
		k.set(func(k *fakeKernel) { delete(k.sockets, 1) })
		time.Sleep(2 * time.Second)
	})
	want := []string{"flow-seen " + id1, "run-started noticed #1", "flow-ended " + id1, "run-ended noticed #1"}
	if !slices.Equal(l.story(), want) {
		t.Fatal(l.story())
	}
	if e := l.events[1]; e.Text != id1 || e.Source != "tcp" {
		t.Errorf("%+v", e)
	}
	if f := l.events[0].Flow; f.Remote.Port() != 5201 || f.CC != "cubic" || f.MSS != 1448 {
		t.Errorf("%+v", f)
	}
	goodput := l.of(id1, sources.Goodput)
	var sum float64
	var span time.Duration
	for _, s := range goodput {
		sum, span = sum+s.Sum, span+s.Span
	}
	if len(goodput) < 35 || sum/span.Seconds() != 12.5e6 {
		t.Errorf("%d samples, %v octets in %v", len(goodput), sum, span)
	}
	if c := l.of(id1, sources.Cwnd); c[5].Last != 400_000 || c[5].Series.Source != "tcp" {
		t.Errorf("%+v", c[5])
	}
	if r := l.of(id1, sources.Retrans); r[5].Sum != 1 {
		t.Errorf("%+v", r[5])
	}
	if len(l.of(id1, sources.Ssthresh)) != 0 {
		t.Error("an unset ssthresh was told")
	}
}

// A load that was on before netwatch came: it began, as far as can be told, at the first
// look, not at the second, which tells that it moves.
func TestRunThatWasOn(t *testing.T) {
	k := newFake()
	s := k.connect(1, 5201)
	var began time.Time
	l := run(t, k, func(*log) {
		began = time.Now().Add(-50 * time.Millisecond)
		for range 30 {
			k.set(func(*fakeKernel) { s.acked += 1_250_000 })
			time.Sleep(100 * time.Millisecond)
		}
	})
	if at := slices.Index(l.story(), "run-started noticed #1"); at < 0 || !l.events[at].At.Equal(began) {
		t.Errorf("%v, want a run from %v on: %+v", l.story(), began, l.events)
	}
}

func TestBulkByRateAndIdle(t *testing.T) {
	k := newFake()
	const id = "10.0.0.1:40007>10.0.0.2:8080"
	l := run(t, k, func(*log) {
		s := k.connect(7, 8080)
		move := func(seconds int, perSecond uint64) {
			for range 10 * seconds {
				k.set(func(*fakeKernel) { s.received += perSecond / 10 })
				time.Sleep(100 * time.Millisecond)
			}
		}
		move(3, 100_000)   // 0.8 Mbit/s: no load
		move(3, 1_000_000) // 8 Mbit/s
		move(4, 1000)      // a trickle: idle
		move(2, 1_000_000)
	})
	want := []string{"flow-seen " + id, "run-started noticed #1", "run-ended noticed #1", "run-started noticed #2"}
	if !slices.Equal(l.story(), want) {
		t.Fatal(l.story())
	}
	if e := l.events[2]; e.Span < 2400*time.Millisecond || e.Span > 3600*time.Millisecond { // begun half a look ago
		t.Errorf("the run took 3 s, said %v", e.Span)
	}
	// Its end is when it last moved data, not when the silence was long enough.
	if start, end := l.events[1], l.events[2]; !end.At.Equal(start.At.Add(end.Span)) {
		t.Errorf("a run of %v from %v ended at %v", end.Span, start.At, end.At)
	}
}

// An iperf3 that waits is no run; a control connection keeps none alive.
func TestWaitingLoadPort(t *testing.T) {
	k := newFake()
	k.connect(1, 5201).acked = 400
	l := run(t, k, func(*log) { time.Sleep(5 * time.Second) })
	if len(l.events) != 0 {
		t.Error(l.story())
	}
}

func TestNoticeIsOptional(t *testing.T) {
	tr := newTracker(newFake(), &log{}, followEvery, false)
	if tr.run != nil {
		t.Error("runs are noticed")
	}
}

// Only the busiest are followed, however many there are.
func TestBusiestFew(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		for n := range 50 {
			k.connect(n, 9000)
		}
		for range 6 {
			k.set(func(k *fakeKernel) {
				for n, s := range k.sockets {
					s.acked += uint64(n * 100)
				}
			})
			time.Sleep(time.Second)
		}
	})
	seen := map[string]bool{}
	for _, s := range l.samples {
		seen[s.Series.Subject] = true
	}
	if len(seen) != maxFollowed {
		t.Errorf("%d connections are followed", len(seen))
	}
	for n := 50 - maxFollowed; n < 50; n++ {
		if !seen[fmt.Sprintf("10.0.0.1:%d>10.0.0.2:9000", 40000+n)] {
			t.Errorf("connection %d is not among %v", n, seen)
		}
	}
}

// A load that starts when all places are taken gets one.
func TestBusierTakesAPlace(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		for n := range maxFollowed {
			k.connect(100+n, 443)
		}
		for i := range 8 {
			k.set(func(k *fakeKernel) {
				if i == 3 {
					k.add(1, 5201)
				}
				for n, s := range k.sockets {
					s.acked += 1000
					if n == 1 {
						s.acked += 1e6
					}
				}
			})
			time.Sleep(time.Second)
		}
	})
	if len(l.of(id1, sources.Goodput)) == 0 {
		t.Error(l.story())
	}
	if n := len(l.events); n != maxFollowed+1+1 { // each is seen once, and the run
		t.Errorf("%d events: %v", n, l.story())
	}
}

// The same addresses again are another connection.
func TestPortReuse(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		s := k.connect(1, 5201)
		for range 3 {
			k.set(func(*fakeKernel) { s.acked += 1e6 })
			time.Sleep(time.Second)
		}
		k.set(func(k *fakeKernel) {
			delete(k.sockets, 1)
			again := k.add(1, 5201)
			again.key[5] = 1
			again.acked = 1e6
		})
		time.Sleep(2 * time.Second)
	})
	if !slices.Contains(l.story(), "flow-ended "+id1) {
		t.Error(l.story())
	}
	for _, s := range l.of(id1, sources.Goodput) {
		if s.Sum < 0 {
			t.Errorf("%+v", s)
		}
	}
}

// Without anything to follow the source wakes once a second.
func TestQuietHostIsLeftAlone(t *testing.T) {
	k := newFake()
	run(t, k, func(*log) { time.Sleep(10 * time.Second) })
	if k.dumps != 11 {
		t.Errorf("%d dumps in 10 s", k.dumps)
	}
}

// Where the kernel counts no payload a load is known by its port, for as long as
// it is there.
func TestKernelWithoutByteCounts(t *testing.T) {
	k := newFake()
	k.oneErr = errors.ErrUnsupported
	l := run(t, k, func(*log) {
		k.set(func(k *fakeKernel) { s := k.add(1, 5001); s.knows = knowsCwnd; s.ssthresh = 20000; s.acked = 0 })
		time.Sleep(6 * time.Second)
		k.set(func(k *fakeKernel) { delete(k.sockets, 1) })
		time.Sleep(2 * time.Second)
	})
	const id = "10.0.0.1:40001>10.0.0.2:5001"
	want := []string{"flow-seen " + id, "run-started noticed #1", "flow-ended " + id, "run-ended noticed #1"}
	if !slices.Equal(l.story(), want) {
		t.Error(l.story())
	}
	if n := len(l.of(id, sources.Cwnd)); n != 5 && n != 4 {
		t.Errorf("%d readings of cwnd in 6 s", n)
	}
	if k.ones != 1 {
		t.Errorf("a system that only has dumps was asked %d times for less", k.ones)
	}
	for _, m := range []sources.Metric{sources.SRTT, sources.Goodput, sources.Inflight} {
		if len(l.of(id, m)) > 0 {
			t.Errorf("%s was invented", m.Name)
		}
	}
}

func TestDumpsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newFake()
		k.dumpErr = os.ErrPermission
		s := New("em0", followEvery, true)
		s.open = func() (kernel, error) { return k, nil }
		s.addrs = func(string) ([]netip.Prefix, error) { return nil, errors.New("gone") }
		if err := s.Run(t.Context(), &log{}); !errors.Is(err, os.ErrPermission) || k.dumps != failsInRow {
			t.Errorf("%v after %d dumps", err, k.dumps)
		}
	})
}

func TestScope(t *testing.T) {
	em0 := scope{addrs: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("fe80::5054:ff:fe00:1/64")}}
	lo := scope{addrs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}}
	for _, c := range []struct {
		name          string
		scope         scope
		local, remote string
		want          bool
	}{
		{"ours", em0, "10.0.0.1:4000", "10.0.0.2:5201", true},
		{"of another interface", em0, "192.168.1.5:4000", "10.0.0.2:5201", false},
		{"ssh out", em0, "10.0.0.1:4000", "10.0.0.2:22", false},
		{"ssh in", em0, "10.0.0.1:22", "10.0.0.2:4000", false},
		{"loopback", em0, "127.0.0.1:4000", "127.0.0.1:5201", false},
		{"to itself", em0, "10.0.0.1:4000", "10.0.0.1:5201", false},
		{"link-local with a zone", em0, "[fe80::5054:ff:fe00:1%em0]:4000", "[fe80::2%em0]:5201", true},
		{"link-local with the scope inside", em0, "[fe80:1::5054:ff:fe00:1]:4000", "[fe80:1::2]:5201", true},
		{"lo: loopback", lo, "127.0.0.1:4000", "127.0.0.1:5201", true},
		{"lo: another loopback address", lo, "127.0.0.9:4000", "127.0.0.1:5201", true},
		{"lo: to itself", lo, "10.0.0.1:4000", "10.0.0.1:5201", true},
		{"lo: out", lo, "10.0.0.1:4000", "10.0.0.2:5201", false},
		{"no addresses: all", scope{}, "192.168.1.5:4000", "10.0.0.2:5201", true},
		{"no addresses: but loopback", scope{}, "[::1]:4000", "[::1]:5201", false},
	} {
		if got := c.scope.has(netip.MustParseAddrPort(c.local), netip.MustParseAddrPort(c.remote)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Real tables of FreeBSD 15.0.
func TestFromPCB(t *testing.T) {
	read := func(file string) (list []socket) {
		raw, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		pcbs, err := bsd.AppendPCBs(nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pcbs {
			if p.State.Moving() {
				list = append(list, fromPCB(p))
			}
		}
		return list
	}
	// One of five entries is established, the others are in TIME_WAIT.
	list := read("txt-linklocal-v6.pcblist-host-0.bin")
	if len(list) != 1 {
		t.Fatal(list)
	}
	s := list[0]
	if s.remote.Port() != 5001 || s.cwnd != 86804 || s.ssthresh != 42828 || s.mss != 1440 || s.cc != "cubic" || s.stack != "freebsd" ||
		s.knows != knowsCwnd {
		t.Errorf("%+v", s)
	}
	s = read("15.0-t0.net.inet.tcp.pcblist.bin")[0]
	if s.queue != 0x30178 || !strings.HasPrefix(s.local.String(), "10.9.0.1:") || s.key == (key{}) {
		t.Errorf("%+v", s)
	}
	unset := fromPCB(bsd.PCB{Ssthresh: 1073725440, MaxSeg: 1460, Cwnd: 14480})
	if unset.ssthresh != 0 {
		t.Error("an unset ssthresh was told")
	}
	if old := fromPCB(bsd.PCB{Cwnd: 5}); old.knows != 0 {
		t.Error("a kernel without cwnd told one")
	}
	// The ids that real logs had for these connections.
	pcb := bsd.PCB{Local: netip.MustParseAddrPort("10.9.0.1:16216"), Remote: netip.MustParseAddrPort("10.9.0.2:5001")}
	if id := fromPCB(pcb).flow().LogID; id != "cc43c364" {
		t.Error(id)
	}
	pcb.FlowID = 0x971b1f56 // a kernel with hash_outbound
	if id := fromPCB(pcb).flow().LogID; id != "971b1f56" {
		t.Error(id)
	}
	a, b := fromPCB(bsd.PCB{Gen: 1}), fromPCB(bsd.PCB{Gen: 2})
	if a.key == b.key {
		t.Error("two connections have one key")
	}
}

func TestConnections(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Skip("no loopback:", err)
	}
	defer c.Close()
	list, err := Connections()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	id := c.LocalAddr().String() + ">" + ln.Addr().String()
	if err != nil || !slices.ContainsFunc(list, func(f sources.Flow) bool { return f.ID == id && f.CC != "" }) {
		t.Errorf("%s is not among %d connections, %v", id, len(list), err)
	}
}
