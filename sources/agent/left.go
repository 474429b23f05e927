package agent

import (
	"time"

	"netwatch/sources"
)

// tellLeft says what a netwatch that is gone left turned on this host, to an asker that
// watches it: who only turns has not asked how things are.
func (s *server) tellLeft() {
	if s.journal == nil {
		return
	}
	for _, e := range s.journal.Left() {
		s.out.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: "knobs", Subject: e.Knob, Old: e.Start, New: e.Value,
			Text: printable(e.Words()) + " by a netwatch that is gone", Error: true})
	}
}

// IsLeft tells whether an event of an agent says what a netwatch that is gone left turned.
// How that is put back from here is for its asker to add.
func IsLeft(e sources.Event) bool {
	return e.Kind == sources.SourceNote && e.Source == "knobs" && e.Old != ""
}
