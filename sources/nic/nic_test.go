package nic

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// A fakeKernel is an interface whose counters a test moves.
type fakeKernel struct {
	mu       sync.Mutex
	now      reading
	err      error
	changes  chan linkChange
	watchErr error
	closed   bool
	reads    int
}

func newFake() *fakeKernel {
	return &fakeKernel{now: reading{epoch: 4, up: true, stack: make([]uint64, len(stack))}}
}

func (k *fakeKernel) read(r *reading, whole bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	if k.err != nil {
		return k.err
	}
	r.epoch, r.up, r.speed = k.now.epoch, k.now.up, k.now.speed
	r.stepped, r.handed, r.lazy = k.now.stepped, k.now.handed, k.now.lazy
	r.stack = append(r.stack[:0], k.now.stack...)
	r.mac.take(k.now.mac)
	r.queues.reset()
	if whole {
		r.queues.take(k.now.queues)
	}
	return nil
}

func (g *group) take(from group) {
	g.metrics, g.values = append(g.metrics[:0], from.metrics...), append(g.values[:0], from.values...)
}

// counters is a group that counts from 1: a counter at 0 may be none at all.
func counters(metrics ...sources.Metric) group {
	g := group{metrics: metrics}
	for range metrics {
		g.values = append(g.values, 1)
	}
	return g
}

func (k *fakeKernel) watch(ctx context.Context, changes chan<- linkChange) error {
	if k.watchErr != nil {
		return k.watchErr
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-k.changes:
			changes <- c
		}
	}
}

func (k *fakeKernel) close() error { k.closed = true; return nil }

func (k *fakeKernel) set(f func(k *fakeKernel)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k)
}

// A log is a Sink that keeps everything.
type log struct {
	mu      sync.Mutex
	samples []sources.Sample
	events  []sources.Event
}

func (l *log) Sample(s sources.Sample) { l.mu.Lock(); l.samples = append(l.samples, s); l.mu.Unlock() }
func (l *log) Event(e sources.Event)   { l.mu.Lock(); l.events = append(l.events, e); l.mu.Unlock() }

// of are the samples of a metric.
func (l *log) of(m sources.Metric) []sources.Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.samples), func(s sources.Sample) bool { return s.Series.Metric != m })
}

func (l *log) kinds() []sources.EventKind {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kinds []sources.EventKind
	for _, e := range l.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func total(samples []sources.Sample) (sum float64, span time.Duration) {
	for _, s := range samples {
		sum, span = sum+s.Sum, span+s.Span
	}
	return sum, span
}

func fakeSource(k *fakeKernel) *Source {
	return &Source{"em4", pollEvery, func(string) (kernel, error) { return k, nil }, wallClock}
}

// run runs the source over k in a bubble of false time while script acts.
func run(t *testing.T, k *fakeKernel, script func(l *log)) *log {
	return runEvery(t, pollEvery, k, script)
}

func runEvery(t *testing.T, every time.Duration, k *fakeKernel, script func(l *log)) *log {
	l := &log{}
	synctest.Test(t, func(t *testing.T) {
		k.changes = make(chan linkChange) // of this bubble
		ctx, stop := context.WithCancel(t.Context())
		s := fakeSource(k)
		s.every = every
		done := make(chan error)
		go func() { done <- s.Run(ctx, l) }()
		time.Sleep(50 * time.Millisecond)
		script(l)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if !k.closed {
			t.Error("the kernel was not closed")
		}
	})
	return l
}

const tick = 100 * time.Millisecond

func TestRates(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		for range 10 {
			k.set(func(k *fakeKernel) { k.now.stack[0] += 1250; k.now.stack[1] += 12_500_000; k.now.stack[4]++ })
			time.Sleep(tick)
		}
	})
	tx := l.of(sources.TxOctets)
	sum, span := total(tx)
	if len(tx) != 10 || sum != 10*12_500_000 || span != time.Second {
		t.Errorf("%d samples, %v octets in %v", len(tx), sum, span)
	}
	if mean, _ := tx[3].Mean(); mean != 125e6 { // 12.5 MB each 0.1 s
		t.Errorf("mean %v", mean)
	}
	if s := tx[0].Series; *s != (sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}) || tx[9].Series != s {
		t.Errorf("series %+v", s)
	}
	if sum, _ := total(l.of(sources.RxDrops)); sum != 10 {
		t.Errorf("drops %v", sum)
	}
	if len(l.events) > 0 {
		t.Error(l.events)
	}
}

func TestCounterGoesBack(t *testing.T) {
	k := newFake()
	k.now.stack[0] = 1e6
	l := run(t, k, func(*log) {
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.stack[0] = 500; k.now.stack[1] = 77 })
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.stack[0] = 1500 })
		time.Sleep(tick)
	})
	// 0.1 s of nothing, the reset with no rate across it, then 1000 octets.
	rx := l.of(sources.RxOctets)
	if sum, _ := total(rx); len(rx) != 2 || sum != 1000 || rx[1].Span != tick {
		t.Errorf("%+v", rx)
	}
	if tx, _ := total(l.of(sources.TxOctets)); tx != 0 {
		t.Errorf("a rate was told across the reset: %v", tx)
	}
	if !slices.Equal(l.kinds(), []sources.EventKind{sources.CounterReset}) || !strings.Contains(l.events[0].Text, `"rx"`) {
		t.Error(l.events)
	}
}

func TestGoneAndBack(t *testing.T) {
	k := newFake()
	l := run(t, k, func(l *log) {
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.err = errGone })
		time.Sleep(31 * tick)
		k.set(func(k *fakeKernel) {
			k.err = nil
			k.now.epoch, k.now.stack[0] = 9, 5e9 // a new interface with a past of its own
		})
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.stack[0] += 100 })
		time.Sleep(tick)
	})
	if !slices.Equal(l.kinds(), []sources.EventKind{sources.LinkDown, sources.LinkUp}) {
		t.Fatal(l.events)
	}
	if down, up := l.events[0], l.events[1]; down.Text != "em4 GONE" || up.Span != 31*tick || up.Subject != "em4" || up.Source != "nic" {
		t.Errorf("%+v %+v", down, up)
	}
	if sum, span := total(l.of(sources.RxOctets)); sum != 100 || span != 2*tick {
		t.Errorf("%v octets in %v", sum, span)
	}
}

func TestReplacedBetweenPolls(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		k.set(func(k *fakeKernel) { k.now.epoch, k.now.stack[0] = 5, 1e9 })
		time.Sleep(tick)
	})
	if !slices.Equal(l.kinds(), []sources.EventKind{sources.CounterReset}) || len(l.samples) != 0 {
		t.Error(l.events, l.samples)
	}
}

// A flap that no poll sees is told, and how long it was.
func TestFlapBetweenPolls(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		now := time.Now()
		k.changes <- linkChange{now, false}
		k.changes <- linkChange{now.Add(30 * time.Millisecond), true}
		time.Sleep(3 * tick)
	})
	if !slices.Equal(l.kinds(), []sources.EventKind{sources.LinkDown, sources.LinkUp}) || l.events[1].Span != 30*time.Millisecond {
		t.Error(l.events)
	}
}

// Without announcements the polls still see a long gap.
func TestLinkByPolls(t *testing.T) {
	k := newFake()
	k.watchErr = errors.New("no route socket")
	k.now.up = false
	l := run(t, k, func(*log) {
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.up = true })
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.up = false })
		time.Sleep(5 * tick)
		k.set(func(k *fakeKernel) { k.now.up = true })
		time.Sleep(tick)
	})
	want := []sources.EventKind{sources.LinkDown, sources.SourceNote, sources.LinkUp, sources.LinkDown, sources.LinkUp}
	if !slices.Equal(l.kinds(), want) || l.events[0].Text != "em4 has no link" || l.events[4].Span != 5*tick {
		t.Error(l.events)
	}
}

// mac_stats refresh each 0.5 s: polled at 10 Hz they are stairs, and the rate must
// be that of the traffic all the same.
func TestStairs(t *testing.T) {
	k := newFake()
	k.now.mac = counters(sources.TxWireOctets)
	const perStep = 5000
	l := run(t, k, func(*log) {
		for i := range 60 {
			if i%5 == 3 {
				k.set(func(k *fakeKernel) { k.now.mac.values[0] += perStep })
			}
			time.Sleep(tick)
		}
	})
	tx := l.of(sources.TxWireOctets)
	if len(tx) < 4 {
		t.Fatalf("%d samples", len(tx))
	}
	for _, s := range tx {
		if mean, _ := s.Mean(); mean != 2*perStep || s.Span != time.Second {
			t.Errorf("%v/s over %v, want %v", mean, s.Span, 2*perStep)
		}
	}
}

func TestStairsFallSilent(t *testing.T) {
	k := newFake()
	k.now.mac = counters(sources.RxWireOctets)
	l := run(t, k, func(*log) {
		for i := range 20 {
			if i%5 == 0 && i <= 10 {
				k.set(func(k *fakeKernel) { k.now.mac.values[0] += 100 })
			}
			time.Sleep(tick)
		}
		time.Sleep(4 * time.Second)
	})
	rx := l.of(sources.RxWireOctets)
	// The edge at 0 begins, that at 1 s ends one second: 200 octets; then silence.
	if sum, _ := total(rx); sum != 200 || rx[0].Span != time.Second {
		t.Errorf("%v: %+v", sum, rx)
	}
	if last, _ := rx[len(rx)-1].Mean(); last != 0 || len(rx) < 3 {
		t.Errorf("silence was not told: %+v", rx)
	}
}

func TestSteppedStack(t *testing.T) {
	k := newFake()
	k.now.stepped = true
	l := run(t, k, func(*log) {
		for i := range 40 {
			if i%10 == 0 {
				k.set(func(k *fakeKernel) { k.now.stack[1] += 1000 })
			}
			time.Sleep(tick)
		}
	})
	for _, s := range l.of(sources.TxOctets) {
		if mean, _ := s.Mean(); mean != 1000 {
			t.Errorf("%v/s, want 1000", mean)
		}
	}
}

func TestRunFails(t *testing.T) {
	refuse := errors.New("no buffer space")
	synctest.Test(t, func(t *testing.T) {
		s := &Source{iface: "em9", open: func(string) (kernel, error) { return nil, errGone }}
		if err := s.Run(t.Context(), &log{}); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "em9") {
			t.Errorf("no interface: %v", err)
		}
		k := newFake()
		k.changes = make(chan linkChange)
		s = fakeSource(k)
		go func() {
			time.Sleep(350 * time.Millisecond)
			k.set(func(k *fakeKernel) { k.err = refuse })
			time.Sleep(300 * time.Millisecond)
			k.set(func(k *fakeKernel) { k.err = nil }) // some failures are forgiven
			time.Sleep(300 * time.Millisecond)
			k.set(func(k *fakeKernel) { k.err = refuse })
		}()
		if err := s.Run(t.Context(), &log{}); !errors.Is(err, refuse) {
			t.Errorf("refusals in a row: %v", err)
		}
	})
}

func TestInterfaces(t *testing.T) {
	names, err := Interfaces()
	if err != nil {
		t.Skip("this machine lists no interfaces:", err)
	}
	if !slices.IsSorted(names) {
		t.Error(names)
	}
}
