// Package knobs holds what can be read and turned on a host: interrupt
// moderation, segmentation offloads, the siftr switches, the congestion control,
// any sysctl. A knob is a row of a table over a small interface to the kernel.
//
// A Board turns knobs by name, reads each one back, remembers the value it had at
// first and puts it back on request. As a source it tells the values and
// notices when one changes that netwatch did not turn. With a Journal it keeps on
// disk what it turned, so that a crash or a power loss does not leave it turned. It
// starts no process.
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

// NeedsRoot is the lock of a knob that a privileged process could turn.
const NeedsRoot = "needs root"

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
	sink    sources.Sink
	journal *Journal // nil: nothing is kept on disk
	knobs   []sources.Knob

	mu      sync.Mutex
	known   map[string]string // the value said last
	changed []Change          // oldest first
	taken   map[string]taking // knobs that went along with the turn of another
}

// New makes a board that says what its turns did to sink, and keeps nothing on
// disk: for knobs that are only simulated, or only read.
func New(sink sources.Sink, knobs ...sources.Knob) *Board { return NewJournaled(sink, nil, knobs...) }

// NewJournaled makes a board that writes each turn into the journal before it
// makes it.
func NewJournaled(sink sources.Sink, j *Journal, knobs ...sources.Knob) *Board {
	return &Board{sink: sink, journal: j, knobs: knobs, known: map[string]string{}, taken: map[string]taking{}}
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
	if err := mayAsk(k, value); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.ledger(ctx)
	if err != nil {
		return fmt.Errorf("%s is not turned: %w", knob, err)
	}
	defer l.close()
	ctx = context.WithoutCancel(ctx) // what has begun is finished
	if _, err := b.turn(ctx, l, k, value, ""); err != nil {
		return err
	}
	b.bringBack(ctx, l, knob)
	return nil
}

// Check says why a turn could not be tried, as Turn would, but for the rights of
// this process: the error satisfies errors.Is for os.ErrNotExist (no such knob),
// ErrValue or errors.ErrUnsupported (locked for good).
func (b *Board) Check(knob, value string) error {
	k, err := b.find(knob)
	if err != nil {
		return err
	}
	if err := mayAsk(k, value); !errors.Is(err, os.ErrPermission) {
		return err
	}
	if c, ok := k.(checker); ok {
		return c.check(value)
	}
	return nil
}

// mayAsk says whether a person may ask this process for a turn.
func mayAsk(k sources.Knob, value string) error {
	switch spec := k.Spec(); spec.Locked {
	case "":
	case NeedsRoot:
		return fmt.Errorf("%s %s: %s: %w", spec.Name, NeedsRoot, byHand(spec, value), os.ErrPermission)
	default:
		return fmt.Errorf("%s is locked: %s: %w", spec.Name, spec.Locked, errors.ErrUnsupported)
	}
	if c, ok := k.(checker); ok {
		return c.check(value)
	}
	return nil
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

// restored is said with a turn that puts a knob back.
const restored = "restored"

// turn does one turn with the locks held; why is said with the result. refused is
// what the kernel said to a turn that was tried, err why it could not be. What
// cannot be journalled is not turned, but it is put back.
func (b *Board) turn(ctx context.Context, l *ledger, k sources.Knob, value, why string) (refused, err error) {
	spec := k.Spec()
	old, err := k.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", spec.Name, err)
	}
	began := time.Now()
	b.say(sources.Event{At: began, Kind: sources.KnobTurning, Subject: spec.Name, Old: old, Asked: value, Text: why})

	along := b.company(ctx, l, k, value)
	home := l.begin(spec, old, b.start(spec.Name, old), value)
	unwritten := l.save()
	granted := old
	if unwritten == nil || why == restored {
		granted, refused = set(ctx, k, old, value)
	} else {
		refused = fmt.Errorf("not turned: %w", unwritten)
	}
	b.settle(ctx, l, along, spec.Name)
	now := time.Now()
	l.finish(spec, old, granted)
	unwritten = l.save()
	e := sources.Event{At: now, Span: now.Sub(began), Kind: sources.KnobTurned, Subject: spec.Name,
		Old: old, Asked: value, New: granted, Text: why}
	if refused != nil {
		e.Kind, e.Error, e.Text = sources.KnobFailed, true, printable(refused.Error())
	}
	e.Text = join(e.Text, short(k, value, granted, refused != nil))
	b.remember(spec.Name, home, old, granted)
	if granted == value {
		delete(b.taken, spec.Name) // it is where it is by a turn of its own
	}
	b.known[spec.Name] = granted
	b.say(e)
	if unwritten != nil {
		b.note(spec.Name, unwritten.Error())
	}
	b.sideEffects(ctx, spec.Name)
	return refused, nil
}

// A knob that is asked for more than its card can do may know why that is. The words of
// a refusal tell the rest.
func short(k sources.Knob, asked, granted string, refused bool) string {
	if o, ok := k.(offload); ok && granted != asked {
		return o.short(asked, granted, refused)
	}
	return ""
}

func join(words, more string) string {
	if words == "" || more == "" {
		return words + more
	}
	return words + "; " + more
}

// set turns a knob and reads it back.
func set(ctx context.Context, k sources.Knob, old, value string) (granted string, refused error) {
	refused = k.Set(ctx, value)
	granted, unread := k.Get(ctx)
	switch {
	case unread == nil:
		return granted, refused
	case refused == nil:
		return value, fmt.Errorf("set, but cannot be read back: %w", unread)
	}
	return old, refused
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
			b.wentAlong(name, turned, before, value)
		}
	}
}

func (b *Board) wentAlong(name, turned, before, value string) {
	b.known[name] = value
	b.say(sources.Event{At: time.Now(), Kind: sources.KnobDrifted, Subject: name, Old: before, New: value,
		Text: "changed with the turn of " + turned})
}

// start is the value that this board puts a knob back to, old for one it did not turn.
func (b *Board) start(name, old string) string {
	if at := b.changedAt(name); at >= 0 {
		return b.changed[at].Start
	}
	return old
}

func (b *Board) changedAt(name string) int {
	return slices.IndexFunc(b.changed, func(c Change) bool { return c.Knob == name })
}

// remember keeps where a knob is put back to as long as it is not there.
func (b *Board) remember(name, home, old, granted string) {
	at := b.changedAt(name)
	switch {
	case at < 0 && granted != old && granted != home:
		b.changed = append(b.changed, Change{name, home, granted})
	case at >= 0 && granted == b.changed[at].Start:
		b.forget(name)
	case at >= 0:
		b.changed[at].Value = granted
	}
}

func (b *Board) forget(name string) {
	b.changed = slices.DeleteFunc(b.changed, func(c Change) bool { return c.Knob == name })
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
		at := b.changedAt(c.Knob)
		if at < 0 { // it went back with the one before
			continue
		}
		c = b.changed[at]
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
	l, err := b.ledger(ctx)
	if err != nil {
		b.note(c.Knob, err.Error())
	}
	defer l.close()
	value, err := k.Get(ctx)
	if err != nil {
		return err
	}
	entry := l.find(k.Spec())
	other := l.othersTurn(entry)
	switch {
	case other != 0:
		b.forget(c.Knob)
		b.note(c.Knob, fmt.Sprintf("%s is left at %s: another netwatch (process %d) has turned it since, and puts it back to %s",
			c.Knob, value, other, entry.home()))
		return nil
	case value != c.Value && (entry == nil || !entry.set(value)):
		b.forget(c.Knob)
		b.note(c.Knob, fmt.Sprintf("%s is left at %s: it is not the %s netwatch had set (it was %s at first)",
			c.Knob, value, c.Value, c.Start))
		return l.drop(entry)
	}
	refused, err := b.turn(ctx, l, k, c.Start, restored)
	if err := cmp.Or(refused, err); err != nil {
		return err
	}
	if at := b.changedAt(c.Knob); at >= 0 {
		return fmt.Errorf("asked for %s, got %s", c.Start, b.changed[at].Value)
	}
	return nil
}

// Keep leaves the changed knobs with these names as they are, every one where none is
// named. The journal knows them as kept: Restore of a later board goes back to that,
// Journal.Restore to the first value.
func (b *Board) Keep(ctx context.Context, names ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.journal.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	b.changed = slices.DeleteFunc(b.changed, func(c Change) bool {
		if len(names) > 0 && !slices.Contains(names, c.Knob) {
			return false
		}
		if k, err := b.find(c.Knob); err == nil {
			l.keep(k.Spec())
		}
		return true
	})
	return l.save()
}

func (b *Board) note(knob, text string) {
	b.say(sources.Event{At: time.Now(), Kind: sources.SourceNote, Subject: knob, Text: printable(text)})
}

func (b *Board) say(e sources.Event) { tell(b.sink, e) }

func tell(sink sources.Sink, e sources.Event) {
	e.Source = "knobs"
	sink.Event(e)
}

// byHand is what a person would type.
func byHand(spec sources.KnobSpec, value string) string {
	return strings.ReplaceAll(spec.Command, "%s", value)
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
