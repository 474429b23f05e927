package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// An interface that is back without a link is not GONE any more.
func TestBackWithoutLink(t *testing.T) {
	s := newStory()
	f := frame(s.tell(71), theme.Options{})
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "em4 GONE 1.0s") {
		t.Errorf("gone:\n%s", screen)
	}
	s.session.Apply(sources.Batch{At: s.at(71), Events: []sources.Event{
		{At: s.at(71), Kind: sources.LinkDown, Source: "nic", Subject: "em4", Text: "em4 is back and has no link"}}})
	screen := Screen(f, 120, 40)
	if strings.Contains(screen, "GONE 1.0s") || !strings.Contains(screen, "em4 NO LINK 1.0s") || !strings.Contains(screen, "em4 is back and has no link") {
		t.Errorf("back:\n%s", screen)
	}
}

// From the moment that a link is gone no figure of its interface stands there as if it
// were of now.
func TestNoFigureWithoutLink(t *testing.T) {
	s := newStory()
	f := frame(s.tell(49.5), theme.Options{})
	f.View.Page = Charts
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "pkt/s") {
		t.Fatalf("the card says nothing:\n%s", screen)
	}
	s.tell(50.3) // the link went at 50
	f = frame(s.session, theme.Options{})
	screen := Screen(f, 120, 40)
	if !strings.Contains(screen, "em4 NO LINK 0.3s") || strings.Contains(screen, "nic tx ") {
		t.Errorf("the packets a second of before:\n%s", screen)
	}
	if g, ok := f.figure(f.find(experiment.Tx)); !ok || !g.Stale || g.Age > 500*time.Millisecond {
		t.Errorf("tx: %v, stale %v, %v old", ok, g.Stale, g.Age)
	}
}
