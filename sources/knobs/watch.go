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
	w := newWatch(b, sink)
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
	// what stood in the journal when the value was said last
	entries []*Entry
}

func newWatch(b *Board, sink sources.Sink) *watch {
	return &watch{board: b, sink: sink, seen: make([]state, len(b.knobs)), entries: make([]*Entry, len(b.knobs))}
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
		w.entries[i], _ = b.journal.entry(spec)
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, New: value, Knob: &spec})
	case err == nil && known && value != before:
		b.known[spec.Name] = value
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobDrifted, Subject: spec.Name, Old: before, New: value,
			Text: w.whoTurned(i, spec, before, value)})
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

// whoTurned says who turned knob i, which has another value without a turn of this
// board, as far as the journal tells. An entry that is gone tells that a netwatch put the
// knob back: nobody else takes one out.
func (w *watch) whoTurned(i int, spec sources.KnobSpec, before, value string) string {
	b, last := w.board, w.entries[i]
	e, err := b.journal.entry(spec)
	if err != nil {
		return "changed, and this netwatch did not turn it"
	}
	w.entries[i] = e
	another := false
	switch at := b.changedAt(spec.Name); {
	case e != nil:
		known := last != nil && last.PID == e.PID && last.At.Equal(e.At)
		another = !known && e.PID != 0 && e.PID != b.journal.pid && e.set(value)
	case last != nil:
		another = value == last.home()
	case b.journal != nil && at >= 0:
		another = before == b.changed[at].Value && value == b.changed[at].Start
	}
	if another {
		return "another netwatch turned it"
	}
	return "changed, and netwatch did not turn it"
}
