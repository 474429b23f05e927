// Package knobs holds what can be read and turned on a host: interrupt
// moderation, segmentation offloads, the siftr switches, the congestion control,
// any sysctl. A knob is a row of a table over a small interface to the kernel.
//
// A Board turns knobs by name, reads each one back, remembers the value it had at
// first and puts it back on request. As a source it tells the values and
// notices when one changes that netwatch did not turn. It keeps nothing on disk
// and starts no process.
package knobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"netwatch/sources"
)

const pollEvery = time.Second

// needsRoot is the lock of a knob that a privileged process could turn.
const needsRoot = "needs root"

// ErrValue is wrapped by the error for a value that is none of the knob's.
var ErrValue = errors.New("not a value of this knob")

// A Change is a knob that does not have the value it had at first.
type Change struct {
	Knob  string // its name
	Start string // before netwatch turned it
	Value string // as netwatch left it, read back
}

// A Board is the knobs of this host for one interface. Its methods may be called
// from any goroutine; turns, restores and polls exclude each other.
type Board struct {
	sink  sources.Sink
	knobs []sources.Knob

	mu      sync.Mutex
	known   map[string]string // the value said last
	changed []Change          // oldest first
}

// New makes a board that says what its turns did to sink.
func New(sink sources.Sink, knobs ...sources.Knob) *Board {
	return &Board{sink: sink, knobs: knobs, known: map[string]string{}}
}

// Specs describes the knobs in the order they were given.
func (b *Board) Specs() []sources.KnobSpec {
	specs := make([]sources.KnobSpec, len(b.knobs))
	for i, k := range b.knobs {
		specs[i] = k.Spec()
	}
	return specs
}

// Turn sets a knob of this host (host "") and reads it back; it returns when the
// kernel is done, which takes 1.2 s for an offload of em(4). What the kernel made
// of it is an event; the error is for a turn that could not be tried: an unknown
// knob or value, a knob that is locked, or one that cannot be read.
func (b *Board) Turn(ctx context.Context, host, knob, value string) error {
	if host != "" {
		return fmt.Errorf("host %s: this board turns the knobs of its own host: %w", host, errors.ErrUnsupported)
	}
	k, err := b.find(knob)
	if err != nil {
		return err
	}
	switch spec := k.Spec(); spec.Locked {
	case "":
	case needsRoot:
		return fmt.Errorf("%s %s: %s: %w", knob, needsRoot, strings.ReplaceAll(spec.Command, "%s", value), os.ErrPermission)
	default:
		return fmt.Errorf("%s is locked: %s: %w", knob, spec.Locked, errors.ErrUnsupported)
	}
	if c, ok := k.(checker); ok {
		if err := c.check(value); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err = b.turn(ctx, k, value, "")
	return err
}

// A checker knows the words it takes. It is asked for a person's turns only: a
// restore sets what was there before, also what no person may ask for.
type checker interface{ check(value string) error }

func notAmong(spec sources.KnobSpec, value string) error {
	return fmt.Errorf("%s takes %s, not %q: %w", spec.Name, strings.Join(spec.Values, ", "), value, ErrValue)
}

func (b *Board) find(name string) (sources.Knob, error) {
	var names []string
	for _, k := range b.knobs {
		spec := k.Spec()
		if spec.Name == name {
			return k, nil
		}
		names = append(names, spec.Name)
	}
	return nil, fmt.Errorf("no knob %q; there are %s: %w", name, strings.Join(names, ", "), os.ErrNotExist)
}

// turn does one turn with the lock held; why is said with the result. refused is
// what the kernel said to a turn that was tried, err why it could not be.
func (b *Board) turn(ctx context.Context, k sources.Knob, value, why string) (refused, err error) {
	name := k.Spec().Name
	old, err := k.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	began := time.Now()
	b.say(sources.Event{At: began, Kind: sources.KnobTurning, Subject: name, Old: old, Asked: value, Text: why})

	refused = k.Set(ctx, value)
	granted, unread := k.Get(ctx)
	switch {
	case unread == nil:
	case refused == nil:
		refused = fmt.Errorf("set, but cannot be read back: %w", unread)
		granted = value
	default:
		granted = old
	}
	now := time.Now()
	e := sources.Event{At: now, Span: now.Sub(began), Kind: sources.KnobTurned, Subject: name,
		Old: old, Asked: value, New: granted, Text: why}
	if refused != nil {
		e.Kind, e.Error, e.Text = sources.KnobFailed, true, printable(refused.Error())
	}
	b.remember(name, old, granted)
	b.known[name] = granted
	b.say(e)
	b.sideEffects(ctx, name)
	return refused, nil
}

// sideEffects tells of other knobs that changed with the one that was turned: a
// driver may flip two capabilities when one is asked for.
func (b *Board) sideEffects(ctx context.Context, turned string) {
	for _, k := range b.knobs {
		name := k.Spec().Name
		before, known := b.known[name]
		if name == turned || !known {
			continue
		}
		if value, err := k.Get(ctx); err == nil && value != before {
			b.known[name] = value
			b.say(sources.Event{At: time.Now(), Kind: sources.KnobDrifted, Subject: name, Old: before, New: value,
				Text: "changed with the turn of " + turned})
		}
	}
}

// remember keeps the first value of a knob as long as it differs from the last.
func (b *Board) remember(name, old, granted string) {
	at := slices.IndexFunc(b.changed, func(c Change) bool { return c.Knob == name })
	switch {
	case at < 0 && granted != old:
		b.changed = append(b.changed, Change{name, old, granted})
	case at >= 0 && granted == b.changed[at].Start:
		b.changed = slices.Delete(b.changed, at, at+1)
	case at >= 0:
		b.changed[at].Value = granted
	}
}

// Changed tells which knobs do not have the value they had at first, oldest turn
// first.
func (b *Board) Changed() []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.changed)
}

// Restore puts every changed knob back, newest turn first. A knob that somebody
// else has turned since is left alone, and that is said. The error names the
// knobs that could not be put back; they stay on the list for another call. It may be
// called again and from several goroutines: what is restored is restored once.
func (b *Board) Restore(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var failures []error
	for _, c := range slices.Backward(slices.Clone(b.changed)) {
		if err := b.restore(ctx, c); err != nil {
			failures = append(failures, fmt.Errorf("%s is %s and was %s: %w", c.Knob, c.Value, c.Start, err))
		}
	}
	return errors.Join(failures...)
}

func (b *Board) restore(ctx context.Context, c Change) error {
	k, err := b.find(c.Knob)
	if err != nil {
		return err
	}
	value, err := k.Get(ctx)
	if err != nil {
		return err
	}
	if value != c.Value {
		b.changed = slices.DeleteFunc(b.changed, func(x Change) bool { return x.Knob == c.Knob })
		b.say(sources.Event{At: time.Now(), Kind: sources.SourceNote, Subject: c.Knob, Old: c.Value, New: value,
			Text: fmt.Sprintf("%s is left at %s: it is not the %s netwatch had set (it was %s at first)", c.Knob, value, c.Value, c.Start)})
		return nil
	}
	refused, err := b.turn(ctx, k, c.Start, "restored")
	if err := cmp.Or(refused, err); err != nil {
		return err
	}
	if at := slices.IndexFunc(b.changed, func(x Change) bool { return x.Knob == c.Knob }); at >= 0 {
		return fmt.Errorf("asked for %s, got %s", c.Start, b.changed[at].Value)
	}
	return nil
}

func (b *Board) say(e sources.Event) { tell(b.sink, e) }

func tell(sink sources.Sink, e sources.Event) {
	e.Source = "knobs"
	sink.Event(e)
}

// printable replaces control characters: the words of a driver reach the screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
