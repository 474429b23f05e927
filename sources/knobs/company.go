package knobs

import (
	"context"

	"netwatch/sources"
)

// The offloads of a card hang together: TSO needs txcsum, for a card that cuts a
// packet up has to sum the pieces, and goes when txcsum goes. When txcsum comes back
// Linux brings TSO back by itself; FreeBSD's drivers that take it along (mlx5en,
// cxgbe, sfxge) leave it off. So the turn of an offload is one of all of them, in the
// journal too.

// A companion is an offload that may go along with the turn of another.
type companion struct {
	offload
	old, home string
}

// A taking is what the turn of another knob made of a knob.
type taking struct {
	by      string // the other knob
	was, is string
}

// company notes the other offloads of the card in the journal. They stand before the
// one that is turned: it is put back first, and then takes them.
func (b *Board) company(ctx context.Context, l *ledger, turned sources.Knob) []companion {
	if _, ok := turned.(offload); !ok {
		return nil
	}
	var all []companion
	for _, k := range b.knobs {
		o, ok := k.(offload)
		if !ok || o.spec.Locked != "" || o.spec.Name == turned.Spec().Name {
			continue
		}
		if old, err := o.Get(ctx); err == nil {
			all = append(all, companion{o, old, l.begin(o.spec, old, old, o.other(old))})
		}
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
		l.finish(c.spec, c.old, value)
		if value == c.old {
			continue
		}
		name := c.spec.Name
		b.remember(name, c.home, c.old, value)
		was := c.old
		if before, ok := b.taken[name]; ok && before.by == turned {
			was = before.was
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
