package tui

import (
	"strings"
	"testing"

	"netwatch/experiment"
	"netwatch/sources"
)

// Of a host that is gone the question says that its knobs are not known; of one on which
// nothing was turned it says nothing.
func TestLeavingWhileAPeerIsGone(t *testing.T) {
	gone := sources.Event{Kind: sources.SourceGone, Host: "r1", Source: experiment.PeerSource, Text: "ssh ended"}
	const words = "r1 is gone: its aim is not known"
	for _, c := range []struct {
		name  string
		there []sources.Event
		said  bool
	}{
		{"turned there", []sources.Event{turnedOn("r1", "aim", "1", "2"), gone}, true},
		{"turned there and back", []sources.Event{turnedOn("r1", "aim", "1", "2"), turnedOn("r1", "aim", "2", "1"), gone}, false},
		{"turned there, and there", []sources.Event{turnedOn("r1", "aim", "1", "2")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newPeerBench()
			b.say(turnedOn("", "aim", "1", "2"))
			b.say(c.there...)
			if b.press("q") || b.ask == nil {
				t.Fatal("it does not ask")
			}
			if got := b.View().Content; strings.Contains(got, words) != c.said {
				t.Errorf("said %v, want %v:\n%s", !c.said, c.said, got)
			}
		})
	}
}
