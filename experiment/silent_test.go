package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// How long a peer is gone is counted from its last word, not from when it was given up.
func TestAPeerThatFellSilent(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "igb0", "")
	f.event(sources.Event{Kind: sources.SourceGone, Host: "r1", Source: PeerSource, Text: "no word for 8s", Span: 8 * time.Second})
	if p := f.Peer("r1"); p.Up || f.at.Sub(p.Gone) != 8*time.Second {
		t.Errorf("%+v", p)
	}
}

// A knob of a peer that was asked for a turn and did not answer is not known, and one
// that failed while its host was gone is not known any better, until the peer tells.
func TestAKnobThatDidNotAnswer(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "igb0", "")
	f.aimAt("", "2")
	f.aimAt("r1", "2")
	failed := func(host, is string) {
		f.event(sources.Event{Kind: sources.KnobTurning, Host: host, Subject: "aim", Old: "2", Asked: "0"})
		f.event(sources.Event{Kind: sources.KnobFailed, Host: host, Subject: "aim", Old: "2", Asked: "0", New: is, Text: "it did not answer"})
	}
	doubt := func(when string, want bool) {
		t.Helper()
		if k := f.Knob("r1", "aim"); k.Doubt != want || k.Turning != "" {
			t.Errorf("%s: %+v", when, k)
		}
	}
	failed("r1", "2")
	doubt("refused", false)
	failed("r1", "")
	doubt("not answered", true)
	if got := f.Events()[len(f.Events())-1].Text; got != "it did not answer" {
		t.Errorf("last event: %q", got)
	}
	f.peer(sources.SourceGone, "", "")
	failed("r1", "2")
	doubt("not there", true)
	f.peer(sources.SourceUp, "igb0", "")
	f.aimAt("r1", "1")
	doubt("told again", false)
	failed("", "")
	if k := f.Knob("", "aim"); k.Doubt {
		t.Errorf("here a new agent tells at once: %+v", k)
	}
	const want = "r1 aim asked 0: it did not answer"
	if got := Sentence(sources.Event{Kind: sources.KnobFailed, Host: "r1", Subject: "aim", Asked: "0", Text: "it did not answer"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
