package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// A source that never spoke did not end, one that did has; and a run that was there at the
// first look did not begin then.
func TestWhatIsSaidOfABeginning(t *testing.T) {
	gone := sources.Event{Kind: sources.SourceGone, Source: "irq", Text: "va has no line in /proc/interrupts", Error: true}
	noticed := sources.Event{Kind: sources.RunStarted, Source: "tcp", Subject: "noticed #1", Text: "10.1.1.2:5201"}
	for name, c := range map[string]struct {
		spoke bool
		after time.Duration
		event sources.Event
		want  string
	}{
		"never spoke":     {false, poll, gone, "irq: va has no line in /proc/interrupts"},
		"spoke":           {true, poll, gone, "irq ended: va has no line in /proc/interrupts"},
		"an agent":        {false, poll, sources.Event{Kind: sources.SourceGone, Source: "agent", Text: "killed", Error: true}, "agent ended: killed"},
		"was on":          {false, poll, noticed, "noticed #1 was on when netwatch began: 10.1.1.2:5201"},
		"begins":          {false, time.Second, noticed, "noticed #1 began: 10.1.1.2:5201"},
		"a told run":      {false, poll, sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"}, "iperf3 #1 began"},
		"a peer's agent":  {false, poll, sources.Event{Kind: sources.SourceGone, Host: "r1", Source: PeerSource, Text: "ssh ended"}, "r1 gone: ssh ended"},
		"a peer's source": {false, poll, sources.Event{Kind: sources.SourceGone, Host: "r1", Source: "irq", Text: "none", Error: true}, "r1 irq: none"},
	} {
		f := newFeed()
		figures := map[sources.Series]float64{}
		if c.spoke {
			figures[irq] = 100
		}
		f.step(c.after, figures)
		f.event(c.event)
		events := f.Events()
		if len(events) != 1 || Sentence(events[0]) != c.want || events[0].Error != c.event.Error {
			t.Errorf("%s: %+v, want %q", name, events, c.want)
		}
	}
}
