package knobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"netwatch/sources"
)

// A Fate says what became of an entry of the journal.
type Fate uint8

const (
	PutBack Fate = iota + 1 // the knob has its first value again
	Dropped                 // nothing to put back: it has that value, or somebody else has turned it since
	Left                    // not for now: of another boot or network, or its netwatch still runs
	Failed                  // it could not be put back
)

// An Outcome is what became of one entry, in words.
type Outcome struct {
	Entry Entry
	Fate  Fate
	Text  string
}

// Restore puts back what the journal tells, the newest turn first, each only if its
// value is still the one netwatch set. Entries of another boot and of a netwatch
// that still runs are left unless forced; those of another network always. open
// finds the knob of an entry. The error is for a journal that cannot be used.
func (j *Journal) Restore(ctx context.Context, force bool, open func(Entry) (sources.Knob, error)) ([]Outcome, error) {
	l, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	defer l.close()
	decided := l.resolve(func(e Entry) (string, error) {
		k, err := open(e)
		if err != nil {
			return "", err
		}
		return k.Get(ctx)
	})
	if decided {
		if err := l.save(); err != nil {
			return nil, err
		}
	}
	var all []Outcome
	for _, e := range slices.Backward(slices.Clone(l.entries)) {
		if !e.Turned() { // it could not be read, and neither could the one that is told
			continue
		}
		o := Outcome{Entry: e}
		o.Fate, o.Text = l.putBack(ctx, e, force, open)
		o.Text = printable(o.Text)
		if o.Fate == PutBack || o.Fate == Dropped {
			if err := l.drop(l.same(e)); err != nil {
				return append(all, o), err
			}
		}
		all = append(all, o)
	}
	return all, nil
}

// same finds an entry again.
func (l *ledger) same(e Entry) *Entry {
	at := slices.Index(l.entries, e)
	if at < 0 {
		return nil
	}
	return &l.entries[at]
}

// putBack does one entry and says what came of it.
func (l *ledger) putBack(ctx context.Context, e Entry, force bool, open func(Entry) (sources.Knob, error)) (Fate, string) {
	name := e.Knob
	if e.Subject != "" {
		name += " of " + e.Subject
	}
	if e.Net != l.net {
		return Left, fmt.Sprintf("%s in another network namespace (%s)", e.words(name), e.Net)
	}
	k, err := open(e)
	if err == nil {
		err = mayTurnNow(k)
	}
	value := ""
	if err == nil {
		value, err = k.Get(ctx)
	}
	if err != nil {
		return Failed, fmt.Sprintf("%s: %v%s", e.words(name), err, l.renamed(e))
	}
	switch other := l.othersTurn(&e); {
	case other != 0 && !force:
		return Left, fmt.Sprintf("%s is %s and was %s: the netwatch that turned it (process %d) still runs and puts it back; --force does it now",
			name, value, e.Start, other)
	case value == e.Start:
		return Dropped, fmt.Sprintf("%s is %s, as it was", name, value)
	case e.Boot != l.boot && !force:
		return Left, fmt.Sprintf("%s is %s and was %s before it was turned on %s, before the host was booted; --force puts it back",
			name, value, e.Start, e.At.Format("2 Jan 15:04"))
	case !e.set(value) && e.Asked != "":
		return Failed, fmt.Sprintf("%s is %s and was %s: netwatch died while it turned it from %s to %s; by hand: %s",
			name, value, e.Start, e.Value, e.Asked, byHand(k.Spec(), e.Start))
	case !e.set(value):
		return Dropped, fmt.Sprintf("%s is left at %s: it is not the %s netwatch had set (it was %s at first)", name, value, e.Value, e.Start)
	}
	granted, err := set(ctx, k, value, e.Start)
	switch {
	case err != nil:
		return Failed, fmt.Sprintf("%s is %s and was %s: %v; by hand: %s", name, granted, e.Start, err, byHand(k.Spec(), e.Start))
	case granted != e.Start:
		return Failed, fmt.Sprintf("%s is %s and was %s: asked for %s, got %s", name, granted, e.Start, e.Start, granted)
	}
	where := ""
	if e.Subject != "" {
		where = " on " + e.Subject
	}
	return PutBack, fmt.Sprintf("put back %s=%s%s (was turned to %s)", e.Knob, e.Start, where, value)
}

// renamed says under which name the interface of an entry may be found now, and what to
// do then. A number that another interface has come to have looks the same, so that a
// person must decide.
func (j *Journal) renamed(e Entry) string {
	if e.Subject == "" || e.Index == 0 || !j.Here(e) || indexOf(e.Subject) != 0 {
		return ""
	}
	i, err := net.InterfaceByIndex(e.Index)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("; the interface of its number %d is %s now: if that is %s renamed, name it %s again (%s) and type netwatch restore",
		e.Index, i.Name, e.Subject, e.Subject, fmt.Sprintf(renameCommand, i.Name, e.Subject))
}

// indexOf is the number of an interface, 0 where there is none of the name.
func indexOf(iface string) int {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return 0
	}
	return i.Index
}

// mayTurnNow says why a knob is locked.
func mayTurnNow(k sources.Knob) error {
	if locked := k.Spec().Locked; locked != "" {
		return errors.New(locked)
	}
	return nil
}
