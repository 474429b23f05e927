package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

var receiver = sources.Series{Source: "tcp", Subject: "a", Metric: sources.RxGood}

// A receiver's chart does not turn round when the load stands still for a while, nor when
// it has ended; that the next run goes the other way, it follows.
func TestDirectionOfARun(t *testing.T) {
	f := newFeed()
	run := func(kind sources.EventKind, subject string) {
		f.event(sources.Event{Kind: kind, Source: "tcp", Subject: subject})
	}
	moving := func(d time.Duration, out, in float64) {
		f.step(d, map[sources.Series]float64{sender: out, receiver: in})
	}
	want := func(what string, m sources.Metric) {
		t.Helper()
		if got := f.Find(Goodput, "").Origin.Metric; got != m {
			t.Errorf("%s: %s, want %s", what, got.Name, m.Name)
		}
	}
	moving(2*time.Second, 1000, 0)
	want("before any run", sources.Goodput)
	run(sources.RunStarted, "a")
	moving(10*time.Second, 37_500, 36.9e6)
	want("a run that comes in", sources.RxGood)
	moving(5*time.Second, 37_500, 0)
	want("it stands still", sources.RxGood)
	stalled := f.Now()
	moving(2*time.Second, 37_500, 36.9e6)
	run(sources.RunEnded, "a")
	moving(5*time.Second, 1000, 0)
	want("it has ended", sources.RxGood)
	moving(5*time.Second, 20e6, 1000)
	want("something goes out that nobody calls a run", sources.Goodput)
	run(sources.RunStarted, "b")
	moving(4*time.Second, 36.9e6, 37_500)
	want("a run that goes out", sources.Goodput)
	run(sources.RunStarted, "c")
	moving(4*time.Second, 37_500, 36.9e6)
	want("another joins it and comes in", sources.RxGood)
	for _, c := range []struct {
		what string
		at   time.Time
		m    sources.Metric
	}{{"in the stall", stalled, sources.RxGood}, {"before it", t0.Add(8 * time.Second), sources.RxGood}, {"before the run", t0.Add(2 * time.Second), sources.Goodput}} {
		if got := f.FindAt(Goodput, "", c.at, time.Minute).Origin.Metric; got != c.m {
			t.Errorf("looking back %s: %s, want %s", c.what, got.Name, c.m.Name)
		}
	}
}
