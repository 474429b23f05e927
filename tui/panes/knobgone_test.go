package panes

import (
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// While a card is gone its knobs are unknown, and the line of the sources says why; when
// they can be read again both are as before.
func TestKnobsOfACardThatIsGone(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := experiment.New(experiment.Options{Start: now, Interface: "em4"})
	f := &Frame{Session: s}
	spec := sources.KnobSpec{Name: "tso", Label: "TSO", Subject: "em4"}
	for _, c := range []struct {
		value, note string
		wrong       bool
		knob        string
		turned      bool
		source      word
	}{
		{"on", "", false, "TSO on", false, word{}},
		{"", "knobs of em4 cannot be read: no such device", true, "TSO ?", false, word{"of em4 cannot be read: no such device", theme.Alert}},
		{"off", "knobs of em4 can be read again", false, "TSO off", true, word{"ok", theme.Dim}},
	} {
		now = now.Add(time.Second)
		events := []sources.Event{{At: now, Kind: sources.KnobSeen, Source: "knobs", Subject: "tso", New: c.value, Knob: &spec}}
		if c.note != "" {
			events = append(events, sources.Event{At: now, Kind: sources.SourceNote, Source: "knobs", Subject: "em4", Text: c.note, Error: c.wrong})
		}
		s.Apply(sources.Batch{At: now, Events: events})
		if w := f.knobWord(s.Knob("", "tso")); w.text != c.knob || w.turned != c.turned {
			t.Errorf("%q: %+v", c.value, w)
		}
		for _, st := range s.Sources() {
			if got := f.sourceWord(st); got != c.source {
				t.Errorf("%q: the sources say %+v", c.value, got)
			}
		}
	}
}
