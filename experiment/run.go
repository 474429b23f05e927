package experiment

import (
	"maps"
	"slices"
	"strings"
	"time"

	"netwatch/sources"
)

// A run is a load, started by netwatch or noticed. Several can overlap: they count
// as one stretch. A connection that is noticed while a load generator tells of its
// run is that run's own: the generator knows better when it ends.
type runState struct {
	active   map[string]sources.Event // by host, source and subject
	absorbed map[string]bool          // noticed connections of a run that is told of
	count    int                      // stretches so far
	since    time.Time
	loads    []load // the newest last
}

// A load is a stretch with the same runs: it begins with each that joins.
type load struct {
	run      int
	from, to time.Time // to is zero while it lasts
}

// maxLoads bounds how many are kept.
const maxLoads = 256

func (r *runState) begin(at time.Time) {
	if n := len(r.loads); n > 0 && r.loads[n-1].to.IsZero() {
		r.loads[n-1].to = at
	}
	if len(r.loads) == maxLoads {
		r.loads = append(r.loads[:0], r.loads[maxLoads/4:]...)
	}
	r.loads = append(r.loads, load{run: r.count, from: at})
}

// end closes the newest load where no run is on any more.
func (r *runState) end(at time.Time) {
	if n := len(r.loads); n > 0 && len(r.active) == 0 && r.loads[n-1].to.IsZero() {
		r.loads[n-1].to = at
	}
}

// loadAt is the load that was on at a time, else the one before; ok is false before the
// first.
func (r *runState) loadAt(at time.Time) (load, bool) {
	for i := len(r.loads) - 1; i >= 0; i-- {
		if r.loads[i].from.Before(at) {
			return r.loads[i], true
		}
	}
	return load{}, false
}

// event takes RunStarted and RunEnded. It returns true for what need not be
// listed: a noticed connection of a run that is already known.
func (r *runState) event(e sources.Event) (quiet bool) {
	if r.active == nil {
		r.active, r.absorbed = map[string]sources.Event{}, map[string]bool{}
	}
	key := e.Host + "\x00" + e.Source + "\x00" + e.Subject
	noticed := e.Source == "tcp"
	if e.Kind == sources.RunEnded {
		_, known := r.active[key]
		delete(r.active, key)
		delete(r.absorbed, key)
		r.end(e.At)
		return !known
	}
	if noticed && r.told() {
		r.absorbed[key] = true
		return true
	}
	quiet = noticed && len(r.active) > 0
	if len(r.active) == 0 {
		r.count++
		r.since = e.At
	}
	for k, other := range r.active {
		if !noticed && other.Source == "tcp" {
			delete(r.active, k)
			r.absorbed[k] = true
		}
	}
	r.active[key] = e
	r.begin(e.At)
	return quiet
}

// told says whether a load generator tells of a run that is on.
func (r *runState) told() bool {
	for _, e := range r.active {
		if e.Source != "tcp" {
			return true
		}
	}
	return false
}

// drop ends the runs that a host told of, which is gone.
func (r *runState) drop(host string, at time.Time) {
	maps.DeleteFunc(r.active, func(_ string, e sources.Event) bool { return e.Host == host })
	maps.DeleteFunc(r.absorbed, func(k string, _ bool) bool { return strings.HasPrefix(k, host+"\x00") })
	r.end(at)
}

// by says whether a run is on that this source of a host reports.
func (r *runState) by(host, source string) bool {
	for _, e := range r.active {
		if e.Host == host && e.Source == source {
			return true
		}
	}
	return false
}

// Run returns the number of the run that is on (1 for the first) and when it
// began; ok is false when the load is idle.
func (s *Session) Run() (number int, since time.Time, ok bool) {
	return s.runs.count, s.runs.since, len(s.runs.active) > 0
}

// RunWithin returns the number of the last run that was on in some part of a stretch of
// time; ok is false when the load was idle in all of it.
func (s *Session) RunWithin(from, to time.Time) (number int, ok bool) {
	for _, l := range slices.Backward(s.runs.loads) {
		if l.from.Before(to) && (l.to.IsZero() || l.to.After(from)) {
			return l.run, true
		}
	}
	return 0, false
}

// RunBy says whether a run is on that this source of a host tells of.
func (s *Session) RunBy(host, source string) bool { return s.runs.by(host, source) }

// wasOn begins the Text of a run that is older than the session.
const wasOn = "was on when netwatch began"

// firstLook is within what time of its start netwatch looks at the connections first. One
// that comes later is noticed at the next look.
const firstLook = 400 * time.Millisecond

// older has a noticed run that was met at the first look say so: when it began is not known.
func (s *Session) older(e sources.Event) sources.Event {
	if e.Kind == sources.RunStarted && e.Source == "tcp" && e.Host == "" && e.At.Sub(s.Start) < firstLook {
		e.Text = wasOn + after(": ", e.Text)
	}
	return e
}
