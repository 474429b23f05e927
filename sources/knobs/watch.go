package knobs

import (
	"context"
	"errors"
	"slices"
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
	refused // it tells nothing; said once
)

type watch struct {
	board *Board
	sink  sources.Sink
	seen  []state
	was   []string // the value before it could not be read any more
	read  []time.Time
	away  map[string]bool
	// what stood in the journal when the value was said last
	entries []*Entry
}

func newWatch(b *Board, sink sources.Sink) *watch {
	n := len(b.knobs)
	return &watch{board: b, sink: sink, seen: make([]state, n), was: make([]string, n), read: make([]time.Time, n), away: map[string]bool{}, entries: make([]*Entry, n)}
}

// A loss is a knob that cannot be read any more.
type loss struct {
	spec sources.KnobSpec
	err  error
}

// poll holds the board's lock: between a set and its reading back a value is not
// news. The lock is taken per knob, so that a turn waits for one reading only.
func (w *watch) poll(ctx context.Context) {
	lost := w.pass(ctx, refused)
	if len(lost) > 0 { // the card may have gone in the middle of that
		lost = append(lost, w.pass(ctx, unseen, refused)...)
	}
	w.tellLost(lost)
}

// pass looks at every knob but those in some states.
func (w *watch) pass(ctx context.Context, but ...state) (lost []loss) {
	for i, k := range w.board.knobs {
		if ctx.Err() != nil {
			break
		}
		if slices.Contains(but, w.seen[i]) {
			continue
		}
		if err := w.look(ctx, i, k); err != nil {
			lost = append(lost, loss{k.Spec(), err})
		}
	}
	return lost
}

// tellLost says what cannot be read any more: a card that is gone is one event.
func (w *watch) tellLost(lost []loss) {
	for _, l := range lost {
		e := sources.Event{At: time.Now(), Kind: sources.SourceNote, Subject: l.spec.Name,
			Text: l.spec.Name + " cannot be read any more: " + printable(l.err.Error())}
		if card := l.spec.Subject; card != "" && !w.reads(card) {
			if w.away[card] {
				continue
			}
			w.away[card] = true
			e.Subject, e.Error, e.Text = card, true, "knobs of "+card+" cannot be read: "+printable(l.err.Error())
		}
		tell(w.sink, e)
	}
}

// reads tells whether any knob of a card can be read.
func (w *watch) reads(card string) bool {
	for i, k := range w.board.knobs {
		if w.seen[i] == seen && k.Spec().Subject == card {
			return true
		}
	}
	return false
}

// look reads knob i and says what is new of it. The error is for one that could be
// read until now; its value is not known from here on.
func (w *watch) look(ctx context.Context, i int, k sources.Knob) (lost error) {
	b := w.board
	b.mu.Lock()
	defer b.mu.Unlock()
	spec := k.Spec()
	value, err := k.Get(ctx)
	before, known := b.known[spec.Name]
	now := time.Now()
	since := now.Sub(w.read[i])
	w.read[i] = now
	switch {
	case err == nil && w.seen[i] != seen:
		w.found(i, spec, value)
	case err == nil && known && value != before:
		b.known[spec.Name] = value
		tell(w.sink, sources.Event{At: now, Span: since, Kind: sources.KnobDrifted, Subject: spec.Name, Old: before, New: value,
			Text: w.whoTurned(i, spec, before, value)})
	case w.seen[i] == unseen && errors.Is(err, errors.ErrUnsupported):
		w.seen[i] = refused
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, Knob: locked(spec, err)})
	case err != nil && w.seen[i] == seen:
		w.seen[i], w.was[i] = unseen, before
		delete(b.known, spec.Name)
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, Knob: locked(spec, err)})
		return err
	}
	return nil
}

// locked is the description of a knob that cannot be read.
func locked(spec sources.KnobSpec, err error) *sources.KnobSpec {
	if spec.Locked == "" {
		spec.Locked = printable(err.Error())
	}
	return &spec
}

// found says a knob that is read for the first time, or again.
func (w *watch) found(i int, spec sources.KnobSpec, value string) {
	now := time.Now()
	if w.away[spec.Subject] {
		delete(w.away, spec.Subject)
		tell(w.sink, sources.Event{At: now, Kind: sources.SourceNote, Subject: spec.Subject,
			Text: "knobs of " + spec.Subject + " can be read again"})
	}
	w.seen[i] = seen
	w.board.known[spec.Name] = value
	w.entries[i], _ = w.board.journal.entry(spec)
	tell(w.sink, sources.Event{At: now, Kind: sources.KnobSeen, Subject: spec.Name, New: value, Knob: &spec})
	if was := w.was[i]; was != "" && was != value {
		tell(w.sink, sources.Event{At: now, Kind: sources.KnobDrifted, Subject: spec.Name, Old: was, New: value,
			Text: "found so when it could be read again"})
	}
	w.was[i] = ""
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
	return join("changed, and netwatch did not turn it", w.habit(i, before, value))
}

// habit is why the driver may have taken a knob back itself.
func (w *watch) habit(i int, before, value string) string {
	if o, ok := w.board.knobs[i].(offload); ok && o.habit != nil {
		return o.short(before, value, false)
	}
	return ""
}
