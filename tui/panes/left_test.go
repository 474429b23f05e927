package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// What a netwatch that is gone left turned stands with the value it had before, on the
// line and on the page, and the source that told it is well.
func TestLeftTurnedOnTheScreen(t *testing.T) {
	for _, peers := range []map[string]string{nil, {"r1": "em4"}} {
		s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4", PeerInterfaces: peers})
		tso := sources.KnobSpec{Name: "tso", Label: "TSO", Subject: "em4", Values: []string{"off", "on"}}
		b := sources.Batch{At: storyStart.Add(time.Second)}
		want := "TSO off (start on)"
		for _, host := range s.Hosts() {
			if host != "" {
				b.Events = append(b.Events, sources.Event{At: b.At, Kind: sources.SourceUp, Host: host, Source: experiment.PeerSource, Subject: "em4"})
				want += " both"
			}
			b.Events = append(b.Events,
				sources.Event{At: b.At, Kind: sources.SourceUp, Host: host, Source: "knobs"},
				sources.Event{At: b.At, Kind: sources.KnobSeen, Host: host, Source: "knobs", Subject: "tso", New: "off", Knob: &tso},
				sources.Event{At: b.At, Kind: sources.SourceNote, Host: host, Source: "knobs", Subject: "tso", Old: "on", New: "off", Error: true,
					Text: "tso was turned from on to off by a netwatch that is gone"})
		}
		s.Apply(b)
		f := frame(s, theme.Options{})
		screen := Screen(f, 120, 40)
		if !strings.Contains(screen, want) || strings.Contains(screen, "error") || !strings.Contains(screen, "knobs ok") {
			t.Errorf("want %q and knobs ok:\n%s", want, screen)
		}
		if !strings.Contains(screen, "tso was turned from on to off by a netwatch that is gone") {
			t.Errorf("no event:\n%s", screen)
		}
		f.View.Page = Knobs
		if page := Screen(f, 120, 40); !strings.Contains(page, "start on") {
			t.Errorf("page of knobs:\n%s", page)
		}
	}
}
