package nic

import (
	"errors"
	"slices"
	"testing"
	"time"

	"netwatch/sources"
)

// Polled once a second the counters tell the same rates, without a hole.
func TestEachSecond(t *testing.T) {
	k := newFake()
	l := runEvery(t, time.Second, k, func(*log) {
		for range 100 {
			k.set(func(k *fakeKernel) { k.now.stack[txOctets] += 12_500_000; k.now.stack[txPackets] += 10_000 })
			time.Sleep(tick)
		}
	})
	tx := l.of(sources.TxOctets)
	if len(tx) != 10 || k.reads != 1+10 {
		t.Fatalf("%d samples of %d readings in 10 s", len(tx), k.reads)
	}
	for i, s := range tx {
		if mean, _ := s.Mean(); mean != 125e6 || s.Span != time.Second {
			t.Errorf("sample %d: %v octets/s over %v", i, mean, s.Span)
		}
		if i > 0 && !s.At.Add(-s.Span).Equal(tx[i-1].At) {
			t.Errorf("a hole before sample %d", i)
		}
	}
	if size := l.of(sources.TxSize); len(size) != 10 || size[0].Last != 1250 {
		t.Errorf("packet sizes %+v", size)
	}
	if len(l.events) > 0 {
		t.Error(l.events)
	}
}

// Three seconds in which nothing can be read stay a gap: what was counted in them
// is in no sample.
func TestHoleEachSecond(t *testing.T) {
	k := newFake()
	var from, to time.Time
	l := runEvery(t, time.Second, k, func(*log) {
		for i := range 100 {
			k.set(func(k *fakeKernel) {
				k.now.stack[txOctets] += 1000
				switch i {
				case 30:
					from, k.err = time.Now(), errors.New("no buffer space")
				case 60:
					to, k.err = time.Now(), nil
				}
			})
			time.Sleep(tick)
		}
	})
	tx := l.of(sources.TxOctets)
	if len(tx) != 3+3 {
		t.Fatalf("%d samples", len(tx))
	}
	for _, s := range tx {
		if mean, _ := s.Mean(); mean != 10_000 || s.Span != time.Second {
			t.Errorf("%v octets/s over %v", mean, s.Span)
		}
		if s.At.After(from) && s.At.Add(-s.Span).Before(to) {
			t.Errorf("a sample from %v to %v reaches into the hole", s.At.Add(-s.Span), s.At)
		}
	}
}

// A turn drops the link while polls come each second: the gap is timed by what the
// kernel announces, and while the link is down the polls are fast, so that the first
// sample after it holds nothing from before.
func TestLinkGapEachSecond(t *testing.T) {
	k := newFake()
	var up time.Time
	l := runEvery(t, time.Second, k, func(*log) {
		time.Sleep(2250 * time.Millisecond) // polls are at 1 s, 2 s, …
		link := func(up bool) {
			k.set(func(k *fakeKernel) { k.now.up = up })
			k.changes <- linkChange{time.Now(), up}
		}
		link(false)
		time.Sleep(1500 * time.Millisecond)
		up = time.Now()
		link(true)
		time.Sleep(3 * time.Second)
	})
	if !slices.Equal(l.kinds(), []sources.EventKind{sources.LinkDown, sources.LinkUp}) || l.events[1].Span != 1500*time.Millisecond || !l.events[1].At.Equal(up) {
		t.Fatal(l.events)
	}
	for _, s := range l.of(sources.TxOctets) {
		if begin := s.At.Add(-s.Span); begin.Before(up.Add(-tick)) && s.At.After(up) {
			t.Errorf("a sample from %v to %v, the link came at %v", begin, s.At, up)
		}
	}
	if k.reads > 1+2+15+4 {
		t.Errorf("%d readings: fast polls did not end", k.reads)
	}
}

// Where the kernel announces nothing polls are all there is: the gap is still timed
// to 100 ms.
func TestDeafLinkGapEachSecond(t *testing.T) {
	k := newFake()
	k.watchErr = errors.New("no route socket")
	l := runEvery(t, time.Second, k, func(*log) {
		time.Sleep(2 * time.Second)
		k.set(func(k *fakeKernel) { k.now.up = false })
		time.Sleep(5 * tick)
		k.set(func(k *fakeKernel) { k.now.up = true })
		time.Sleep(2 * time.Second)
	})
	if want := []sources.EventKind{sources.SourceNote, sources.LinkDown, sources.LinkUp}; !slices.Equal(l.kinds(), want) || l.events[2].Span != 5*tick {
		t.Error(l.events)
	}
}

// A cable that is out costs no fast polls for ever.
func TestNoLinkEachSecond(t *testing.T) {
	k := newFake()
	k.now.up = false
	runEvery(t, time.Second, k, func(*log) { time.Sleep(time.Minute) })
	if most := 1 + 10*10 + 51; k.reads > most {
		t.Errorf("%d readings in a minute without link, want at most %d", k.reads, most)
	}
}

// The driver's copies come each 0.503 s and the polls each second: one poll sees two
// of them, now and then another one or three. The rate is true to a tenth all the same.
func TestLazyEachSecond(t *testing.T) {
	k := newFake()
	k.now.mac, k.now.lazy = counters(sources.TxWireOctets), true
	const step = 503 * time.Millisecond
	l := runEvery(t, time.Second, k, func(*log) {
		for range 400 {
			k.set(func(k *fakeKernel) { k.now.mac.values[0] += 503_000 })
			time.Sleep(step)
		}
	})
	tx := l.of(sources.TxWireOctets)
	if len(tx) < 30 {
		t.Fatalf("%d samples in 200 s", len(tx))
	}
	for _, s := range tx {
		if mean, _ := s.Mean(); mean < 0.9e6 || mean > 1.1e6 {
			t.Errorf("%v octets/s over %v, want a million", mean, s.Span)
		}
	}
}
