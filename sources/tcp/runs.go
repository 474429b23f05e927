package tcp

import (
	"fmt"
	"time"

	"netwatch/sources"
)

const (
	bulkRate = 1e6   // bit/s of payload that make a connection a load
	idleRate = 100e3 // bit/s below which a load connection is silent
	idleFor  = 3 * time.Second
)

// isLoadPort is true for a connection to or from the default ports of iperf and
// iperf3.
func isLoadPort(f *flow) bool {
	for _, p := range []uint16{f.local.Port(), f.remote.Port()} {
		if p == 5001 || p == 5201 {
			return true
		}
	}
	return false
}

// runs notices a load in the socket table: one run at a time, from the first
// load connection until all are gone or silent.
type runs struct {
	sink    sources.Sink
	count   int
	running bool
	since   time.Time
	busy    time.Time // when a load connection last moved
	met     time.Time // the first look
	looks   int
	last    time.Time // the look before
}

// look takes the connections of a dump.
func (r *runs) look(now time.Time, flows []*flow) {
	first, there, begun := "", false, now
	if r.looks++; r.looks == 1 {
		r.met = now
	} else {
		begun = now.Add(-now.Sub(r.last) / 2) // when since the last look is not known
	}
	r.last = now
	for _, f := range flows {
		counted := f.knows&knowsBytes != 0
		switch {
		case isLoadPort(f):
			// A connection that waits is no load; one whose payload is not counted is taken for one.
			f.bulk = f.bulk || !counted || f.born || f.rate > 0
		case f.rate > bulkRate:
			f.bulk = true
		}
		if !f.bulk {
			continue
		}
		there = true
		if !counted || f.born || f.rate > idleRate || (isLoadPort(f) && f.rate > 0) {
			r.moved(now, f)
			if first == "" {
				first = f.name
				if r.looks == 2 && !f.born { // it was there before the first look, and nothing told whether it moved
					begun = r.met
				}
			}
		} else if now.Sub(r.busy) >= idleFor {
			f.bulk = false
		}
		f.born = false
	}
	switch {
	case !r.running && first != "":
		r.running, r.since = true, begun
		r.count++
		r.event(begun, 0, sources.RunStarted, first)
	case r.running && (!there || now.Sub(r.busy) >= idleFor):
		r.running = false
		r.event(r.busy, r.busy.Sub(r.since), sources.RunEnded, "") // not when its silence was long enough
	}
}

// moved takes note of when a load connection last moved: one that is followed is known
// to a tenth of a second, others to the look.
func (r *runs) moved(now time.Time, f *flow) {
	at := now
	if f.followed && f.knows&knowsBytes != 0 {
		at = f.moved
	}
	if at.After(r.busy) {
		r.busy = at
	}
}

// ended takes note of a connection that is no more.
func (r *runs) ended(f *flow) {
	if f.bulk && f.knows&knowsBytes != 0 && f.moved.After(r.busy) {
		r.busy = f.moved
	}
}

func (r *runs) event(at time.Time, span time.Duration, kind sources.EventKind, text string) {
	r.sink.Event(sources.Event{At: at, Span: span, Kind: kind, Source: "tcp",
		Subject: fmt.Sprintf("noticed #%d", r.count), Text: text})
}
