package nic

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// texts are those of the events of one kind.
func (l *log) texts(kind sources.EventKind) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

// A counter that leaps beyond what a 1 Gbit/s link carries is not shown; a line at
// full speed, read late, is.
func TestImpossibleRate(t *testing.T) {
	k := newFake()
	k.now.speed = 1e9
	l := run(t, k, func(*log) {
		for _, octets := range []uint64{12_500_000, 1 << 32, 12_500_000, 18_000_000, 1 << 40} {
			k.set(func(k *fakeKernel) { k.now.stack[txOctets] += octets; k.now.stack[txPackets] += 10 })
			time.Sleep(tick)
		}
	})
	var sums []float64
	for _, s := range l.of(sources.TxOctets) {
		sums = append(sums, s.Sum)
	}
	if !slices.Equal(sums, []float64{12_500_000, 12_500_000, 18_000_000}) {
		t.Error(sums)
	}
	if n := len(l.of(sources.TxPackets)); n != 3 {
		t.Errorf("%d samples of packets: what was read with it is not believed either", n)
	}
	if said := l.texts(sources.SourceNote); len(said) != 1 || !strings.Contains(said[0], `"tx"`) || !strings.Contains(said[0], "1000 Mbit/s") {
		t.Error(said)
	}
}

// It is counted, and said again at ten times.
func TestImpossibleRateIsCounted(t *testing.T) {
	k := newFake()
	k.now.speed = 1e6
	l := run(t, k, func(*log) {
		for range 25 {
			k.set(func(k *fakeKernel) { k.now.stack[rxPackets] += 1e6 })
			time.Sleep(tick)
		}
	})
	said := l.texts(sources.SourceNote)
	if len(said) != 2 || !strings.HasSuffix(said[1], "10 times so far") || len(l.of(sources.RxPackets)) != 0 {
		t.Error(said)
	}
}

// Without a wire of known speed (veth, lo0, a tunnel) nothing is too fast.
func TestNoSpeedNoBound(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		k.set(func(k *fakeKernel) { k.now.stack[txOctets] += 1 << 40 })
		time.Sleep(tick)
	})
	if sum, _ := total(l.of(sources.TxOctets)); sum != 1<<40 || len(l.events) > 0 {
		t.Error(sum, l.events)
	}
}

func TestPossible(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		m      sources.Metric
		amount uint64
		want   bool
	}{
		{sources.TxOctets, 125e6, true},
		{sources.TxOctets, 143_750_000, true},  // 1.1 s and 0.05 s of lateness
		{sources.TxOctets, 143_750_001, false}, // one more
		{sources.TxWirePkts, 1_488_095, true},  // line rate of the smallest frames
		{sources.TxWirePkts, 1_720_000, false},
		{sources.TxDrops, math.MaxUint64, true}, // dropped before the wire
	} {
		if got := possible(c.m, c.amount, second, 1e9); got != c.want {
			t.Errorf("%s %d: %v", c.m.Name, c.amount, got)
		}
	}
}

// A counter of 32 bits that wraps is a gap and an event, never a rate of 2^64.
func TestWrap(t *testing.T) {
	k := newFake()
	k.now.stack[rxOctets] = 1<<32 - 1000
	l := run(t, k, func(*log) {
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.stack[rxOctets] = 500 })
		time.Sleep(tick)
		k.set(func(k *fakeKernel) { k.now.stack[rxOctets] = 700 })
		time.Sleep(tick)
	})
	if sum, _ := total(l.of(sources.RxOctets)); sum != 200 {
		t.Error(sum)
	}
	if said := l.texts(sources.CounterReset); len(said) != 1 || !strings.Contains(said[0], "32 bits") {
		t.Error(said)
	}
}

// The machine sleeps for an hour: the monotonic clock stands still, the wall
// clock does not. The same for a clock that is set back.
func TestClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Minute} {
		k := newFake()
		l := &log{}
		synctest.Test(t, func(t *testing.T) {
			slept := time.Duration(0)
			src := fakeSource(k)
			src.wall = func(at time.Time) time.Time { return at.Add(slept) }
			w := newWatcher(src, k, l)
			at := time.Now()
			if err := w.first(at); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if i == 2 {
					slept = jump
				}
				at = at.Add(tick)
				k.now.stack[txOctets] += 1000
				if err := w.poll(at); err != nil {
					t.Fatal(err)
				}
			}
		})
		if sum, _ := total(l.of(sources.TxOctets)); sum != 3000 {
			t.Errorf("%v: %v octets told", jump, sum)
		}
		if said := l.texts(sources.CounterReset); len(said) != 1 || !strings.Contains(said[0], "clock jumped by "+jump.String()) {
			t.Error(said)
		}
	}
}

func TestRenamed(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		k.set(func(k *fakeKernel) { k.err = renamed{"wan0"} })
		time.Sleep(3 * tick)
	})
	if said := l.texts(sources.LinkDown); len(said) != 1 || said[0] != "em4 GONE: renamed to wan0" {
		t.Error(said)
	}
}

// A driver that is loaded again has other counters: they begin anew, and those it
// no longer has fall silent.
func TestDriverReloaded(t *testing.T) {
	k := newFake()
	k.now.mac = counters(sources.TxWireOctets, sources.MissedPkts)
	k.now.mac.values[0] = 1e9
	l := run(t, k, func(*log) {
		time.Sleep(30 * tick)
		k.set(func(k *fakeKernel) { k.now.epoch++; k.now.mac = counters(sources.TxWireOctets) })
		time.Sleep(30 * tick)
		k.set(func(k *fakeKernel) { k.now.mac.values[0] += 50 })
		time.Sleep(tick)
	})
	if sum, _ := total(l.of(sources.TxWireOctets)); sum != 50 {
		t.Error(sum)
	}
	if kinds := l.kinds(); !slices.Equal(kinds, []sources.EventKind{sources.CounterReset}) {
		t.Error(l.events)
	}
}

// Queue drops are read each second; a re-initialisation begins them anew.
func TestQueueDrops(t *testing.T) {
	k := newFake()
	k.now.queues = counters(sources.QueueDrops)
	l := run(t, k, func(*log) {
		for range 30 {
			k.set(func(k *fakeKernel) { k.now.queues.values[0]++ })
			time.Sleep(tick)
		}
	})
	s := l.of(sources.QueueDrops)
	if sum, span := total(s); len(s) != 3 || sum != 30 || span != 3*time.Second {
		t.Errorf("%d samples, %v in %v", len(s), sum, span)
	}
}

// A counter that never counted is none: emulated cards have interrupts.asserts
// and leave it at 0, while interrupts arrive.
func TestDeadCounter(t *testing.T) {
	k := newFake()
	k.now.mac = group{[]sources.Metric{sources.IrqAsserts, sources.MissedPkts}, []uint64{0, 0}}
	l := run(t, k, func(*log) { time.Sleep(50 * tick) })
	if len(l.of(sources.IrqAsserts)) > 0 || len(l.of(sources.MissedPkts)) == 0 {
		t.Error("asserts", l.of(sources.IrqAsserts), "missed", l.of(sources.MissedPkts))
	}
}

// The mean size of a packet is octets by packets, and weighs as many packets.
func TestPacketSizes(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		k.set(func(k *fakeKernel) { k.now.stack[txOctets], k.now.stack[txPackets] = 65226+1514, 2 })
		time.Sleep(tick)
		time.Sleep(tick) // no packet: no size
	})
	s := l.of(sources.TxSize)
	if len(s) != 1 || s[0].N != 2 || s[0].Last != 33370 || len(l.of(sources.RxSize)) != 0 {
		t.Errorf("%+v", s)
	}
}

// A kernel whose if_data counts the wire, and a link too idle to tell, give no factor.
func TestNoTSOFactor(t *testing.T) {
	for _, c := range []struct {
		name         string
		wire, handed uint64
		cut          uint64
		want         int
	}{
		{"super-packets", 45000, 1000, 1000, 1},
		{"no offload", 1000, 1000, 0, 1},
		{"if_data counts the wire", 45000, 45000, 1000, 0},
		{"idle", 12, 10, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newFake()
			k.now.handed = true
			k.now.mac = counters(sources.TxWirePkts, sources.TSOSends)
			l := run(t, k, func(*log) {
				time.Sleep(30 * tick)
				k.set(func(k *fakeKernel) {
					k.now.mac.values[0] += c.wire
					k.now.mac.values[1] += c.cut
					k.now.stack[txPackets] += c.handed
				})
				time.Sleep(tick)
			})
			if got := l.of(sources.TSOFactor); len(got) != c.want || c.want == 1 && got[0].Last != float64(c.wire)/float64(c.handed) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestBelow(t *testing.T) {
	for want, f := range map[string]Facts{
		"":                       {},
		"vlan 100 on em4":        {Kind: "vlan 100", Over: []string{"em4"}},
		"lagg of em0 em1":        {Kind: "lagg", Over: []string{"em0", "em1"}},
		"bridge without members": {Kind: "bridge"},
	} {
		if got := f.Below(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A brokenWatch has a bug in what reads the link's changes.
type brokenWatch struct{ *fakeKernel }

func (brokenWatch) watch(context.Context, chan<- linkChange) error { panic("index out of range") }

// A bug in the goroutine that listens costs the listening, and the rest goes on.
func TestWatchPanics(t *testing.T) {
	err := watch(t.Context(), brokenWatch{newFake()}, nil)
	if err == nil || err.Error() != "a bug in netwatch: index out of range" {
		t.Error(err)
	}
}
