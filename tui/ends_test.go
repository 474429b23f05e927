package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/sources/ends"
	"netwatch/tui/panes"
)

// newPeerBench is newBench with a peer r1 that has the knobs aim, tso and tcp.tso too.
func newPeerBench() *bench {
	b := newBench(nil)
	var seen []sources.Event
	for _, k := range knobs[:3] {
		seen = append(seen, sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: k.spec.Name, New: k.value, Knob: &k.spec})
	}
	b.say(append(seen, sources.Event{Kind: sources.SourceUp, Host: "r1", Source: experiment.PeerSource})...)
	return b
}

// say has events happen a millisecond after each other.
func (b *bench) say(events ...sources.Event) {
	s := b.cfg.Session
	for i := range events {
		events[i].At = s.Now().Add(time.Duration(i+1) * time.Millisecond)
	}
	s.Apply(sources.Batch{At: events[len(events)-1].At, Events: events})
}

func turnedOn(host, knob, old, value string) sources.Event {
	return sources.Event{Kind: sources.KnobTurned, Host: host, Subject: knob, Old: old, Asked: value, New: value}
}

func TestTurnsOfBothEnds(t *testing.T) {
	gone := sources.Event{Kind: sources.SourceGone, Host: "r1", Source: experiment.PeerSource, Text: "ssh ended"}
	locked := sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim", Values: []string{"0", "1", "2"}, Locked: "needs root"}}
	unlisted := &sources.KnobSpec{Name: "rx-usecs"}
	usecs := []sources.Event{{Kind: sources.KnobSeen, Subject: "rx-usecs", New: "3", Knob: unlisted}, {Kind: sources.KnobSeen, Host: "r1", Subject: "rx-usecs", New: "8", Knob: unlisted}}
	tests := []struct {
		name, keys string
		before     []sources.Event
		want       []string
		footer     string
	}{
		{"a asks for both", "a", nil, nil, "both: aim  0 off  [1] bulk"},
		{"a digit turns both", "a 2", nil, []string{"*/aim=2"}, "Tab"},
		{"b: here", "b a", nil, nil, "here: aim  0 off"},
		{"b: here turns here", "b a 2", nil, []string{"/aim=2"}, "Tab"},
		{"b b: there", "b b a 2", nil, []string{"r1/aim=2"}, "Tab"},
		{"b b b: both again", "b b b a 2", nil, []string{"*/aim=2"}, "Tab"},
		{"t warns for both", "t", nil, nil, "both: tso on -> off: the link will drop"},
		{"t and Enter", "t enter", nil, []string{"*/tso=off"}, "Tab"},
		{"T at once", "T", nil, []string{"*/tcp.tso=0"}, "Tab"},
		{"one end has the value already", "a 2", []sources.Event{turnedOn("r1", "aim", "1", "2")}, []string{"*/aim=2"}, "Tab"},
		{"both have it", "a 1", nil, nil, "aim is 1 already"},
		{"locked there", "a", []sources.Event{locked}, nil, "r1 aim is locked: needs root"},
		{"locked there, turned here", "b a 2", []sources.Event{locked}, []string{"/aim=2"}, "Tab"},
		{"the peer is gone", "a", []sources.Event{gone}, nil, "r1 is gone: b chooses another end"},
		{"the peer is gone, here goes on", "b a 2", []sources.Event{gone}, []string{"/aim=2"}, "Tab"},
		{"a knob of one end, on both", "K j j j right", nil, nil, "r1 has no lro: b chooses one end"},
		{"knobs page: on both", "K right", nil, []string{"*/aim=2"}, "Tab"},
		{"knobs page, one end: the row's", "b K G left", nil, []string{"r1/tcp.tso=0"}, "Tab"},
		{"knobs page, one end: the row here", "b b K right", nil, []string{"/aim=2"}, "Tab"},
		{"knobs page: a value typed for both", "K G enter 5 enter", usecs, []string{"*/rx-usecs=5"}, "Tab"},
		{"knobs page: a value typed for one", "b K G enter 5", usecs, nil, "r1: rx-usecs 8 -> 5_ "},
		{"locked here", "b b K j j j right", nil, nil, "lro is locked"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newPeerBench()
			if c.before != nil {
				b.say(c.before...)
			}
			b.press(c.keys)
			if !slices.Equal(b.turns, c.want) {
				t.Errorf("turned %v, want %v", b.turns, c.want)
			}
			if got := b.footer(); !strings.Contains(got, c.footer) {
				t.Errorf("footer says %q, want %q", got, c.footer)
			}
		})
	}
}

func TestARefusalIsSaid(t *testing.T) {
	b := newPeerBench()
	b.fails = errors.New("r1: operation not permitted; here put back to 1")
	b.press("a 2")
	if !strings.HasPrefix(b.footer(), "r1: operation not permitted; here put back to 1") {
		t.Errorf("footer says %q", b.footer())
	}
}

func TestUndoOfBothEnds(t *testing.T) {
	both := func(knob, old, value string) sources.Event {
		return sources.Event{Kind: sources.KnobBoth, Subject: knob, Old: old, Asked: value, New: value, Span: time.Millisecond}
	}
	refused := []sources.Event{
		{Kind: sources.KnobTurning, Subject: "aim", Asked: "0"},
		turnedOn("", "aim", "2", "0"),
		{Kind: sources.KnobFailed, Host: "r1", Subject: "aim", Old: "2", Asked: "0", New: "2"},
		turnedOn("", "aim", "0", "2"),
		{Kind: sources.KnobBoth, Subject: "aim", Asked: "0", Span: 4 * time.Millisecond, Error: true},
	}
	turn := []sources.Event{turnedOn("", "aim", "1", "2"), turnedOn("r1", "aim", "1", "2"), both("aim", "1", "2")}
	tests := []struct {
		name   string
		before []sources.Event
		keys   string
		want   []string
	}{
		{"of both", turn, "K U", []string{"*/aim=1"}},
		{"from different values", []sources.Event{turnedOn("r1", "aim", "1", "0"), turnedOn("", "aim", "1", "2"), turnedOn("r1", "aim", "0", "2"), both("aim", "1|0", "2")}, "K U", []string{"/aim=1", "r1/aim=0"}},
		{"one had it already", []sources.Event{turnedOn("", "aim", "2", "2"), turnedOn("r1", "aim", "1", "2"), both("aim", "2|1", "2")}, "K U", []string{"r1/aim=1"}},
		{"of one end afterwards", append(slices.Clone(turn), turnedOn("r1", "tcp.tso", "1", "0")), "K U", []string{"r1/tcp.tso=1"}},
		{"a refused one is undone already", append(slices.Clone(turn), refused...), "K U", []string{"*/aim=1"}},
		{"restore all", append(slices.Clone(turn), turnedOn("r1", "tcp.tso", "1", "0")), "K R", []string{"r1/tcp.tso=1", "*/aim=1"}},
		{"restore all of a link", []sources.Event{turnedOn("", "tso", "on", "off"), turnedOn("r1", "tso", "on", "off")}, "K R enter", []string{"*/tso=on"}},
		{"undo of a link", []sources.Event{turnedOn("", "tso", "on", "off"), turnedOn("r1", "tso", "on", "off"), both("tso", "on", "off")}, "K U enter", []string{"*/tso=on"}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newPeerBench()
			b.say(c.before...)
			b.press(c.keys)
			if !slices.Equal(b.turns, c.want) {
				t.Errorf("turned %v, want %v; footer %q", b.turns, c.want, b.footer())
			}
		})
	}
}

// Turns of both ends and of one, each undone by one U.
func TestUndoWalksBackOnBothEnds(t *testing.T) {
	b := newPeerBench()
	all := func(knob, old, value string) {
		b.say(turnedOn("", knob, old, value), turnedOn("r1", knob, old, value),
			sources.Event{Kind: sources.KnobBoth, Subject: knob, Old: old, Asked: value, New: value, Span: 2 * time.Millisecond})
	}
	u := func(want ...string) {
		t.Helper()
		b.turns = nil
		b.press("K U")
		if !slices.Equal(b.turns, want) {
			t.Fatalf("U turned %v, want %v; footer %q", b.turns, want, b.footer())
		}
	}
	all("aim", "1", "2")
	b.say(turnedOn("r1", "aim", "2", "0"))
	all("tcp.tso", "1", "0")
	u("*/tcp.tso=1")
	all("tcp.tso", "0", "1")
	u("r1/aim=2")
	b.say(turnedOn("r1", "aim", "0", "2"))
	u("*/aim=1")
	all("aim", "2", "1")
	u()
	b.say(turnedOn("r1", "aim", "1", "0"))
	b.say(turnedOn("", "aim", "1", "2"), turnedOn("r1", "aim", "0", "2"),
		sources.Event{Kind: sources.KnobBoth, Subject: "aim", Old: "1|0", Asked: "2", New: "2", Span: 2 * time.Millisecond})
	u("/aim=1", "r1/aim=0")
	b.say(turnedOn("", "aim", "2", "1"), turnedOn("r1", "aim", "2", "0"))
	u("r1/aim=1")
}

func TestTheOtherEnd(t *testing.T) {
	tests := []struct {
		name, keys string
		width      int
		third      bool
		want       string // whose charts
		footer     string
	}{
		{"o", "o", 120, false, "r1", "Tab"},
		{"o o", "o o", 120, false, "", "Tab"},
		{"both are there", "o", 200, false, "", "both ends are shown"},
		{"three", "o o", 120, true, "r2", "Tab"},
		{"three, side by side", "o", 200, true, "r2", "Tab"},
		{"three, side by side, around", "o o", 200, true, "r1", "Tab"},
		{"on another page", "3 o", 120, false, "", "that moves the charts: 1 shows them"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newPeerBench()
			if c.third {
				b.say(sources.Event{Kind: sources.SourceUp, Host: "r2", Source: experiment.PeerSource})
			}
			b.Update(tea.WindowSizeMsg{Width: c.width, Height: 40})
			b.press(c.keys)
			if got := b.frame.View.Host; got != c.want || !strings.Contains(b.footer(), c.footer) {
				t.Errorf("shows %q, footer %q", got, b.footer())
			}
		})
	}
}

func TestOneEndOnly(t *testing.T) {
	for key, want := range map[string]string{
		"o": "there is no other end: netwatch IFACE --peer HOST adds one",
		"b": "there is one end only: netwatch IFACE --peer HOST adds another",
	} {
		b := newBench(nil)
		b.press(key)
		if !strings.HasPrefix(b.footer(), want) || b.frame.View != (panes.View{Window: time.Minute}) {
			t.Errorf("%s: footer says %q, view %+v", key, b.footer(), b.frame.View)
		}
	}
}

// A boardEnd turns the knobs of one host and says so, as a board does.
type boardEnd struct {
	sink    sources.Sink
	session *experiment.Session
	refuses bool
}

func (b boardEnd) Turn(_ context.Context, host, knob, value string) error {
	old := b.session.Knob(host, knob).Value
	e := sources.Event{At: time.Now(), Kind: sources.KnobTurned, Host: host, Subject: knob, Old: old, Asked: value, New: value}
	if b.refuses {
		e.Kind, e.New, e.Text, e.Error = sources.KnobFailed, old, "operation not permitted", true
	}
	b.sink.Event(e)
	return nil
}

// A heard keeps events until the session takes them.
type heard struct {
	mu     sync.Mutex
	events []sources.Event
}

func (h *heard) Sample(sources.Sample) {}
func (h *heard) Event(e sources.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// TestBothEndsFromKeyToScreen presses a key that turns both ends, has the ends do it,
// and looks at the screen: once all is well, once r1 refuses.
func TestBothEndsFromKeyToScreen(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		b := newPeerBench()
		out := &heard{}
		both := ends.New(out, "s1")
		both.Add("", boardEnd{sink: both, session: b.cfg.Session})
		both.Add("r1", boardEnd{sink: both, session: b.cfg.Session, refuses: refuses})
		b.cfg.Turner = both
		b.press("a 2")
		footer := b.footer()
		b.cfg.Session.Apply(sources.Batch{At: b.cfg.Session.Now().Add(time.Second), Events: out.events})
		b.press("esc")
		screen := b.View().Content
		line, event := "[a] aim=2 (start 1) both", "aim 1 -> 2 both, skew "
		if refuses {
			line, event = "[a] aim=1 both", "aim -> 2 refused: r1: operation not permitted; s1 put back to 1"
			if !strings.HasPrefix(footer, "r1: operation not permitted; s1 put back to 1") {
				t.Errorf("footer says %q", footer)
			}
		}
		for _, want := range []string{line, event} {
			if !strings.Contains(screen, want) {
				t.Errorf("refuses %v: the screen lacks %q:\n%s", refuses, want, screen)
			}
		}
	}
}
