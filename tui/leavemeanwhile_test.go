package tui

import (
	"reflect"
	"strings"
	"testing"

	"netwatch/experiment"
	"netwatch/sources"
)

// tell has events come while the screen stands.
func (b *bench) tell(events ...sources.Event) {
	now := b.cfg.Session.Now()
	for i := range events {
		events[i].At = now
	}
	b.feed.got = append(b.feed.got, sources.Batch{At: now, Events: events})
	b.Update(newsMsg{})
}

func drifted(host, knob, old, value string) sources.Event {
	return sources.Event{Kind: sources.KnobDrifted, Host: host, Subject: knob, Old: old, New: value}
}

func (b *bench) bottom() string {
	var rows []string
	for _, l := range strings.Split(strings.TrimRight(b.View().Content, " \n"), "\n") {
		rows = append(rows, strings.TrimRight(l, " "))
	}
	return strings.Join(rows[len(rows)-3:], "\n")
}

// TestLeavingWhileKnobsMove: what comes back, and what is turned, while the question
// stands is in it; a digit stays that of its knob.
func TestLeavingWhileKnobsMove(t *testing.T) {
	b := newBench(nil)
	b.turned("aim", "1", "2")
	b.turned("tso", "on", "off")
	b.press("q 2")
	b.tell(drifted("", "aim", "2", "1"))
	want := "1 aim is 1 now\n2 tso stays off   (it was on)\nEnter keeps, r puts back all, 1-2 changes one, Esc stays"
	if got := b.bottom(); got != want {
		t.Errorf("aim is back, and the question is\n%s\nwant\n%s", got, want)
	}
	b.tell(drifted("", "tcp.tso", "1", "0"))
	if got := b.bottom(); !strings.Contains(got, "3 tcp.tso 0 -> 1") {
		t.Errorf("tcp.tso was turned, and the question is\n%s", got)
	}
	if b.press("1") || b.ask == nil {
		t.Error("the digit of a knob that is back does something")
	}
	wantKept := Result{Answered: true, Kept: []Turned{{"", "tso", "off", "on"}}}
	if !b.press("enter") || !reflect.DeepEqual(b.result, wantKept) {
		t.Errorf("left with %+v, want %+v", b.result, wantKept)
	}
}

func TestLeavingWhenAllIsBack(t *testing.T) {
	b := newBench(nil)
	b.turned("aim", "1", "2")
	b.press("q")
	b.tell(drifted("", "aim", "2", "1"))
	if b.ask != nil || !strings.Contains(b.View().Content, "nothing is turned any more: q quits") {
		t.Errorf("nothing is turned, and it asks:\n%s", b.View().Content)
	}
	if !b.press("q") {
		t.Error("q does not quit")
	}
}

// TestLeavingWhenEndsPart: one end of what was one row came back.
func TestLeavingWhenEndsPart(t *testing.T) {
	b := newPeerBench()
	b.say(turnedOn("", "aim", "1", "2"), turnedOn("r1", "aim", "1", "2"))
	b.press("q")
	b.tell(drifted("", "aim", "2", "1"))
	want := "1 both aim is 1|2 now\n2 r1 aim 2 -> 1\nEnter puts back, k keeps all, 1-2 changes one, Esc stays"
	if got := b.bottom(); got != want {
		t.Errorf("the question is\n%s\nwant\n%s", got, want)
	}
	kept := Result{Answered: true, Keep: true, Kept: []Turned{{"r1", "aim", "2", "1"}}}
	if !b.press("k") || !reflect.DeepEqual(b.result, kept) {
		t.Errorf("left with %+v, want %+v", b.result, kept)
	}
}

// TestQuestionsFollow: which value a knob has, and whether a turn is still one, is told
// as it is while the question stands.
func TestQuestionsFollow(t *testing.T) {
	b := newBench(nil)
	b.press("a")
	b.tell(drifted("", "aim", "1", "0"))
	if got := b.bottom(); !strings.Contains(got, "aim  [0] off  1 bulk") {
		t.Errorf("aim is 0: %s", got)
	}
	b.press("esc t")
	b.tell(drifted("", "tso", "on", "off"))
	if got := b.bottom(); b.ask != nil || !strings.Contains(got, "tso is off already") {
		t.Errorf("tso is off: %s", got)
	}
}

// TestLeavingWhenItsHostGoes: what cannot be asked any more is not said to be as it was.
func TestLeavingWhenItsHostGoes(t *testing.T) {
	b := newPeerBench()
	b.say(turnedOn("r1", "aim", "1", "2"))
	b.press("q")
	b.tell(sources.Event{Kind: sources.SourceGone, Host: "r1", Source: experiment.PeerSource, Text: "ssh ended"})
	if got := b.bottom(); b.ask != nil || !strings.Contains(got, "what is turned is on a host that is gone: q quits") {
		t.Errorf("its host is gone: %s", got)
	}
}
