package experiment

import (
	"time"

	"netwatch/experiment/series"
)

// outweighs is how much more must come in than goes out for that to be the load: it is
// the little that goes out, acknowledgements and a control connection, that is not.
const outweighs = 10

// direction returns the Track of the same source that is the load: a receiver's figure
// is what came in, and the little that goes out is not it. A load that goes both ways is
// shown by what goes out. While a run is on it is the direction that the run had so far,
// also where the load stands still for a while: else the chart would turn round.
func (s *Session) direction(t *Track) *Track {
	_, silent := t.Stale(s.now)
	return s.loadOf(t, s.now, func(o *Track) (v float64, ok bool) {
		if _, stale := o.Stale(s.now); stale && !silent && o != t {
			return 0, false
		}
		v, _ = o.Now()
		return v, true
	})
}

// directionAt is direction at a past time.
func (s *Session) directionAt(t *Track, at time.Time) *Track {
	return s.loadOf(t, at, func(o *Track) (float64, bool) { return o.At(at) })
}

func (s *Session) loadOf(t *Track, at time.Time, newest func(*Track) (float64, bool)) *Track {
	if t.Quantity != Goodput && t.Quantity != Sampled {
		return t
	}
	now, rate := s.heavier(t, newest)
	l, known := s.runs.loadAt(at)
	if !known {
		return now
	}
	over := !l.to.IsZero() && l.to.Before(at)
	end := at
	if over {
		end = l.to
	}
	ran, mean := s.heavier(t, func(o *Track) (float64, bool) { return o.between(l.from, end) })
	switch {
	case mean <= 0: // it has told nothing of the run
		return now
	case over && rate > mean/(2*outweighs): // something else that nobody calls a run
		return now
	}
	return ran
}

// heavier is the direction in which more is moved, of the Tracks of t's source, and how
// much. It is t where nothing is told.
func (s *Session) heavier(t *Track, rate func(*Track) (float64, bool)) (best *Track, most float64) {
	best, most = t, -1
	for _, o := range s.order {
		if o.Quantity != t.Quantity || o.Host != t.Host || o.Origin.Source != t.Origin.Source {
			continue
		}
		if v, ok := rate(o); ok && (v > outweighs*most || most < 0) {
			best, most = o, v
		}
	}
	return best, most
}

// between is the mean of a stretch, to a sixteenth of it.
func (t *Track) between(from, to time.Time) (float64, bool) {
	const columns = 16
	var bins [columns]series.Bin
	t.Ring.Window(bins[:], from, to.Sub(from)/columns)
	var sum, span float64
	for _, b := range bins {
		sum, span = sum+b.Sum, span+float64(b.Span)
	}
	if span <= 0 {
		return 0, false
	}
	return sum / span, true
}
