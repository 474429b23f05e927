package irq

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// A fakeKernel is a card whose interrupts a test raises.
type fakeKernel struct {
	mu      sync.Mutex
	named   []line
	values  map[string]uint64 // by id
	ceiling float64
	below   string
}

func (k *fakeKernel) set(f func(k *fakeKernel)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k)
}

func (k *fakeKernel) lines() ([]line, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]line(nil), k.named...), nil
}

func (k *fakeKernel) counts(dst []count) ([]count, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.named {
		v, ok := k.values[l.id]
		dst = append(dst, count{v, ok})
	}
	return dst, nil
}

func (k *fakeKernel) limit() (float64, bool) { return k.ceiling, k.ceiling > 0 }
func (k *fakeKernel) of() string             { return k.below }
func (k *fakeKernel) where() string          { return "/proc/interrupts" }
func (k *fakeKernel) close() error           { return nil }

type log struct {
	mu      sync.Mutex
	samples []sources.Sample
	events  []sources.Event
}

func (l *log) Sample(s sources.Sample) { l.mu.Lock(); l.samples = append(l.samples, s); l.mu.Unlock() }
func (l *log) Event(e sources.Event)   { l.mu.Lock(); l.events = append(l.events, e); l.mu.Unlock() }

func (l *log) sums(subject string) (sums []float64) {
	for _, s := range l.samples {
		if s.Series.Subject == subject && s.Series.Metric == sources.Irqs {
			sums = append(sums, s.Sum)
		}
	}
	return sums
}

func run(t *testing.T, k *fakeKernel, script func()) *log {
	l := &log{}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- (&Source{iface: "em1", every: pollEvery, open: func(string) (kernel, error) { return k, nil }}).Run(ctx, l)
		}()
		time.Sleep(500 * time.Millisecond)
		script()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

func equal(got []float64, want ...float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

func TestQueuesAndTotal(t *testing.T) {
	k := &fakeKernel{named: []line{{"irq28", "rxq0", false}, {"irq29", "rxq1", false}, {"irq30", "aq", false}},
		values: map[string]uint64{"irq28": 1000, "irq29": 5, "irq30": 1}, ceiling: 8004}
	l := run(t, k, func() {
		for range 3 {
			k.set(func(k *fakeKernel) { k.values["irq28"] += 4000; k.values["irq29"] += 100 })
			time.Sleep(time.Second)
		}
	})
	if !equal(l.sums("em1:rxq0"), 4000, 4000, 4000) || !equal(l.sums("em1:rxq1"), 100, 100, 100) ||
		!equal(l.sums("em1:aq"), 0, 0, 0) || !equal(l.sums("em1"), 4100, 4100, 4100) {
		t.Errorf("%v %v %v", l.sums("em1:rxq0"), l.sums("em1:aq"), l.sums("em1"))
	}
	for _, s := range l.samples {
		if s.Series.Metric == sources.IrqCap && s.Last != 8004 {
			t.Errorf("%+v", s)
		}
	}
}

// A total of half a card is not told.
func TestCountGoesBack(t *testing.T) {
	k := &fakeKernel{named: []line{{"28", "rxq0", false}, {"29", "rxq1", false}}, values: map[string]uint64{"28": 1000, "29": 10}}
	l := run(t, k, func() {
		k.set(func(k *fakeKernel) { k.values["28"] = 3; k.values["29"] = 20 })
		time.Sleep(time.Second)
		k.set(func(k *fakeKernel) { k.values["28"] = 13 })
		time.Sleep(time.Second)
	})
	if !equal(l.sums("em1:rxq0"), 10) || !equal(l.sums("em1:rxq1"), 10, 0) || !equal(l.sums("em1"), 10) {
		t.Errorf("%v %v %v", l.sums("em1:rxq0"), l.sums("em1:rxq1"), l.sums("em1"))
	}
	if len(l.events) != 1 || l.events[0].Kind != sources.CounterReset {
		t.Error(l.events)
	}
}

func TestLinesChange(t *testing.T) {
	k := &fakeKernel{named: []line{{"28", "irq0", false}}, values: map[string]uint64{"28": 1000, "40": 7}}
	l := run(t, k, func() {
		k.set(func(k *fakeKernel) { k.named = []line{{"40", "irq0", false}} })
		time.Sleep(namesEvery + time.Second)
		k.set(func(k *fakeKernel) { k.values["40"] += 50 })
		time.Sleep(time.Second)
	})
	sum := 0.0
	for _, v := range l.sums("em1") {
		sum += v
	}
	if sum != 50 {
		t.Errorf("%v", l.sums("em1"))
	}
}

func TestSharedIsSaidOnce(t *testing.T) {
	k := &fakeKernel{named: []line{{"16", "irq0", true}}, values: map[string]uint64{"16": 1}}
	l := run(t, k, func() { time.Sleep(12 * time.Second) })
	if len(l.events) != 1 || !strings.Contains(l.events[0].Text, "shared") {
		t.Error(l.events)
	}
	// What both devices raised is never told as the card's own.
	if len(l.samples) == 0 {
		t.Error("no samples")
	}
	for _, s := range l.samples {
		if s.Series.Metric != sources.IrqsShared {
			t.Errorf("%+v", s.Series)
		}
	}
}

func TestLinesOfAnotherInterface(t *testing.T) {
	k := &fakeKernel{named: []line{{"16", "em4:irq0", false}}, values: map[string]uint64{"16": 1}, below: "em4"}
	l := run(t, k, func() { time.Sleep(12 * time.Second) })
	if len(l.events) != 1 || l.events[0].Text != "em1: interrupts are those of em4" {
		t.Error(l.events)
	}
	if len(l.sums("em1:em4:irq0")) == 0 || len(l.sums("em1")) == 0 {
		t.Error(l.samples)
	}
}

// After a sleep the counts are a new baseline.
func TestSleep(t *testing.T) {
	k := &fakeKernel{named: []line{{"16", "irq0", false}}, values: map[string]uint64{"16": 1}}
	l := &log{}
	m := newMeter("em1", k, l)
	at := time.Now()
	if err := m.rename(at); err != nil {
		t.Fatal(err)
	}
	for _, slept := range []time.Duration{0, 0, time.Hour, time.Hour} {
		at = at.Add(time.Second)
		k.values["16"] += 10
		m.clock(at, at.Round(0).Add(slept))
		m.read(at)
	}
	if !equal(l.sums("em1"), 10, 10) {
		t.Error(l.sums("em1"))
	}
}

func TestSameQueueNames(t *testing.T) {
	lines := []line{{"30", "comp0", false}, {"31", "comp0", false}}
	distinct(lines)
	if lines[0].queue != "comp0" || lines[1].queue != "comp0#31" {
		t.Error(lines)
	}
}

func TestNoLine(t *testing.T) {
	s := &Source{iface: "veth0", every: pollEvery, open: func(string) (kernel, error) { return &fakeKernel{}, nil }}
	err := s.Run(t.Context(), &log{})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.HasPrefix(err.Error(), "veth0 has no line in /proc/interrupts") {
		t.Error(err)
	}
}
