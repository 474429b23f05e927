package panes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// Moments of the story: all is well; siftr2 is silent and the interface is gone.
const (
	well    = 58
	trouble = 73.1
)

func frame(s *experiment.Session, o theme.Options) *Frame {
	o.Colours = theme.None
	t := theme.New(o)
	return &Frame{
		Session: s, Theme: t, Stack: NewStack(t), View: View{Window: time.Minute},
		Host: "s1", Facts: "em(4) 82546EB UP 1000baseT-fdx mtu 1500 TSO4 TSO6 LRO",
	}
}

func TestGoldenScreens(t *testing.T) {
	type screen struct {
		name    string
		w, h    int
		seconds float64
		options theme.Options
		set     func(*Frame)
	}
	var screens []screen
	for _, z := range [][2]int{{200, 50}, {120, 40}, {99, 49}, {80, 24}, {60, 15}, {59, 39}, {80, 11}, {40, 8}, {39, 7}, {19, 2}, {4, 1}, {1, 1}} {
		screens = append(screens,
			screen{name: "well", w: z[0], h: z[1], seconds: well},
			screen{name: "trouble", w: z[0], h: z[1], seconds: trouble})
	}
	page := func(p Page) func(*Frame) { return func(f *Frame) { f.View.Page = p } }
	screens = append(screens,
		screen{name: "empty", w: 80, h: 24},
		screen{name: "ascii", w: 80, h: 24, seconds: well, options: theme.Options{ASCII: true}},
		screen{name: "bytes", w: 80, h: 24, seconds: well, set: func(f *Frame) { f.View.Bytes, f.View.Zero = true, true }},
		screen{name: "paused", w: 120, h: 40, seconds: well, set: func(f *Frame) { f.View.End = storyStart.Add(45 * time.Second) }},
		screen{name: "hour", w: 120, h: 40, seconds: well, set: func(f *Frame) { f.View.Window = time.Hour }},
		screen{name: "readonly", w: 80, h: 24, seconds: well, set: func(f *Frame) { f.ReadOnly, f.View.Page = "read only: nothing is turned", Knobs }},
		screen{name: "question", w: 60, h: 15, seconds: well, set: func(f *Frame) { f.Prompt = Leave(leavings(2), false) }},
		screen{name: "question-nine", w: 40, h: 9, seconds: well, set: func(f *Frame) { f.Prompt = Leave(leavings(9), false) }},
	)
	for p := Settings; p < Pages; p++ {
		screens = append(screens,
			screen{name: pageNames[p], w: 120, h: 40, seconds: trouble, set: page(p)},
			screen{name: pageNames[p], w: 59, h: 20, seconds: trouble, set: page(p)})
	}
	for _, c := range screens {
		name := fmt.Sprintf("%s-%dx%d", c.name, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			f := frame(newStory().tell(c.seconds), c.options)
			if c.set != nil {
				c.set(f)
			}
			golden(t, name, Screen(f, c.w, c.h)+"\n")
		})
	}
}

// leavings are n knobs to put back, of which the second drops the link.
func leavings(n int) []Leaving {
	var rows []Leaving
	for i := range n {
		rows = append(rows, Leaving{Knob: "knob" + strconv.Itoa(i+1), Value: "2", Start: "1", Drops: i == 1})
	}
	return rows
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("screen differs (-want +got):\n%s", d)
	}
}

// TestEverySize draws every size from nothing to a large terminal: no panic, no
// line longer than the screen, no more lines than it has.
func TestEverySize(t *testing.T) {
	asked := frame(newStory().tell(well), theme.Options{})
	asked.Prompt, asked.View.Page = Choose(asked.Session.Knobs()[0]), Knobs
	leaves := frame(newStory().tell(well), theme.Options{})
	leaves.Prompt = Leave(leavings(12), false)
	frames := map[string]*Frame{
		"empty": frame(experiment.New(experiment.Options{}), theme.Options{}),
		"well":  frame(newStory().tell(well), theme.Options{}),
		"ascii": frame(newStory().tell(trouble), theme.Options{ASCII: true}),
		"asked": asked,
		"leave": leaves,
	}
	for name, f := range frames {
		step := 1
		if name == "ascii" || name == "asked" || name == "leave" {
			step = 3
		}
		if testing.Short() { // an emulated machine
			step = 7
		}
		for w := 0; w <= 130; w += step {
			for h := 0; h <= 60; h += step {
				lines := strings.Split(Screen(f, w, h), "\n")
				if len(lines) > max(h, 1) {
					t.Fatalf("%s %dx%d: %d lines", name, w, h, len(lines))
				}
				for i, l := range lines {
					if n := theme.Width(l); n > w {
						t.Fatalf("%s %dx%d: line %d is %d wide: %q", name, w, h, i, n, l)
					}
				}
			}
		}
	}
}

// TestNeverDropped holds the knobs and the run state on every screen that has
// room for more than one line.
func TestNeverDropped(t *testing.T) {
	f := frame(newStory().tell(well), theme.Options{})
	for p := range Pages {
		f.View.Page = p
		for w := smallW; w <= 200; w += 7 {
			for h := smallH; h <= 60; h += 4 {
				s := Screen(f, w, h)
				for _, want := range []string{"aim=2", "TSO on", "tcp.tso=1", "LRO on", "run 1 0:53", "SIMULATED", "em4"} {
					if !strings.Contains(s, want) {
						t.Fatalf("page %s at %dx%d lacks %q:\n%s", pageNames[p], w, h, want, s)
					}
				}
			}
		}
	}
}

// TestScrollsByCells draws the same second from one end of a cell to the other:
// within it no column of the plot moves, only the newest may change.
func TestScrollsByCells(t *testing.T) {
	s := newStory()
	f := frame(s.tell(40.1), theme.Options{})
	a := strings.Split(Screen(f, 120, 40), "\n")
	s.tell(40.3)
	b := strings.Split(Screen(f, 120, 40), "\n")
	for _, row := range []int{7, 11, 15} {
		x, y := []rune(a[row])[:70], []rune(b[row])[:70]
		if string(x) != string(y) {
			t.Errorf("row %d shimmers:\n%s\n%s", row, string(x), string(y))
		}
	}
}

// BenchmarkFrames draws 24 frames at 120x40, the right edge a quarter of a second
// further each time: what six seconds on the screen cost. The budget is well under
// a millisecond a frame.
func BenchmarkFrames(b *testing.B) {
	f := frame(newStory().tell(60), theme.Options{})
	f.Theme = theme.New(theme.Options{})
	b.ReportAllocs()
	for b.Loop() {
		for i := range 24 {
			f.View.End = storyStart.Add(50*time.Second + time.Duration(i)*250*time.Millisecond)
			Screen(f, 120, 40)
		}
	}
}
