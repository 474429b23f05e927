package experiment

import (
	"strings"
	"testing"
	"time"

	"netwatch/sources"
)

// What a netwatch that is gone left turned is told, with the value it turned it from; it
// is no trouble of what reads the knobs, and not this session's to put back.
func TestLeftTurned(t *testing.T) {
	for _, before := range []bool{true, false} { // the journal is read before the knobs, or after
		f := newFeed()
		left := func() {
			f.event(sources.Event{Kind: sources.SourceNote, Source: "knobs", Subject: "tso", Old: "on", New: "off", Error: true,
				Text: "tso was turned from on to off by a netwatch that is gone; netwatch restore puts it back"})
		}
		if before {
			left()
		}
		f.event(sources.Event{Kind: sources.SourceUp, Source: "knobs"})
		f.knob("tso", "off", sources.LinkReset)
		if !before {
			left()
		}
		f.step(time.Second, nil)
		for _, st := range f.Sources() {
			if st.NoteError || st.Note != "" {
				t.Errorf("source %s: %q", st.Name, st.Note)
			}
		}
		if n := len(f.Events()); n != 1 || !f.Events()[0].Error {
			t.Errorf("%d events", n)
		}
		k := f.Knob("", "tso")
		if k.From() != "on" || k.Moved() || len(f.Turned()) != 0 {
			t.Errorf("from %q, moved %v", k.From(), k.Moved())
		}
		f.turn("tso", "off", "on")
		if k.From() != "off" || len(f.Turned()) != 1 {
			t.Errorf("turned on: from %q", k.From())
		}
	}
	f := newFeed()
	f.event(sources.Event{Kind: sources.SourceNote, Source: "knobs", Subject: "em4", Error: true, Text: "knobs of em4 cannot be read"})
	if st := f.Sources()[0]; !st.NoteError {
		t.Error("that knobs cannot be read is no trouble")
	}
}

// A turn of every end says how many they are.
func TestTurnOfAllEnds(t *testing.T) {
	for peers, want := range map[int]string{1: "aim 1 -> 2 both, skew 9.0 ms", 2: "aim 1 -> 2 all 3, skew 9.0 ms", 3: "aim 1 -> 2 all 4, skew 9.0 ms"} {
		s := New(Options{Start: t0, Interface: "em4", PeerInterfaces: map[string]string{}})
		for i := range peers {
			s.meet("r" + string(rune('1'+i)))
		}
		s.Apply(sources.Batch{At: t0, Events: []sources.Event{
			{At: t0, Kind: sources.KnobBoth, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 9 * time.Millisecond},
			{At: t0, Kind: sources.KnobBoth, Source: "knobs", Subject: "aim", Asked: "2", Text: "r1 refused", Error: true}}})
		if got := Sentence(s.Events()[0]); got != want {
			t.Errorf("%d peers: %q, want %q", peers, got, want)
		}
		if got := Sentence(s.Events()[1]); !strings.HasSuffix(got, "refused: r1 refused") {
			t.Errorf("%q", got)
		}
	}
}
