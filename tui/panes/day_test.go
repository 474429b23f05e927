package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// line is the first line of a screen that holds a word.
func line(screen, word string) string {
	for _, l := range strings.Split(screen, "\n") {
		if strings.Contains(l, word) {
			return l
		}
	}
	return ""
}

// A figure that is stale when the view is paused stays what it is, with its age, in the
// column beside a chart, on a screen of one line and when one has scrolled to and fro.
func TestPauseKeepsAStaleFigure(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	tx := &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}
	var at time.Time
	for i := range 62 { // the last Sample is another than the second before
		at = storyStart.Add(time.Duration(i) * 100 * time.Millisecond)
		s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(tx, at, 100*time.Millisecond, float64(10+i%7)*1e5/8)}})
	}
	end := at.Add(2100 * time.Millisecond)
	s.Apply(sources.Batch{At: end})
	for _, z := range [][2]int{{120, 40}, {80, 24}, {39, 1}} {
		f := frame(s, theme.Options{})
		want := line(Screen(f, z[0], z[1]), "?")
		if !strings.Contains(want, "?") {
			t.Fatalf("%v: nothing is stale:\n%s", z, Screen(f, z[0], z[1]))
		}
		figure := want[:strings.Index(want, "?")+1]
		figure = figure[strings.LastIndexByte(figure, ' ')+1:]
		f.View.End = end
		if got := Screen(f, z[0], z[1]); !strings.Contains(got, figure) {
			t.Errorf("%v: %q is not there when paused:\n%s", z, figure, got)
		}
		s.Apply(sources.Batch{At: end.Add(time.Second)})
		f.View.End = end.Add(-3 * time.Second)
		Screen(f, z[0], z[1])
		f.View.End = end
		if got := Screen(f, z[0], z[1]); !strings.Contains(got, figure) {
			t.Errorf("%v: %q is not there when one comes back:\n%s", z, figure, got)
		}
	}
}

// What one scrolls to has its age, too.
func TestScrolledFigureIsStale(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	tx := &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}
	for i := range 200 {
		b := sources.Batch{At: storyStart.Add(time.Duration(i) * 100 * time.Millisecond)}
		if i <= 100 || i > 150 {
			b.Samples = append(b.Samples, sources.Amount(tx, b.At, 100*time.Millisecond, 1e6))
		}
		s.Apply(b)
	}
	f := frame(s, theme.Options{})
	track := s.Find(experiment.Tx, "")
	for seconds, want := range map[float64]string{5: "80.00", 10.5: "80.00", 12.3: "80.00? 2.3s", 15: "-"} {
		f.View.End = storyStart.Add(time.Duration(seconds * float64(time.Second)))
		got := "-"
		if g, ok := f.figure(track); ok {
			got = figure(g.Value * 8e-6)
			if g.Stale {
				got += "? " + age(g.Age)
			}
		}
		if got != want {
			t.Errorf("after %v s: %s, want %s", seconds, got, want)
		}
	}
}

// One word for a load that is over, however it ended; and the name of an input goes when
// its tool is known.
func TestWordsOfALoad(t *testing.T) {
	goodput := &sources.Series{Source: "iperf3", Subject: experiment.LoadSum, Metric: sources.Goodput}
	run := func(kind sources.EventKind) sources.Event {
		return sources.Event{Kind: kind, Source: "iperf3", Subject: "iperf3 #1"}
	}
	wait := sources.Event{Kind: sources.SourceNote, Source: "load", Text: "run.log: not there yet, waiting for it"}
	up := sources.Event{Kind: sources.SourceUp, Source: "iperf3", Text: "iperf3 3.18"}
	for name, c := range map[string]struct {
		events []sources.Event
		fresh  bool // rows came just now
		word   string
	}{
		"awaited":       {[]sources.Event{wait}, false, "load waits"},
		"runs":          {[]sources.Event{wait, up, run(sources.RunStarted)}, true, "iperf3 ok"},
		"over":          {[]sources.Event{wait, up, run(sources.RunStarted), run(sources.RunEnded)}, false, "iperf3 ended"},
		"over at once":  {[]sources.Event{up, run(sources.RunStarted), run(sources.RunEnded)}, true, "iperf3 ended"},
		"child is gone": {[]sources.Event{up, run(sources.RunStarted), run(sources.RunEnded), {Kind: sources.SourceGone, Source: "iperf3", Text: "ended"}}, false, "iperf3 ended"},
	} {
		s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
		for i := range 10 {
			b := sources.Batch{At: storyStart.Add(time.Duration(i) * time.Second)}
			if i == 3 {
				b.Events = c.events
				for j := range b.Events {
					b.Events[j].At = b.At
				}
			}
			if i >= 3 && c.fresh {
				b.Samples = append(b.Samples, sources.Amount(goodput, b.At, time.Second, 1e6))
			}
			s.Apply(b)
		}
		screen := Screen(frame(s, theme.Options{}), 120, 40)
		if !strings.Contains(screen, c.word) || name != "awaited" && strings.Contains(screen, "load waits") || strings.Contains(screen, "silent") {
			t.Errorf("%s: no %q:\n%s", name, c.word, screen)
		}
	}
}

// More connections than rows are counted.
func TestMoreConnections(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	for i := range 30 {
		b := sources.Batch{At: storyStart.Add(time.Duration(i) * 100 * time.Millisecond)}
		for j := range 41 {
			b.Samples = append(b.Samples, sources.Amount(&sources.Series{Source: "siftr2", Subject: fmt.Sprintf("%08x", j+1), Metric: sources.Goodput}, b.At, 100*time.Millisecond, float64(50-j)*1e5))
		}
		s.Apply(b)
	}
	for _, z := range [][2]int{{200, 50}, {120, 40}, {100, 40}, {59, 39}} {
		f := frame(s, theme.Options{})
		screen := Screen(f, z[0], z[1])
		rows := strings.Count(screen, " 0000")
		if more, part := fmt.Sprintf("+%d more", 41-rows), fmt.Sprintf("  %d of 41 ", rows); rows == 0 || !strings.Contains(screen, more) && !strings.Contains(screen, part) {
			t.Errorf("%v: %d rows, neither %q nor %q:\n%s", z, rows, more, part, screen)
		}
	}
}

// The unit of a chart suits what stands beside it: an idle moment after a load has no
// figures of six digits.
func TestUnitSuitsWhatStandsBeside(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	goodput := &sources.Series{Source: "tcp", Subject: "a", Metric: sources.Goodput}
	at := storyStart
	tell := func(seconds int, octets float64) {
		for range 10 * seconds {
			at = at.Add(100 * time.Millisecond)
			s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(goodput, at, 100*time.Millisecond, octets/10)}})
		}
	}
	s.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.RunStarted, Source: "tcp", Subject: "noticed #1"}}})
	tell(10, 24e6)
	f := frame(s, theme.Options{})
	f.View.Window = 30 * time.Second
	s.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.RunEnded, Source: "tcp", Subject: "noticed #1"}}})
	for _, idle := range []float64{0, 15e3} {
		tell(40, idle)
		screen := Screen(f, 120, 40)
		if unit := strings.Contains(screen, "\nMbit/s"); !unit || !strings.Contains(screen, " 192.0") || strings.Contains(screen, "192000") {
			t.Errorf("idle at %v B/s:\n%s", idle, screen)
		}
	}
}
