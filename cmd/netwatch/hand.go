package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"netwatch/sources"
	"netwatch/sources/agent"
	"netwatch/sources/ends"
	"netwatch/sources/hub"
	"netwatch/sources/knobs"
)

// A hand turns knobs and can undo it.
type hand interface {
	sources.Turner
	Changed() []knobs.Change
	Restore(context.Context) error
	Keep(ctx context.Context, names ...string) error // those with these names, all where none is named
}

// An agentHand turns the knobs of this host by an agent, which the first turn starts.
// Until then, and when the agent has died, a board here reads them: with an agent
// it would take the agent's turns for somebody else's.
type agentHand struct {
	*options
	iface  string
	knobs  []sources.Knob
	rights *rights
	hub    *hub.Hub
	both   *ends.Ends // overhears what the turns of this end come to
	watch  context.Context

	mu       sync.Mutex
	client   *agent.Client // nil: none is running
	stopRead func()        // ends the board here
	lost     []knobs.Change
}

// newAgentHand starts to read the knobs.
func (p *plan) newAgentHand(h *hub.Hub, both *ends.Ends, watch context.Context) (*agentHand, error) {
	r, err := newRights(p.knobs)
	if err != nil {
		return nil, err
	}
	a := &agentHand{options: p.options, iface: p.iface, knobs: p.knobs, rights: r, hub: h, both: both, watch: watch}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read()
	if !r.have {
		go a.unlock()
	}
	if j := journal(p.iface); j != nil {
		for _, e := range j.Left() {
			h.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: "knobs", Subject: e.Knob, Old: e.Start, New: e.Value, Error: true, Text: fmt.Sprintf(
				"%s by a netwatch that is gone; netwatch restore puts it back", e.Words())})
		}
	}
	return a, nil
}

// journal is that of this host, nil where there is none.
func journal(iface string) *knobs.Journal {
	j, err := knobs.OpenJournal(knobs.StateDir(), iface, nil)
	if err != nil {
		return nil
	}
	return j
}

// reader is a board that only reads; of the journal it learns what another netwatch
// turned.
func reader(sink sources.Sink, iface string, list []sources.Knob) *knobs.Board {
	return knobs.NewJournaled(sink, journal(iface), list...)
}

// read starts a new board that says all knobs again. a.mu is held.
func (a *agentHand) read() {
	ctx, stop := context.WithCancel(a.watch)
	done := a.hub.Go(ctx, a.both.Hear(reader(a.both, a.iface, a.knobs)))
	a.stopRead = func() { stop(); <-done }
}

// unlock says the knobs again, unlocked, when it is known that an agent could turn them.
func (a *agentHand) unlock() {
	if _, err := a.rights.prefix(a.watch); err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	unlocked := make([]sources.Knob, len(a.knobs)) // the board that reads holds the others
	for i, k := range a.knobs {
		unlocked[i] = throughAgent{k}
	}
	a.knobs = unlocked
	if a.client == nil && a.watch.Err() == nil {
		a.stopRead()
		a.read()
	}
}

// running is the agent. It is started if there is none.
func (a *agentHand) running(ctx context.Context) (*agent.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != nil {
		return a.client, nil
	}
	c, err := a.newClient(ctx, a.iface, a.rights)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(a.watch)
	done := a.hub.Go(life, a.both.Hear(c))
	if err := c.Ready(ctx); err != nil {
		end()
		return nil, err
	}
	a.stopRead()
	a.client = c
	go func() {
		<-done
		end()
		a.gone(c)
	}()
	return c, nil
}

// gone takes note of an agent that died, and reads the knobs here again.
func (a *agentHand) gone(c *agent.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.client = nil
	a.lost = append(a.lost, c.Changed()...)
	if a.watch.Err() == nil {
		a.read()
	}
}

// Ready implements ends.Readier: the agent runs and has introduced itself.
func (a *agentHand) Ready(ctx context.Context) error {
	_, err := a.running(ctx)
	return err
}

// Turn implements sources.Turner.
func (a *agentHand) Turn(ctx context.Context, host, knob, value string) error {
	c, err := a.running(ctx)
	if err != nil {
		return err
	}
	return c.Turn(ctx, host, knob, value)
}

// agent is the one that runs, and what is left turned by one that does not.
func (a *agentHand) agent() (c *agent.Client, lost []knobs.Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ours []knobs.Change
	if a.client != nil {
		ours = a.client.Changed()
	}
	for _, l := range a.lost {
		same := func(c knobs.Change) bool { return c.Knob == l.Knob }
		value, err := valueOf(a.knobs, l.Knob)
		if (err != nil || value != l.Start) && !slices.ContainsFunc(ours, same) && !slices.ContainsFunc(lost, same) {
			lost = append(lost, l)
		}
	}
	return a.client, lost
}

// Changed tells which knobs are not as they were, oldest turn first.
func (a *agentHand) Changed() []knobs.Change {
	c, changed := a.agent()
	if c != nil {
		changed = append(changed, c.Changed()...)
	}
	return changed
}

// Restore has the agent put back what it turned, and before it what an agent turned that
// died.
func (a *agentHand) Restore(ctx context.Context) error {
	_, lost := a.agent()
	var failed []error
	for _, l := range lost {
		failed = append(failed, a.putBack(ctx, l))
	}
	if c, _ := a.agent(); c != nil {
		failed = append(failed, c.Restore(ctx))
	}
	return errors.Join(failed...)
}

// putBack has a new agent turn a knob to what it was, unless somebody turned it since the
// old one died.
func (a *agentHand) putBack(ctx context.Context, l knobs.Change) error {
	if value, err := valueOf(a.knobs, l.Knob); err == nil && value != l.Value {
		return nil
	}
	err := a.Turn(ctx, "", l.Knob, l.Start)
	if value, unread := valueOf(a.knobs, l.Knob); err == nil && unread == nil && value != l.Start {
		err = fmt.Errorf("it is still %s", value)
	}
	if err != nil {
		return fmt.Errorf("%s is %s and was %s: its agent died; netwatch restore puts it back (%w)", l.Knob, l.Value, l.Start, err)
	}
	return nil
}

// Keep leaves the named knobs as they are, everything where none is named. Of what an
// agent turned that died nothing more is said then.
func (a *agentHand) Keep(ctx context.Context, names ...string) error {
	a.mu.Lock()
	a.lost = slices.DeleteFunc(a.lost, func(c knobs.Change) bool { return len(names) == 0 || slices.Contains(names, c.Knob) })
	a.mu.Unlock()
	if c, _ := a.agent(); c != nil {
		return c.Keep(ctx, names...)
	}
	return nil
}

// valueOf reads one of the knobs.
func valueOf(list []sources.Knob, name string) (string, error) {
	for _, k := range list {
		if k.Spec().Name == name {
			return k.Get(context.Background())
		}
	}
	return "", fmt.Errorf("no knob %s", name)
}

// leftAt says why a knob that is turned no more by this netwatch has a value that is
// not its first one. The value of this netwatch is left only to another one that uses it.
func leftAt(c knobs.Change, value string) (words string, another bool) {
	why := fmt.Sprintf("it is not the %s netwatch had set", c.Value)
	if another = value == c.Value; another {
		why = "another netwatch turned it since"
	}
	return fmt.Sprintf("%s is left at %s: %s (it was %s at first)", c.Knob, value, why, c.Start), another
}

// restoreAll is restore on every end.
func (p *plan) restoreAll(w io.Writer, here hand) error {
	ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
	defer cancel()
	all := []error{p.restore(w, here)}
	for _, peer := range p.peers {
		changed, unknown := peer.standing()
		kept, back := p.split(peer.host, changed)
		lostKept, lostBack := p.split(peer.host, unknown)
		all = append(all, peer.leave(ctx, w, kept, back), peer.unasked(lostKept, lostBack))
	}
	var words []error
	unrestored := false
	for _, err := range all {
		if e := (*exitError)(nil); errors.As(err, &e) {
			unrestored, err = true, e.err
		}
		words = append(words, err)
	}
	if unrestored { // one error, since only the first of several would be told
		return &exitError{exitUnrestored, errors.Join(words...)}
	}
	return errors.Join(words...)
}

// restore puts back what was turned, or keeps it, and says so. What cannot be put
// back is an exit code of its own.
func (p *plan) restore(w io.Writer, h hand) error {
	kept, back := p.split("", h.Changed())
	ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
	defer cancel()
	if len(kept) > 0 {
		if err := h.Keep(ctx, names(kept)...); err != nil {
			return fmt.Errorf("cannot keep what was turned: %w", err)
		}
		sayKept(w, "", kept)
	}
	if len(back) == 0 {
		return nil
	}
	already := p.already(back)
	err := h.Restore(ctx)
	left := false
	still := h.Changed()
	for _, c := range back {
		switch value, unread := valueOf(p.knobs, c.Knob); {
		case unread != nil: // the error tells
		case value == c.Start && slices.Contains(already, c.Knob):
			fmt.Fprintf(w, "netwatch: %s\n", isBack(c))
		case value == c.Start:
			fmt.Fprintf(w, "netwatch: put back %s=%s (was turned to %s)\n", c.Knob, c.Start, c.Value)
		case value != c.Value || !slices.ContainsFunc(still, func(s knobs.Change) bool { return s.Knob == c.Knob }):
			words, another := leftAt(c, value)
			left = left || another
			fmt.Fprintf(w, "netwatch: %s\n", words)
		}
	}
	if err != nil {
		return &exitError{exitUnrestored, fmt.Errorf("not everything could be put back: %w", err)}
	}
	if left {
		return &exitError{exitUnrestored, nil}
	}
	return nil
}

// already names the knobs that have their first value again before netwatch gave it.
func (p *plan) already(changed []knobs.Change) []string {
	var out []string
	for _, c := range changed {
		if value, err := valueOf(p.knobs, c.Knob); err == nil && value == c.Start {
			out = append(out, c.Knob)
		}
	}
	return out
}

// isBack says of a knob that somebody else has put it back.
func isBack(c knobs.Change) string {
	return fmt.Sprintf("%s is %s again, not by this netwatch", c.Knob, c.Start)
}
