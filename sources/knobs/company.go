package knobs

import (
	"context"
	"fmt"
	"os"
	"slices"

	"netwatch/sources"
)

// The offloads of a card hang together: TSO needs txcsum, for a card that cuts a
// packet up has to sum the pieces, and goes when txcsum goes. When txcsum comes back
// Linux brings TSO back by itself; FreeBSD's drivers that take it along (mlx5en,
// cxgbe, sfxge) leave it off. So all of them are looked at after the turn of one, and
// what netwatch has to bring back is in the journal before it.

// A companion is an offload that may go along with the turn of another.
type companion struct {
	offload
	old, home string
	noted     bool // the journal knew before the turn
}

// A taking is what the turn of another knob made of a knob.
type taking struct {
	by      string // the other knob
	was, is string
}

// company is the other offloads of the card before one of them is turned to value.
// Those that the driver takes along, and leaves there, are noted in the journal. They
// stand before the one that is turned: it is put back first, and then takes them.
func (b *Board) company(ctx context.Context, l *ledger, k sources.Knob, value string) []companion {
	turned, ok := k.(offload)
	if !ok {
		return nil
	}
	var all []companion
	for _, k := range b.knobs {
		o, ok := k.(offload)
		if !ok || o.spec.Locked != "" || o.spec.Name == turned.spec.Name {
			continue
		}
		old, err := o.Get(ctx)
		if err != nil {
			continue
		}
		c := companion{offload: o, old: old}
		if to := o.without(turned, value); to != old {
			c.home, c.noted = l.beginAlong(o.spec, old, to, turned.spec.Name), true
		}
		all = append(all, c)
	}
	return all
}

// settle says and remembers what the turn of a knob made of its company.
func (b *Board) settle(ctx context.Context, l *ledger, company []companion, turned string) {
	for _, c := range company {
		value, err := c.Get(ctx)
		if err != nil {
			value = c.old
		}
		moved, name := value != c.old, c.spec.Name
		if moved && !c.noted {
			c.home = l.begin(c.spec, c.old, c.old, value)
		}
		if moved || c.noted {
			l.finish(c.spec, c.old, value)
		}
		if !moved {
			continue
		}
		l.stand(name, turned, c.spec.Subject)
		b.remember(name, c.home, c.old, value)
		b.changed = before(b.changed, b.changedAt(name), b.changedAt(turned))
		was := c.old
		if t, ok := b.taken[name]; ok && t.by == turned {
			was = t.was
		}
		b.taken[name] = taking{turned, was, value}
		b.wentAlong(name, turned, c.old, value)
	}
}

// bringBack turns back what went along with a knob that is where it started again,
// unless somebody else has turned it since.
func (b *Board) bringBack(ctx context.Context, l *ledger, turned string) {
	if b.changedAt(turned) >= 0 {
		return
	}
	for _, k := range b.knobs {
		name := k.Spec().Name
		t, ok := b.taken[name]
		if !ok || t.by != turned {
			continue
		}
		delete(b.taken, name)
		if value, err := k.Get(ctx); err == nil && value == t.is && value != t.was {
			_, _ = b.turn(ctx, l, k, t.was, "back with "+turned) // what it came to is said
		}
	}
}

// ledger opens the journal for turns of this board's knobs.
func (b *Board) ledger(ctx context.Context) (*ledger, error) {
	l, err := b.journal.open(ctx)
	if err != nil {
		return nil, err
	}
	l.resolve(func(e Entry) (string, error) {
		k, err := b.find(e.Knob)
		switch {
		case err != nil:
			return "", err
		case k.Spec().Subject != e.Subject:
			return "", fmt.Errorf("%s of %s: %w", e.Knob, e.Subject, os.ErrNotExist)
		}
		return k.Get(ctx)
	})
	return l, nil
}

// stand puts the entry of a knob that went along before that of the turned one.
func (l *ledger) stand(name, turned, subject string) {
	if l == nil {
		return
	}
	at := func(knob string) int {
		return slices.IndexFunc(l.entries, func(e Entry) bool { return l.Here(e) && e.Subject == subject && e.Knob == knob })
	}
	l.entries = before(l.entries, at(name), at(turned))
}

// before moves item i to before item j, where both are there.
func before[T any](list []T, i, j int) []T {
	if i < 0 || j < 0 || i < j {
		return list
	}
	item := list[i]
	return slices.Insert(slices.Delete(list, i, i+1), j, item)
}

// beginAlong notes that a knob may be taken to a value by the turn of another one.
func (l *ledger) beginAlong(spec sources.KnobSpec, old, to, by string) (home string) {
	home = l.begin(spec, old, old, to)
	if e := l.find(spec); e != nil {
		e.Along = by
		l.stand(spec.Name, by, spec.Subject)
	}
	return home
}

// resolve decides of the knobs that may have gone along with a turn, which netwatch
// did not live to end, whether they did: the turned knob is where it should go, and so
// is the one that may have gone along. Anything else is no turn of netwatch's, and
// perhaps another's. What cannot be read is left undecided.
func (l *ledger) resolve(value func(Entry) (string, error)) (any bool) {
	if l == nil {
		return false
	}
	for _, e := range slices.Clone(l.entries) {
		if e.Along == "" || e.Net != l.net {
			continue
		}
		went, err := l.went(e, value)
		if err != nil {
			continue
		}
		now := l.same(e)
		if went {
			now.Value = e.Asked
		}
		now.Asked, now.Along = "", ""
		if now.Value == now.Start && now.Kept == "" {
			l.remove(now)
		}
		any = true
	}
	return any
}

func (l *ledger) went(e Entry, value func(Entry) (string, error)) (bool, error) {
	at := slices.IndexFunc(l.entries, func(t Entry) bool { return t.Knob == e.Along && t.beside(e) })
	if at < 0 {
		return false, nil
	}
	for _, x := range []Entry{l.entries[at], e} {
		if x.Asked == "" {
			return false, nil
		}
		if v, err := value(x); err != nil || v != x.Asked {
			return false, err
		}
	}
	return true, nil
}
