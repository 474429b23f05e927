package experiment

import (
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// A Track is one measured line: a Quantity as one origin tells it. A connection
// that ends and the next one that takes its place continue the same Track.
type Track struct {
	Quantity *Quantity
	Origin   Origin
	Host     string
	Subject  string // whose figure the newest Sample is: an interface, a flow's ID, a target
	Ring     *series.Ring
	Last     sources.Sample // the newest Sample, N > 0
	Total    Sum            // every Sample so far, without those of before the Session

	since  time.Time        // when the Session began
	recent []sources.Sample // the newest ones, oldest first
	lost   time.Time        // when its host was gone
	every  time.Duration    // the longest Span seen lately: how often news is due
}

// add takes a Sample. It returns false when the Sample came too late for the finest bins.
func (t *Track) add(s sources.Sample) bool {
	if !s.At.Before(t.Last.At) {
		t.Last, t.Subject = s, s.Series.Subject
		if len(t.recent) == maxRecent {
			t.recent = append(t.recent[:0], t.recent[1:]...)
		}
		t.recent = append(t.recent, s)
	}
	t.every = max(s.Span, t.every-t.every/16)
	if s.At.After(t.since) { // a log's past is no part of what was watched
		t.Total.add(s)
	}
	return t.Ring.Add(s)
}

// Stale says whether the Track has been silent for more than three of its
// intervals (at least one second) at the time now, or its host is gone, and since
// when it is silent.
func (t *Track) Stale(now time.Time) (age time.Duration, stale bool) {
	if t.Last.At.IsZero() {
		return 0, true
	}
	age = now.Sub(t.Last.At)
	gone := !t.lost.IsZero() && !t.Last.At.After(t.lost)
	return age, gone || t.overdue(age)
}

func (t *Track) overdue(age time.Duration) bool {
	return age > max(3*t.every, time.Second+500*time.Millisecond)
}

// At is the figure at a past time: the mean over the last whole second before it that
// has a reading, at most three seconds back. Whole seconds are the same in every Ring,
// and nothing new comes into one that is over.
func (t *Track) At(at time.Time) (v float64, ok bool) {
	const seconds = 3
	var bins [seconds]series.Bin
	t.Ring.Window(bins[:], at.Truncate(time.Second).Add(-seconds*time.Second), time.Second)
	for i := seconds - 1; i >= 0 && !ok; i-- {
		v, ok = bins[i].Mean(t.Ring.Agg())
	}
	return v, ok
}

// Now is the figure to show: the mean of the newest Sample. ok is false before the first.
func (t *Track) Now() (v float64, ok bool) { return t.Last.Mean() }
