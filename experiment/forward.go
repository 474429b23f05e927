package experiment

import (
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// secondTracks returns the Tracks that a Series of the second interface feeds.
// They are apart from those of the watched one: tables and Find never see them.
func (s *Session) secondTracks(sr *sources.Series) (tracks []*Track) {
	if sr.Host != "" || s.Second == "" || sr.Subject != s.Second {
		return nil
	}
	o := Origin{sr.Source, sr.Metric}
	for _, q := range Quantities() {
		if q.rank(o) < 0 {
			continue
		}
		t := &Track{Quantity: q, Origin: o, Ring: series.New(o.Metric.Agg)}
		s.second = append(s.second, t)
		tracks = append(tracks, t)
	}
	return tracks
}

// FindSecond returns the Track of a Quantity of the second interface: the best
// origin that is alive, else any; nil when nobody ever told it.
func (s *Session) FindSecond(q *Quantity) *Track {
	var best *Track
	for _, t := range s.second {
		if t.Quantity != q || t.Last.At.IsZero() {
			continue
		}
		if best == nil || s.alive(t) && (!s.alive(best) || q.rank(t.Origin) < q.rank(best.Origin)) {
			best = t
		}
	}
	return best
}

func (s *Session) alive(t *Track) bool {
	_, stale := t.Stale(s.now)
	return !stale
}

// SecondDown says whether the second interface is without link, or gone, and
// since when.
func (s *Session) SecondDown() (since time.Time, down bool) {
	if l := s.link("", s.Second); l.down {
		return l.from, true
	}
	return time.Time{}, false
}

// passageSeconds is the stretch a Passage is about, passageLeast how much of it
// both ends must have told (the two are polled at different moments, which a
// stretch of many polls evens out), and passageLate how many of its last seconds
// may be missing (a card's own counters come up to three seconds late).
const (
	passageSeconds = 10
	passageLeast   = 3
	passageLate    = 4
)

// A Passage is what came into one interface and what left by the other over the
// same seconds. What is not forwarded includes what was for this host itself.
type Passage struct {
	Wire    bool    // the cards' own counters; else those of the stack, which count a super-packet once
	In, Out float64 // packets a second
	Seconds int     // how many of the last ten both ends told
}

// Lost is how much less left than came in, in packets a second and as a share of
// what came in. Both are negative when more left, which packets of this host
// itself, or offloads that cut and join packets, bring about.
func (p Passage) Lost() (perSecond, share float64) {
	if p.In <= 0 {
		return p.In - p.Out, 0
	}
	return p.In - p.Out, (p.In - p.Out) / p.In
}

// Passage compares what came into the watched interface with what left by the
// second one, or the other way round, in the ten seconds before at. ok is false
// while the ends have too few seconds in common.
func (s *Session) Passage(back bool, at time.Time) (p Passage, ok bool) {
	first := func(q *Quantity) *Track { return s.Find(q, "") }
	from, to := first, s.FindSecond
	if back {
		from, to = to, from
	}
	for _, ends := range []struct {
		wire    bool
		in, out *Quantity
	}{{true, RxWirePkts, TxWirePkts}, {false, RxPkts, TxPkts}} {
		in, out := from(ends.in), to(ends.out)
		if in == nil || out == nil {
			continue
		}
		if p, ok = passage(in.Ring, out.Ring, at); ok {
			p.Wire = ends.wire
			return p, true
		}
	}
	return Passage{}, false
}

func passage(in, out *series.Ring, at time.Time) (p Passage, ok bool) {
	var came, left [passageSeconds]series.Bin
	from := at.Truncate(time.Second).Add(-passageSeconds * time.Second)
	in.Window(came[:], from, time.Second)
	out.Window(left[:], from, time.Second)
	const whole = 0.99 // of a second that is covered
	last := 0
	for i := range came {
		if came[i].Span < whole || left[i].Span < whole {
			continue
		}
		p.In, p.Out = p.In+came[i].Sum, p.Out+left[i].Sum
		p.Seconds++
		last = i
	}
	if p.Seconds < passageLeast || last < passageSeconds-1-passageLate {
		return Passage{}, false
	}
	p.In, p.Out = p.In/float64(p.Seconds), p.Out/float64(p.Seconds)
	return p, true
}
