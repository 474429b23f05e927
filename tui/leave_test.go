package tui

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

type pending []Turned

func (p pending) Pending() []Turned { return p }

func TestLeaving(t *testing.T) {
	aim, tso := Turned{"", "aim", "2", "1"}, Turned{"", "tso", "off", "on"}
	keep := func(c *Config) { c.Keep = true }
	all := func(kept ...Turned) Result { return Result{Answered: true, Keep: true, Kept: kept} }
	tests := []struct {
		name, keys string
		turned     bool
		change     func(*Config)
		quit       bool
		want       Result
	}{
		{"nothing turned", "q", false, nil, true, Result{}},
		{"turned: asks", "q", true, nil, false, Result{}},
		{"restore", "q enter", true, nil, true, Result{Answered: true}},
		{"restore by its letter", "q r", true, nil, true, Result{Answered: true}},
		{"keep", "q k", true, nil, true, all(aim, tso)},
		{"keep one", "q 2 enter", true, nil, true, Result{Answered: true, Kept: []Turned{tso}}},
		{"keep the other", "q 1 enter", true, nil, true, Result{Answered: true, Kept: []Turned{aim}}},
		{"keep one, and not", "q 2 2 enter", true, nil, true, Result{Answered: true}},
		{"keep each", "q 1 2 enter", true, nil, true, all(aim, tso)},
		{"a digit alone does nothing yet", "q 1", true, nil, false, Result{}},
		{"there is no third", "q 3", true, nil, false, Result{}},
		{"stay", "q esc", true, nil, false, Result{}},
		{"stay after a digit", "q 1 esc q enter", true, nil, true, Result{Answered: true}},
		{"another key", "q x", true, nil, false, Result{}},
		{"the restorer has nothing", "q", true, func(c *Config) { c.Restorer = pending{} }, true, Result{}},
		{"the restorer has something", "q k", false, func(c *Config) { c.Restorer = pending{tso} }, true, all(tso)},
		{"--keep: Enter keeps", "q enter", true, keep, true, all(aim, tso)},
		{"--keep: r puts back", "q r", true, keep, true, Result{Answered: true}},
		{"--keep: a digit puts one back", "q 2 enter", true, keep, true, Result{Answered: true, Kept: []Turned{aim}}},
		{"Ctrl-C does not ask", "ctrl+c", true, nil, true, Result{Interrupted: true}},
		{"Ctrl-C over a question", "q 1 ctrl+c", true, nil, true, Result{Interrupted: true}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(c.change)
			if c.turned {
				b.turned("aim", "1", "2")
				b.turned("tso", "on", "off")
			}
			if got := b.press(c.keys); got != c.quit || !reflect.DeepEqual(b.result, c.want) {
				t.Errorf("quit %v with %+v, want %v with %+v", got, b.result, c.quit, c.want)
			}
		})
	}
}

// TestQuestionNamesTheKnobs: every size says which knobs, or how many, and whether the
// link drops.
func TestQuestionNamesTheKnobs(t *testing.T) {
	const dropped = "   the link will drop for seconds"
	tests := []struct {
		w, h int
		keys string
		keep bool
		want []string // the last rows
	}{
		{120, 40, "q", false, []string{"1 aim 2 -> 1", "2 tso off -> on" + dropped, "Enter puts back, k keeps all, 1-2 changes one, Esc stays"}},
		{80, 24, "q", false, []string{"1 aim 2 -> 1", "2 tso off -> on" + dropped, "Enter puts back, k keeps all, 1-2 changes one, Esc stays"}},
		{80, 24, "q 2", false, []string{"1 aim 2 -> 1", "2 tso stays off   (it was on)", "Enter does that, k keeps all, r puts back all, 1-2 changes one, Esc stays"}},
		{80, 24, "q 2 1", false, []string{"1 aim stays 2   (it was 1)", "2 tso stays off   (it was on)", "Enter keeps, r puts back all, 1-2 changes one, Esc stays"}},
		{80, 24, "q", true, []string{"1 aim stays 2   (it was 1)", "2 tso stays off   (it was on)", "--keep: Enter keeps, r puts back all, 1-2 changes one, Esc stays"}},
		{40, 8, "q", false, []string{"1 aim 2 -> 1", "2 tso off -> on  link drops", "Enter restore, k keep, 1-2 one, Esc stay"}},
		{20, 3, "q", false, []string{"2 turned, link drops", "Enter restore k keep", "Esc stay"}},
		{20, 3, "q 2", false, []string{"2 turned Enter does", "it k keep Esc stay"}},
	}
	for _, c := range tests {
		b := newBench(func(cfg *Config) { cfg.Keep = c.keep })
		b.turned("aim", "1", "2")
		b.turned("tso", "on", "off")
		b.Update(tea.WindowSizeMsg{Width: c.w, Height: c.h})
		b.press(c.keys)
		var got []string
		for _, l := range strings.Split(strings.TrimRight(b.View().Content, " \n"), "\n") {
			got = append(got, strings.TrimRight(l, " "))
		}
		if got = got[max(len(got)-len(c.want), 0):]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%dx%d %s: got\n%s\nwant\n%s", c.w, c.h, c.keys, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestLeavingBothEnds: what is turned alike on both ends is one row and one choice.
func TestLeavingBothEnds(t *testing.T) {
	b := newPeerBench()
	b.say(turnedOn("", "aim", "1", "2"), turnedOn("r1", "aim", "1", "2"), turnedOn("r1", "tcp.tso", "1", "0"))
	if b.press("q") {
		t.Fatal("it quit without a question")
	}
	for _, want := range []string{"1 both aim 2 -> 1 ", "2 r1 tcp.tso 0 -> 1 "} {
		if !strings.Contains(b.View().Content, want) {
			t.Errorf("the screen lacks %q:\n%s", want, b.View().Content)
		}
	}
	want := Result{Answered: true, Kept: []Turned{{"", "aim", "2", "1"}, {"r1", "aim", "2", "1"}}}
	if !b.press("1 enter") || !reflect.DeepEqual(b.result, want) {
		t.Errorf("left with %+v", b.result)
	}
}
