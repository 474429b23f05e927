package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// No word of an event is lost on its page, however narrow that is: neither of one that is
// longer than a row nor of a path that is; and the last row can be reached.
func TestEventsAreWhole(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	path := "/var/log/" + strings.Repeat("abcdefghi/", 9) + "siftr2.log"
	texts := []string{"cannot read " + path + ": permission denied", "r1: operation not permitted; s1 put back, after it had been turned"}
	for i, text := range texts {
		at := storyStart.Add(time.Duration(i) * time.Second)
		s.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.SourceNote, Source: "siftr2", Text: text, Error: true}}})
	}
	for w := smallW; w <= 120; w += 8 {
		for _, h := range []int{8, 24} {
			f := frame(s, theme.Options{})
			f.View.Page = Events
			seen := ""
			last := LastRow(f, w, h)
			for f.View.Row = 0; f.View.Row <= last; f.View.Row++ {
				body := strings.Split(Screen(f, w, h), "\n")[2+knobRows(f, w, h) : h-1]
				if f.View.Row < last {
					body = body[:1] // the others come
				}
				for _, row := range body {
					seen += strings.TrimSpace(row[min(eventAt, len(row)):])
				}
			}
			for _, text := range texts {
				if want := strings.ReplaceAll(text, " ", ""); !strings.Contains(strings.ReplaceAll(seen, " ", ""), want) {
					t.Errorf("%dx%d: %q is not whole in %q", w, h, text, seen)
				}
			}
		}
	}
}

// In the strip below the charts one row is one event: what is cut says that there is more.
func TestCutEventSaysSo(t *testing.T) {
	s := newStory().tell(10)
	at := s.Now()
	s.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.SourceNote, Source: "ping", Text: "turned in 3.15 s after a long long wait for the driver of the card"}}})
	for w := smallW; w < 90; w++ {
		lines := strings.Split(Screen(frame(s, theme.Options{}), w, 24), "\n")
		for _, l := range lines {
			if text, ok := strings.CutPrefix(l, "14:00:10  "); ok && !strings.HasSuffix(text, "of the card") && !strings.HasSuffix(text, "..") {
				t.Errorf("%d wide: %q", w, l)
			}
		}
	}
}
