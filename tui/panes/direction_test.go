package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/tui/theme"
)

// Where the load stood still all the time of a setting, the little that went out has no
// place among the means of what came in.
func TestNoMeanOfTheOtherDirection(t *testing.T) {
	s := newStory()
	for s.tick < 300 {
		s.tick++
		at := float64(s.tick) / 10
		s.batch = sources.Batch{At: s.at(at)}
		switch at {
		case 0.1:
			s.say(sources.Event{At: s.batch.At, Kind: sources.KnobSeen, Source: "knobs", Subject: "aim", New: "1", Knob: &storyKnobs[0].spec})
			s.say(sources.Event{At: s.batch.At, Kind: sources.RunStarted, Source: "tcp", Subject: "a"})
		case 15:
			s.say(sources.Event{At: s.batch.At, Kind: sources.KnobTurned, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2"})
		}
		s.amount("tcp", "a", sources.Goodput, 100*time.Millisecond, 187_500)
		s.amount("tcp", "a", sources.RxGood, 100*time.Millisecond, pick(at <= 15, 36.9e6, 0))
		s.session.Apply(s.batch)
	}
	screen := Screen(frame(s.session, theme.Options{}), 59, 39)
	if !strings.Contains(screen, "goodput in") || !strings.Contains(screen, "aim=1 295.2") || !strings.Contains(screen, "aim=2 -") && !strings.Contains(screen, "aim=2     -") {
		t.Errorf("want goodput in, 295.2 Mbit/s with aim=1 and nothing with aim=2:\n%s", screen)
	}
	if strings.Contains(screen, "1.500") {
		t.Errorf("what goes out is shown as a mean of what comes in:\n%s", screen)
	}
}
