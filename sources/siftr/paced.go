package siftr

import (
	"time"

	"netwatch/sources"
)

// burst is how many Samples may go out within a tick: well below what the hub
// sheds. Only a backlog comes near it: hours of a quiet log are read in a second.
const burst = 4000

// A paced sink holds a backlog back, so that none of it is shed and the screen
// has time for something else.
type paced struct {
	sink  sources.Sink
	n     int
	since time.Time
}

// Sample implements sources.Sink.
func (p *paced) Sample(s sources.Sample) {
	p.sink.Sample(s)
	if p.n++; p.n < burst {
		return
	}
	time.Sleep(tick - time.Since(p.since))
	p.n, p.since = 0, time.Now()
}

// Event implements sources.Sink.
func (p *paced) Event(e sources.Event) { p.sink.Event(e) }
