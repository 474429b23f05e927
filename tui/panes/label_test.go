package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

func TestLabels(t *testing.T) {
	tests := []struct {
		label string
		want  labels
	}{
		{"aim=2", labels{"aim=2", "aim=2", "2"}},
		{"tso=off", labels{"tso=off", "tso=off", "off"}}, // a single knob needs no name
		{"tso=on gso=off", labels{"tso=on gso=off", "tso -gso", "on off"}},
		{"aim=2 tso=off lro=-", labels{"aim=2 tso=off lro=-", "aim=2 -tso lro=-", "2 off -"}},
		{"tso=on r1:tso=off", labels{"tso=on r1:tso=off", "tso r1:-tso", "on off"}},
		{"aim=2 r1:?", labels{"aim=2 r1:?", "aim=2 r1:?", "2 ?"}},
		{"as found", labels{"as found", "as found", "as found"}},
	}
	for _, c := range tests {
		if got := labelsOf(experiment.Row{Label: c.label}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.label, got, c.want)
		}
	}
}

// TestSettingsSayWhichKnob: where two knobs were turned, every row of the side
// column names them as long as there is room.
func TestSettingsSayWhichKnob(t *testing.T) {
	rows := func(names ...string) []mean {
		var out []mean
		for _, n := range names {
			out = append(out, mean{labels: labelsOf(experiment.Row{Label: n}), value: 904.8, ok: true})
		}
		out[len(out)-1].current = true
		return out
	}
	two := rows("tso=on gso=on", "tso=on gso=off", "tso=off gso=off")
	three := rows("tso=on gso=on gro=on", "tso=on gso=on gro=off")
	one := rows("tso=on", "tso=off")
	tests := []struct {
		name string
		w    int // of the side column
		rows []mean
		want []string // each row's label
	}{
		{"two, wide", sideWide, two, []string{"tso=on gso=on", "tso=on gso=off", "tso=off gso=off"}},
		{"two, medium", sideMedium, two, []string{"tso gso", "on off", "off off"}},
		{"two, narrow", sideNarrow, two, []string{"tso gso", "-tso -gso"}},
		{"two, slim", sideSlim, two, []string{"on on", "off.."}},
		{"three, wide", sideWide, three, []string{"tso gso gro", "tso gso -gro"}},
		{"one, narrow", sideNarrow, one, []string{"tso=on", "tso=off"}},
		{"one, slim", sideSlim, one, []string{"on", "off"}},
	}
	s := chart.Scale{Unit: chart.Unit{Factor: 1}}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			f := frame(experiment.New(experiment.Options{Start: storyStart}), theme.Options{})
			g := theme.NewGrid(c.w, 5)
			if c.w >= sideMedium {
				settings(g.Sub(nowEnd+2, 0, c.w-nowEnd-2, 5), c.rows, s)
			} else {
				stacked(g.Sub(1, 0, c.w-1, 5), nowWord{text: "904.8"}, nil, c.rows, s)
			}
			var got []string
			for _, line := range strings.Split(g.String(f.Theme), "\n") {
				if label, _, ok := strings.Cut(strings.TrimSpace(line), " 904.8"); ok {
					got = append(got, strings.TrimSpace(label))
				}
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSourcesLineIsNeverCut: an entry stands whole or not at all.
func TestSourcesLineIsNeverCut(t *testing.T) {
	f := frame(newStory().tell(well), theme.Options{})
	f.Session.Apply(sources.Batch{At: f.Session.Now().Add(time.Millisecond)})
	for w, want := range map[int]string{
		96: "cpu ok  iperf3 ok  irq ok  nic ok  ping 5/s  siftr2 66.1k rec/s  tcp not permitted: net.inet.t..",
		80: "tcp not permit..  cpu ok  iperf3 ok  irq ok  nic ok  ping 5/s  ..",
		60: "tcp not permit..  cpu ok  iperf3 ok  irq ok  nic ok  ..",
		40: "tcp not permit..  cpu ok  iperf3 ok  ..",
		4:  "..",
	} {
		g := theme.NewGrid(w, 1)
		sourcesLine(f, g, true)
		if got := strings.TrimRight(g.String(f.Theme), " "); got != want {
			t.Errorf("%d wide: %q, want %q", w, got, want)
		}
	}
}

// TestTinyQuestion: the smallest screen with words says how to answer.
func TestTinyQuestion(t *testing.T) {
	f := frame(newStory().tell(well), theme.Options{})
	k := &experiment.KnobState{Spec: sources.KnobSpec{Name: "tso", Values: []string{"off", "on"}}, Value: "on"}
	f.Prompt = Confirm(k, "off")
	if got, want := Screen(f, 20, 3), "Enter/Esc: tso on ->\noff drops link"; strings.TrimSpace(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
