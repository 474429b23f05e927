package experiment

import (
	"maps"
	"time"

	"netwatch/sources"
)

// A run is a load, started by netwatch or noticed. Several can overlap (netwatch
// starts iperf3 and its flow is noticed as well): they count as one stretch.
type runState struct {
	active map[string]sources.Event // by source and subject
	count  int                      // stretches so far
	since  time.Time
}

// event takes RunStarted and RunEnded. It returns true for what need not be
// listed: a noticed flow of a run that is already known.
func (r *runState) event(e sources.Event) (quiet bool) {
	key := e.Host + "\x00" + e.Source + "\x00" + e.Subject
	if e.Kind == sources.RunEnded {
		_, known := r.active[key]
		delete(r.active, key)
		return !known || e.Source == "tcp" && len(r.active) > 0
	}
	if r.active == nil {
		r.active = map[string]sources.Event{}
	}
	quiet = e.Source == "tcp" && len(r.active) > 0
	if len(r.active) == 0 {
		r.count++
		r.since = e.At
	}
	r.active[key] = e
	return quiet
}

// drop ends the runs that a host told of, which is gone.
func (r *runState) drop(host string) {
	maps.DeleteFunc(r.active, func(_ string, e sources.Event) bool { return e.Host == host })
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
