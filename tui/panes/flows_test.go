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

// The connection of the charts stays theirs until another moves half as much again; the
// rows are ordered by what moves now. Four connections that move a little more leave it
// the last of five, and it has a row all the same.
func TestChartedConnectionHasARow(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	series := map[string]*sources.Series{}
	tell := func(seconds int, mbit map[string]float64) {
		for range 10 * seconds {
			b := sources.Batch{At: s.Now().Add(100 * time.Millisecond)}
			for id, rate := range mbit {
				if series[id] == nil {
					series[id] = &sources.Series{Source: "siftr2", Subject: id, Metric: sources.Goodput}
				}
				b.Samples = append(b.Samples, sources.Amount(series[id], b.At, 100*time.Millisecond, rate*1e5/8))
			}
			s.Apply(b)
		}
	}
	tell(5, map[string]float64{"charted0": 100})
	tell(10, map[string]float64{"charted0": 100, "flow0001": 110, "flow0002": 120, "flow0003": 130, "flow0004": 140})
	for _, end := range []time.Time{{}, s.Now().Add(-2 * time.Second)} {
		for _, z := range [][2]int{{59, 39}, {120, 40}} {
			f := frame(s, theme.Options{})
			f.View.End = end
			screen := Screen(f, z[0], z[1])
			for _, row := range []string{"> charted0", "  flow0003", "  flow0004"} {
				if n := strings.Count(screen, "\n"+row); n != 1 {
					t.Errorf("%s, paused at %v: %q has %d rows:\n%s", fmt.Sprint(z), end, row, n, screen)
				}
			}
		}
	}
}

// Of several connections that no load generator sums up the chart has one, and says so.
// The one that rests is none of them.
func TestChartOfOneConnection(t *testing.T) {
	tell := func(source string, rates ...float64) *experiment.Session {
		s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
		var series []*sources.Series
		for i := range rates {
			series = append(series, &sources.Series{Source: source, Subject: fmt.Sprintf("10.1.1.2:5201>10.1.1.3:4000%d", i), Metric: sources.RxGood})
		}
		for range 100 {
			b := sources.Batch{At: s.Now().Add(100 * time.Millisecond)}
			for i, rate := range rates {
				b.Samples = append(b.Samples, sources.Amount(series[i], b.At, 100*time.Millisecond, rate*1e5/8))
			}
			s.Apply(b)
		}
		return s
	}
	for _, c := range []struct {
		name  string
		s     *experiment.Session
		chart string
	}{
		{"three move", tell("tcp", 100, 90, 80, 0.001), "\ntcp 1 of 3"},
		{"in a log", tell("siftr2", 100, 90), "\n1 of 2"},
		{"one moves", tell("tcp", 100, 0.001), "\ntcp "},
	} {
		const inTable = "goodput from tcp or siftr: of the one connection"
		f := frame(c.s, theme.Options{})
		f.View.Window = 30 * time.Second
		screen := Screen(f, 120, 40)
		if !strings.Contains(screen, c.chart) || strings.Contains(screen, "1 of 4") || c.name == "one moves" && strings.Contains(screen, "1 of") {
			t.Errorf("%s: the chart does not say %q:\n%s", c.name, c.chart, screen)
		}
		if screen := Screen(f, 59, 39); !strings.Contains(screen, "remote                         in") {
			t.Errorf("%s: what comes in has no place at 59x39:\n%s", c.name, screen)
		}
		f.View.Page = Settings
		if screen := Screen(f, 120, 40); !strings.Contains(screen, inTable) {
			t.Errorf("%s: the table does not say %q:\n%s", c.name, inTable, screen)
		}
	}
}
