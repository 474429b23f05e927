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
		{"aim=2", labels{"aim=2", "aim=2"}},
		{"tso=off", labels{"tso=off", "-tso"}},
		{"tso=on gso=off", labels{"tso=on gso=off", "tso -gso"}},
		{"aim=2 tso=off lro=-", labels{"aim=2 tso=off lro=-", "aim=2 -tso lro=-"}},
		{"tso=on r1:tso=off", labels{"tso=on r1:tso=off", "tso r1:-tso"}},
		{"aim=2 r1:?", labels{"aim=2 r1:?", "aim=2 r1:?"}},
		{"as found", labels{"as found", "as found"}},
	}
	for _, c := range tests {
		if got := labelsOf(experiment.Row{Label: c.label}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.label, got, c.want)
		}
	}
}

// TestSettingsSayWhichKnob: every label beside a chart names its knobs, in the longest
// form that all of a screen have room for.
func TestSettingsSayWhichKnob(t *testing.T) {
	rows := func(value float64, names ...string) sideTable {
		out := sideTable{scale: chart.Scale{Unit: chart.Unit{Factor: 1}}}
		for _, n := range names {
			out.rows = append(out.rows, mean{labels: labelsOf(experiment.Row{Label: n}), value: value, ok: true, n: 7, first: len(out.rows) == 0})
		}
		out.rows[len(out.rows)-1].current = true
		return out
	}
	one, two := []string{"tso=on", "tso=off"}, []string{"aim=1 tso=on", "aim=2 tso=off"}
	three := []string{"aim=1 tso=on tcp.tso=1", "aim=2 tso=off tcp.tso=0"}
	tests := []struct {
		name  string
		w, h  int // of the side column
		names []string
		want  []string
	}{
		{"one, wide", sideWide, 4, one, []string{"tso=on          904.8            7", "tso=off         904.8            7"}},
		{"one, medium", sideMedium, 4, one, []string{"tso=on  904.8", "tso=off 904.8"}},
		{"one, slim", sideSlim, 4, one, []string{"904.8", "tso   904.8", "-tso  904.8"}},
		{"two, wide", sideWide, 4, two, []string{"aim=1 tso=on    904.8            7", "aim=2 tso=off   904.8            7"}},
		{"two, medium", sideMedium, 4, two, []string{"aim=1 tso=on", "        904.8", "aim=2 tso=off", "        904.8"}},
		{"two, medium, low", sideMedium, 3, two, []string{"aim=2 tso=off", "        904.8"}},
		{"two, narrow", sideNarrow, 4, two, []string{"904.8", "aim=1 tso  904.8", "aim=2 -tso 904.8"}},
		{"two, slim", sideSlim, 4, two, []string{"904.8", "first 904.8", "this  904.8"}},
		{"three, wide", sideWide, 4, three, []string{"aim=1 tso tcp.tso=1   904.8", "aim=2 -tso tcp.tso=0  904.8"}},
		{"three, medium", sideMedium, 4, three, []string{"aim=1 tso tcp.tso=1", "        904.8", "aim=2 -tso tcp.tso=0", "        904.8"}},
		{"three, slim", sideSlim, 4, three, []string{"904.8", "first 904.8", "this  904.8"}},
	}
	if got := (labelling{places: true}).of(mean{}, 9); got != "other" { // neither the first nor the present one
		t.Error(got)
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			f := frame(experiment.New(experiment.Options{Start: storyStart}), theme.Options{})
			table := rows(904.8, c.names...)
			l := labelled([]sideTable{table, rows(0.151, c.names...)}, c.w)
			g := theme.NewGrid(c.w, c.h)
			if c.w >= sideMedium {
				g = theme.NewGrid(c.w-nowEnd-2, c.h)
				settings(g, table.rows, table.scale, l)
			} else {
				g = theme.NewGrid(c.w-1, c.h)
				stacked(g, nowWord{text: "904.8"}, nil, table.rows, table.scale, l)
			}
			got := strings.Split(strings.TrimRight(g.String(f.Theme), " \n"), "\n")
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
				if c.w < sideMedium {
					got[i] = strings.TrimPrefix(got[i], " ")
				}
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestOneLabelOneScreen: where one chart has no room for the long form, none has it.
func TestOneLabelOneScreen(t *testing.T) {
	narrow := sideTable{[]mean{{labels: labels{"tso=off", "-tso"}, value: 1234567, ok: true, current: true}}, chart.Scale{Unit: chart.Unit{Factor: 1}}}
	wide := sideTable{[]mean{{labels: labels{"tso=off", "-tso"}, value: 0.2, ok: true, current: true}}, narrow.scale}
	for want, tables := range map[int][]sideTable{0: {wide}, 1: {wide, narrow}} {
		if got := labelled(tables, sideMedium); got != (labelling{form: want}) {
			t.Errorf("%d charts: %+v", len(tables), got)
		}
	}
}

// TestSettingsPageNamesTheKnobs: also where there are many and no room.
func TestSettingsPageNamesTheKnobs(t *testing.T) {
	s := newStory()
	s.tell(40)
	for i, name := range []string{"tso", "tcp.tso"} {
		at := s.session.Now().Add(time.Millisecond)
		old, value := []string{"on", "1"}[i], []string{"off", "0"}[i]
		s.session.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.KnobTurned, Subject: name, Old: old, Asked: value, New: value}}})
		s.tell(float64(50 + 10*i))
	}
	f := frame(s.session, theme.Options{})
	f.View.Page = Settings
	for w, want := range map[int][]string{
		120: {"  aim=2 tso=on tcp.tso=1 ", "> aim=2 tso=off tcp.tso=0 "},
		80:  {"  aim=2 tso tcp.tso=1 ", "> aim=2 -tso tcp.tso=0 "},
		59:  {"  aim=2 tso tcp.tso=1 ", "> aim=2 -tso tcp.tso=0 "},
		40:  {"aim=2", "tso", "tcp.tso=1"},
	} {
		screen := Screen(f, w, 60)
		for _, label := range want {
			if !strings.Contains(screen, label) {
				t.Errorf("%d wide: the page lacks %q:\n%s", w, label, screen)
			}
		}
	}
}

// TestSourcesLineIsNeverCut: an entry stands whole or not at all.
func TestSourcesLineIsNeverCut(t *testing.T) {
	f := frame(newStory().tell(40), theme.Options{}) // no ping is lost in the seconds before
	f.Session.Apply(sources.Batch{At: f.Session.Now().Add(time.Millisecond)})
	for w, want := range map[int]string{
		130: "cpu ok  iperf3 ok  irq ok  nic tx 79.0k rx 39.5k pkt/s  ping 5/s  siftr2 66.1k rec/s  tcp not permitted: net.inet.tcp.pcblist",
		96:  "cpu ok  iperf3 ok  irq ok  nic tx 79.0k rx 39.5k pkt/s  ping 5/s  siftr2 66.1k rec/s  tcp none",
		106: "cpu ok  iperf3 ok  irq ok  nic tx 79.0k rx 39.5k pkt/s  ping 5/s  siftr2 66.1k rec/s  tcp not permitted",
		80:  "tcp none  nic tx 79.0k rx 39.5k pkt/s  cpu ok  iperf3 ok  irq ok  ping 5/s  ..",
		60:  "tcp none  nic tx 79.0k rx 39.5k pkt/s  cpu ok  iperf3 ok  ..",
		40:  "tcp none  cpu ok  iperf3 ok  irq ok  ..",
		4:   "..",
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
