package experiment

import (
	"time"

	"netwatch/sources"
)

// A revival is what a load does after its link came back: nothing, until the sender tries
// again. It waits about as long again as the link was away, for its timer doubles each
// time. Until data moves nothing has settled.
type revival struct {
	from  time.Time // when the link came back; zero while nothing is waited for
	until time.Time // when the wait is given up
}

// leastRevival is how long a load is waited for at least.
const leastRevival = 10 * time.Second

// await has the settle time begin with the first data after a link came back, where a load
// is on whose goodput is told.
func (s *Session) await(e sources.Event) {
	_, _, on := s.Run()
	told := func(t *Track) bool { return t.Quantity == Goodput && e.At.Sub(t.Last.At) < e.Span+leastRevival }
	for _, t := range s.order {
		if on && told(t) {
			s.revival = revival{from: e.At, until: e.At.Add(max(2*e.Span, leastRevival))}
			return
		}
	}
}

// revive takes the time that goes by: while the load waits, the settle time begins anew.
func (s *Session) revive() {
	r := &s.revival
	if r.from.IsZero() {
		return
	}
	if _, _, on := s.Run(); !on || s.now.After(r.until) {
		*r = revival{}
		return
	}
	s.settleFrom(s.now)
}

// moved takes a Sample of goodput: data that moved after the link came back ends the wait.
func (s *Session) moved(v sources.Sample) {
	if r := &s.revival; !r.from.IsZero() && v.Sum > 0 && !v.At.Add(-v.Span).Before(r.from) {
		*r = revival{}
		s.settleFrom(v.At)
	}
}

// settleFrom has the present phase settle from a time on, or later.
func (s *Session) settleFrom(at time.Time) {
	if p := s.Phase(); p.End.IsZero() {
		p.Settled = maxTime(p.Settled, at.Add(s.Settle))
	}
}
