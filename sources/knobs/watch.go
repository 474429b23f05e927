package knobs

import (
	"context"
	"errors"
	"time"

	"netwatch/sources"
)

// Name is "knobs".
func (b *Board) Name() string { return "knobs" }

// Run says KnobSeen for every knob there is, then reads them each second until ctx
// ends and says KnobDrifted for a value that changed without a turn of this board. A knob
// that is not there (a module that is not loaded) is said when it appears.
func (b *Board) Run(ctx context.Context, sink sources.Sink) error {
	w := watch{board: b, sink: sink, seen: make([]state, len(b.knobs))}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		w.poll(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// A state is what was said of a knob.
type state uint8

const (
	unseen state = iota
	seen
	refused // it is there and tells nothing; said once
)

type watch struct {
	board *Board
	sink  sources.Sink
	seen  []state
}

// poll holds the board's lock: between a set and its reading back a value is not
// news. The lock is taken per knob, so that a turn waits for one reading only.
func (w *watch) poll(ctx context.Context) {
	for i, k := range w.board.knobs {
		if ctx.Err() != nil {
			return
		}
		if w.seen[i] != refused {
			w.look(ctx, i, k)
		}
	}
}

func (w *watch) look(ctx context.Context, i int, k sources.Knob) {
	b := w.board
	b.mu.Lock()
	defer b.mu.Unlock()
	spec := k.Spec()
	value, err := k.Get(ctx)
	before, known := b.known[spec.Name]
	now := time.Now()
	switch {
	case err == nil && w.seen[i] != seen:
		w.seen[i] = seen
		b.known[spec.Name] = value
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, New: value, Knob: &spec})
	case err == nil && known && value != before:
		b.known[spec.Name] = value
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobDrifted, Subject: spec.Name, Old: before, New: value,
			Text: "changed, and netwatch did not turn it"})
	case w.seen[i] == unseen && errors.Is(err, errors.ErrUnsupported):
		w.seen[i] = refused
		if spec.Locked == "" {
			spec.Locked = printable(err.Error())
		}
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, Knob: &spec})
	case err != nil && w.seen[i] == seen:
		w.seen[i] = unseen
		delete(b.known, spec.Name)
		tell(w.sink, sources.Event{At: now, Kind: sources.SourceNote, Subject: spec.Name, Old: before,
			Text: spec.Name + " cannot be read any more: " + printable(err.Error())})
	}
}
