package knobs

import (
	"fmt"
	"os"
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

// A card that goes away is one event, and its knobs have no value until it is back:
// that is another. What it is then is told, too.
func TestCardComesAndGoes(t *testing.T) {
	caps := &fakeCaps{enabled: allCaps, supported: allCaps}
	k, l := newFake("net.inet.tcp.tso", "1"), &log{}
	b := New(l, freebsdList(device{"em0", "em", 0, caps}, k, nil, "")...)
	w := newWatch(b, l)
	w.poll(t.Context())
	l.events = nil
	caps.err = fmt.Errorf("em0: device not configured: %w", os.ErrNotExist)
	w.poll(t.Context())
	w.poll(t.Context())
	l.expect(t, "knob-seen tso >>", "knob-seen lro >>", "knob-seen txcsum >>", "knob-seen rxcsum >>", "source-note em0 >>")
	if e := l.events[4]; e.Text != "knobs of em0 cannot be read: em0: device not configured: file does not exist" || !e.Error || l.events[0].Knob.Locked == "" {
		t.Errorf("%+v", l.events)
	}
	l.events = nil
	caps.err, caps.enabled = nil, allCaps&^allTSO
	w.poll(t.Context())
	w.poll(t.Context())
	l.expect(t, "source-note em0 >>", "knob-seen tso >>off", "knob-drifted tso on>>off", "knob-seen lro >>on", "knob-seen txcsum >>on", "knob-seen rxcsum >>on")
	if e := l.events[0]; e.Text != "knobs of em0 can be read again" || e.Error || l.events[1].Knob.Locked != "" {
		t.Errorf("%+v", l.events)
	}
}

// em switches TSO off by itself at 100 Mbit/s: the event says so of em alone.
func TestDriftByHabit(t *testing.T) {
	for driver, want := range map[string]string{
		"em": "changed, and netwatch did not turn it; em keeps TSO off while the link is slower than 1000 Mbit/s unless hw.em.unsupported_tso=1 stands in loader.conf",
		"re": "changed, and netwatch did not turn it"} {
		caps, l := &fakeCaps{enabled: allCaps, supported: allCaps}, &log{}
		w := newWatch(New(l, freebsdList(device{driver + "0", driver, 0, caps}, newFake(), nil, "")...), l)
		w.poll(t.Context())
		caps.enabled &^= allTSO
		w.poll(t.Context())
		if e := l.events[len(l.events)-1]; e.Subject != "tso" || e.Text != want {
			t.Errorf("%s: %+v", driver, e)
		}
	}
}
