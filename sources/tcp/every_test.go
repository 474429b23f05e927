package tcp

import (
	"testing"
	"time"

	"netwatch/sources"
)

// Sampled each second or more seldom, no socket is asked for by itself; a load is
// noticed in time all the same, and the samples hold all it moved.
func TestFollowedMoreSeldom(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 3 * time.Second} {
		k := newFake()
		var began time.Time
		l := runEvery(t, every, k, func(*log) {
			time.Sleep(2 * time.Second)
			began = time.Now()
			s := k.connect(1, 5201)
			for range 110 {
				k.set(func(*fakeKernel) { s.acked += 1_250_000; s.retrans++ })
				time.Sleep(100 * time.Millisecond)
			}
			k.set(func(k *fakeKernel) { delete(k.sockets, 1) })
			time.Sleep(time.Second)
		})
		if k.ones > 0 || k.dumps != 15 {
			t.Errorf("every %v: %d exact requests, %d dumps in 14 s", every, k.ones, k.dumps)
		}
		if got := l.story(); len(got) < 2 || got[1] != "run-started noticed #1" || l.events[1].At.Sub(began) > time.Second {
			t.Errorf("every %v: %v", every, got)
		}
		goodput, lost := l.of(id1, sources.Goodput), l.of(id1, sources.Retrans)
		var span time.Duration // from the dump at 3 s to the last that saw the connection, at 13 s
		for i, s := range goodput {
			if mean, _ := s.Mean(); mean != 12.5e6 || s.Span != every && i < len(goodput)-1 || lost[i].Sum != 10*s.Span.Seconds() {
				t.Errorf("every %v: %v octets/s over %v, %v lost", every, mean, s.Span, lost[i].Sum)
			}
			span += s.Span
		}
		if span != 10*time.Second || len(lost) != len(goodput) {
			t.Errorf("every %v: %d samples of %v", every, len(goodput), span)
		}
	}
}
