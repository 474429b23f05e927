package knobs

import (
	"strings"
	"testing"
	"time"

	"netwatch/sources"
)

// Two netwatch, and a person at a shell: who turned a knob is what the journal tells.
func TestWhoTurned(t *testing.T) {
	const (
		another = "another netwatch turned it"
		nobody  = "changed, and netwatch did not turn it"
	)
	type scene struct {
		k           *fakeKernel
		ours, other *Board
	}
	on := func(s scene) { turn(t, s.other, "tso", "on") }
	off := func(s scene) { turn(t, s.other, "tso", "off") }
	oursOff := func(s scene) { turn(t, s.ours, "tso", "off") }
	byHand := func(value string) func(scene) { return func(s scene) { s.k.put("tso", value) } }
	for _, c := range []struct {
		name  string
		steps []func(scene)
		want  []string // of each drift
	}{
		{"another's turns, back and forth", []func(scene){off, on, off}, []string{another, another, another}},
		{"ours, then another's back", []func(scene){oursOff, on, off}, []string{another, another}},
		{"by hand", []func(scene){byHand("off"), byHand("on")}, []string{nobody, nobody}},
		{"by hand after ours", []func(scene){oursOff, byHand("on"), byHand("off")}, []string{nobody, nobody}},
		{"by hand after another's", []func(scene){off, byHand("on"), byHand("off")}, []string{another, nobody, nobody}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, k, l := stateDirOf(t), newFake("tso", "on"), &log{}
			s := scene{k, journalBoard(t, dir, gone, k, l), journalBoard(t, dir, running, k, &log{})}
			w := newWatch(s.ours, l)
			w.poll(t.Context())
			for _, step := range c.steps {
				step(s)
				w.poll(t.Context())
			}
			var got []string
			for _, e := range l.events {
				if e.Kind == sources.KnobDrifted {
					got = append(got, e.Text)
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A turn that is not written down yet is in the journal as asked.
func TestWhoIsTurning(t *testing.T) {
	dir, k, l := stateDirOf(t), newFake("aim", "1"), &log{}
	w := newWatch(journalBoard(t, dir, gone, k, l), l)
	w.poll(t.Context())
	turn(t, journalBoard(t, dir, running, k, &log{}), "aim", "2")
	rewrite(t, dir, func(e *Entry) { e.Value, e.Asked, e.At = "1", "2", time.Now() })
	w.poll(t.Context())
	if e := l.events[len(l.events)-1]; e.Kind != sources.KnobDrifted || e.Text != "another netwatch turned it" {
		t.Errorf("%+v", e)
	}
}
