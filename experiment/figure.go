package experiment

import (
	"slices"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// A Figure is what a Track told at a time, and how old it was then.
type Figure struct {
	Value float64
	Age   time.Duration
	Stale bool // it was silent for too long to be believed
}

// maxRecent is how many Samples a Track keeps one by one: those of the time between a key
// that pauses and the next frame.
const maxRecent = 8

// FigureAt is At with its age: a figure that was stale then is so for ever.
func (t *Track) FigureAt(at time.Time) (f Figure, ok bool) {
	if f.Value, ok = t.At(at); !ok {
		return Figure{}, false
	}
	const width = 100 * time.Millisecond
	var bins [40]series.Bin // as far as At looks
	t.Ring.Window(bins[:], at.Add(-width*time.Duration(len(bins))), width)
	for i := len(bins) - 1; i >= 0 && !told(bins[i], t.Ring.Agg()); i-- {
		f.Age += width
	}
	f.Stale = t.overdue(f.Age)
	return f, true
}

func told(b series.Bin, agg sources.Agg) bool {
	_, ok := b.Mean(agg)
	return ok
}

// newest is the figure of the newest Sample up to a time that has just gone by, as Now and
// Stale told it then.
func (t *Track) newest(at time.Time) (f Figure, ok bool) {
	for _, v := range slices.Backward(t.recent) {
		if v.At.After(at) {
			continue
		}
		f.Value, ok = v.Mean()
		f.Age = at.Sub(v.At)
		f.Stale = t.overdue(f.Age) || !t.lost.IsZero() && !v.At.After(t.lost) && !at.Before(t.lost)
		return f, ok
	}
	return Figure{}, false
}

// Figures are those of all Tracks as they stood at a time that has just gone by.
func (s *Session) Figures(at time.Time) map[*Track]Figure {
	out := map[*Track]Figure{}
	take := func(t *Track) {
		if f, ok := t.newest(at); ok {
			out[t] = f
		}
	}
	for _, t := range slices.Concat(s.order, s.second) {
		take(t)
	}
	for _, f := range s.flows.all {
		for _, t := range f.told {
			take(t)
		}
	}
	return out
}

// Held is Now at the time of which the figures are. Where none is held it is At.
func (f *FlowState) Held(m sources.Metric, at time.Time, figures map[*Track]Figure) (v float64, ok bool) {
	if f.Over(at) {
		return 0, false
	}
	for _, source := range byTrust {
		t := f.told[Origin{source, m}]
		if t == nil {
			continue
		}
		g, known := figures[t]
		if !known {
			g, known = t.FigureAt(at)
		}
		if known && !g.Stale {
			return g.Value, true
		}
	}
	return 0, false
}
