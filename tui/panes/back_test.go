package panes

import (
	"strings"
	"testing"

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
