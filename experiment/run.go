package experiment

import (
	"maps"
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
func (r *runState) drop(host string) {
	maps.DeleteFunc(r.active, func(_ string, e sources.Event) bool { return e.Host == host })
	maps.DeleteFunc(r.absorbed, func(k string, _ bool) bool { return strings.HasPrefix(k, host+"\x00") })
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
