package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"netwatch/sources/knobs"
)

// Changed tells which of its knobs are not as they were.
func (p *peer) Changed() []knobs.Change {
	changed, _ := p.standing()
	return changed
}

// standing tells which of its knobs are not as they were, and which were turned by an
// agent that is gone and stand nobody knows how.
func (p *peer) standing() (changed, unknown []knobs.Change) {
	var ours []knobs.Change
	if c, err := p.agent(); err == nil {
		ours = c.Changed()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range slices.Backward(p.lost) { // of several the newest
		same := func(c knobs.Change) bool { return c.Knob == l.Knob }
		value, told := p.values[l.Knob]
		switch {
		case slices.ContainsFunc(ours, same) || slices.ContainsFunc(changed, same) || slices.ContainsFunc(unknown, same):
		case !told:
			unknown = append(unknown, l)
		case value == l.Value:
			changed = append(changed, l)
		}
	}
	return append(changed, ours...), unknown
}

// unasked says of knobs that were turned there, and of which its agent cannot be asked
// any more, what is known.
func (p *peer) unasked(kept, back []knobs.Change) error {
	all := slices.Concat(kept, back)
	if len(all) == 0 {
		return nil
	}
	var words []string
	for _, c := range all {
		words = append(words, fmt.Sprintf("%s (turned or being turned from %s to %s)", c.Knob, c.Start, c.Value))
	}
	done := "put back by this netwatch"
	switch {
	case len(back) == 0:
		done = "kept"
	case len(kept) > 0:
		done = "kept or put back by this netwatch"
	}
	err := fmt.Errorf("%s is gone: not known, and not %s: its %s; its agent puts back what it turned when it loses its link; %s does so if it was killed",
		p.host, done, strings.Join(words, ", "), p.restore)
	if len(back) == 0 {
		return err
	}
	return &exitError{exitUnrestored, err}
}

// leave restores or keeps what was turned over there and says so.
func (p *peer) leave(ctx context.Context, w io.Writer, kept, back []knobs.Change) error {
	if len(kept)+len(back) == 0 {
		return nil
	}
	c, err := p.agent()
	if err != nil { // since it was looked what is turned
		return p.unasked(kept, back)
	}
	if len(kept) > 0 {
		if err := c.Keep(ctx, names(kept)...); err != nil {
			return fmt.Errorf("%s: cannot keep what was turned: %w", p.host, err)
		}
		sayKept(w, p.host+": ", kept)
	}
	if len(back) == 0 {
		return nil
	}
	err = c.Restore(ctx)
	still, _ := p.standing()
	for _, l := range still {
		same := func(c knobs.Change) bool { return c.Knob == l.Knob }
		if slices.ContainsFunc(back, same) && !slices.ContainsFunc(c.Changed(), same) {
			err = errors.Join(err, c.Turn(ctx, p.host, l.Knob, l.Start))
		}
	}
	if err != nil {
		return &exitError{exitUnrestored, fmt.Errorf("%s: not everything could be put back: %w", p.host, err)}
	}
	left, used := c.Left(), false
	for _, k := range back {
		if i := slices.IndexFunc(left, func(l knobs.Change) bool { return l.Knob == k.Knob }); i >= 0 {
			if left[i].Value == k.Start {
				fmt.Fprintf(w, "netwatch: %s: %s\n", p.host, isBack(k))
				continue
			}
			words, another := leftAt(k, left[i].Value)
			used = used || another
			fmt.Fprintf(w, "netwatch: %s: %s\n", p.host, words)
			continue
		}
		fmt.Fprintf(w, "netwatch: %s: put back %s=%s (was turned to %s)\n", p.host, k.Knob, k.Start, k.Value)
	}
	if used {
		return &exitError{exitUnrestored, nil}
	}
	return nil
}
