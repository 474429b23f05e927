package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/ends"
	"netwatch/sources/knobs"
	"netwatch/tui"
)

// A value is a knob that can be turned.
type value struct {
	name, is string
}

func (v *value) Spec() sources.KnobSpec                    { return sources.KnobSpec{Name: v.name} }
func (v *value) Get(context.Context) (string, error)       { return v.is, nil }
func (v *value) Set(_ context.Context, value string) error { v.is = value; return nil }

type silence struct{}

func (silence) Event(sources.Event)   {}
func (silence) Sample(sources.Sample) {}

// What a person chooses when leaving is done, said, and in the journal.
func TestLeavingAsChosen(t *testing.T) {
	tso, cc := tui.Turned{Knob: "tso", Value: "off", Start: "on"}, tui.Turned{Knob: "cc", Value: "reno", Start: "cubic"}
	kept := []string{"netwatch: kept tso=off (was on)", "netwatch: kept cc=reno (was cubic)"}
	back := []string{"netwatch: put back tso=on (was turned to off)", "netwatch: put back cc=cubic (was turned to reno)"}
	for _, c := range []struct {
		name    string
		keep    bool // --keep
		answer  tui.Result
		others  string // what somebody else turned tso to
		said    []string
		values  string
		journal string // what is kept
	}{
		{"nothing asked", false, tui.Result{}, "", back, "on cubic", ""},
		{"restore", false, tui.Result{Answered: true}, "", back, "on cubic", ""},
		{"keep", false, tui.Result{Answered: true, Keep: true}, "", kept, "off reno", "tso=off cc=reno"},
		{"keep one", false, tui.Result{Answered: true, Kept: []tui.Turned{tso}}, "", []string{kept[0], back[1]}, "off cubic", "tso=off"},
		{"keep the other", false, tui.Result{Answered: true, Kept: []tui.Turned{cc}}, "", []string{kept[1], back[0]}, "on reno", "cc=reno"},
		{"one of another host", false, tui.Result{Answered: true, Kept: []tui.Turned{{Host: "r1", Knob: "tso"}}}, "", back, "on cubic", ""},
		{"--keep, Ctrl-C", true, tui.Result{Interrupted: true}, "", kept, "off reno", "tso=off cc=reno"},
		{"--keep, yet restore", true, tui.Result{Answered: true}, "", back, "on cubic", ""},
		{"--keep, but one", true, tui.Result{Answered: true, Kept: []tui.Turned{cc}}, "", []string{kept[1], back[0]}, "on reno", "cc=reno"},
		{"somebody put it back", false, tui.Result{Answered: true}, "on",
			[]string{"netwatch: tso is on again, not by this netwatch", back[1]}, "on cubic", ""},
		{"somebody turned it elsewhere", false, tui.Result{Answered: true}, "tso4",
			[]string{"netwatch: tso is left at tso4: it is not the off netwatch had set (it was on at first)", back[1]}, "tso4 cubic", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			a, b := &value{"tso", "on"}, &value{"cc", "cubic"}
			j, err := knobs.OpenJournal(state, "em4", func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			board := knobs.NewJournaled(silence{}, j, a, b)
			for _, turn := range []tui.Turned{tso, cc} {
				if err := board.Turn(t.Context(), "", turn.Knob, turn.Value); err != nil {
					t.Fatal(err)
				}
			}
			if c.others != "" {
				a.is = c.others
			}
			p := &plan{options: &options{keep: c.keep}, knobs: []sources.Knob{a, b}}
			p.decide(c.answer)
			var said strings.Builder
			if err := p.restoreAll(&said, board); err != nil {
				t.Error(err)
			}
			if got := strings.Split(strings.TrimSpace(said.String()), "\n"); !slices.Equal(got, c.said) {
				t.Errorf("said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.said, "\n"))
			}
			entries, err := j.Entries()
			var journal []string
			for _, e := range entries {
				journal = append(journal, e.Knob+"="+e.Kept)
			}
			if got := strings.Join(journal, " "); got != c.journal || a.is+" "+b.is != c.values || err != nil {
				t.Errorf("journal %q, values %s %s, %v", got, a.is, b.is, err)
			}
		})
	}
}

// What somebody else has turned since is not offered to be put back.
func TestPendingIsWhatIsStillTurned(t *testing.T) {
	both := ends.New(silence{}, "s1")
	p := pending{here: &fakeHand{}, both: both}
	want := []tui.Turned{{Knob: "tso", Value: "off", Start: "on"}}
	for _, c := range []struct {
		kind  sources.EventKind
		value string
		want  []tui.Turned
	}{
		{sources.KnobTurned, "off", want}, {sources.KnobDrifted, "on", nil}, {sources.KnobDrifted, "off", want}, {sources.KnobDrifted, "tso4", nil},
	} {
		both.Event(sources.Event{At: time.Now(), Kind: c.kind, Subject: "tso", New: c.value})
		if got := p.Pending(); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: pending %v, want %v", c.kind, c.value, got, c.want)
		}
	}
}
