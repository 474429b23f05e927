package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"netwatch/sources"
	"netwatch/sources/knobs"
	"netwatch/tui"
)

// A peer that is gone cannot be asked: what it was turned to is neither kept nor put back,
// and that is said with the status of what a person wanted.
func TestLeavingAPeerThatIsGone(t *testing.T) {
	tso := knobs.Change{Knob: "tso", Start: "on", Value: "off"}
	const known, after = "r1 is gone: not known, and not ", ": its tso (turned or being turned from on to off); its agent puts back what it turned when it loses its link; netwatch restore --peer r1 does so if it was killed"
	for _, c := range []struct {
		name   string
		told   map[string]string // by the agent that came after
		keep   bool
		code   int
		want   string
		asksOf int // knobs that leaving asks for
	}{
		{"put back", nil, false, exitUnrestored, known + "put back by this netwatch" + after, 0},
		{"keep", nil, true, exitFailure, known + "kept" + after, 0},
		{"it came back and tells that it is back", map[string]string{"tso": "on"}, false, exitOK, "", 0},
		{"it came back and is still turned, and went", map[string]string{"tso": "off"}, false, exitUnrestored, known + "put back by this netwatch" + after, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r1 := &peer{host: "r1", restore: "netwatch restore --peer r1", lost: []knobs.Change{tso}, values: c.told}
			if got := len(r1.Changed()); got != c.asksOf {
				t.Errorf("leaving asks for %d knobs, want %d", got, c.asksOf)
			}
			p := &plan{options: &options{}, peers: []*peer{r1}, knobs: []sources.Knob{&value{"tso", "on"}}}
			p.decide(tui.Result{Answered: true, Keep: c.keep})
			var said strings.Builder
			err := p.restoreAll(&said, &idleHand{})
			code, words := exitOK, ""
			var e *exitError
			switch {
			case errors.As(err, &e):
				code, words = e.code, e.err.Error()
			case err != nil:
				code, words = exitFailure, err.Error()
			}
			if code != c.code || words != c.want || said.Len() > 0 {
				t.Errorf("code %d, %q, said %q; want %d, %q", code, words, said.String(), c.code, c.want)
			}
		})
	}
}

// An idleHand has turned nothing.
type idleHand struct{ fakeHand }

func (*idleHand) Changed() []knobs.Change { return nil }

// What a netwatch that is gone left turned on a peer is told when it first comes, with
// what a person types here; what came meanwhile is this netwatch's own.
func TestLeftOnAPeerIsToldOnce(t *testing.T) {
	left := sources.Event{Kind: sources.SourceNote, Host: "r1", Source: "knobs", Subject: "tso", Old: "on", New: "off", Text: "tso was turned from on to off by a netwatch that is gone", Error: true}
	other := sources.Event{Kind: sources.SourceNote, Host: "r1", Source: "knobs", Text: "the journal is damaged", Error: true}
	for _, first := range []bool{true, false} {
		var out collected
		sink := &peerSink{Sink: &out, peer: &peer{host: "r1", restore: "netwatch restore --peer r1"}, first: first}
		sink.Event(left)
		sink.Event(other)
		want := []string{left.Text + "; netwatch restore --peer r1 puts it back", other.Text}
		if !first {
			want = want[1:]
		}
		if !slices.Equal(out.texts, want) {
			t.Errorf("first %v: told %q, want %q", first, out.texts, want)
		}
	}
}

type collected struct {
	silence
	texts []string
}

func (c *collected) Event(e sources.Event) { c.texts = append(c.texts, e.Text) }
