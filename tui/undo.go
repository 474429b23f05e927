package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/panes"
)

// undo turns what was turned last, and is not undone yet, back to what it was, on all
// ends where it was turned on all. So each call goes one turn further back.
func (m *model) undo() tea.Cmd {
	changes := m.lastTurn()
	for i := range changes {
		changes[i].undo = true
	}
	if len(changes) == 0 {
		m.notice("nothing was turned")
		return nil
	}
	var all knob
	for _, c := range changes {
		all = append(all, c.knob...)
	}
	if why := m.refusal(all...); why != "" {
		m.notice(why)
		return nil
	}
	if len(changes) == 1 {
		return m.change(changes[0])
	}
	if !drops(all) {
		return m.start(changes)
	}
	m.confirm(m.putBack(changes), changes)
	return nil
}

// An undone is what one U began: turns that take an earlier one back.
type undone struct {
	changes []change
	at      time.Time
	counted bool // by a walk
}

// clocks is how far the time of another host's events may be off.
const clocks = 200 * time.Millisecond

// of finds the change that an event is the end of, -1 if it is of none.
func (u undone) of(e sources.Event) int {
	if e.At.Before(u.at.Add(-clocks)) {
		return -1
	}
	return slices.IndexFunc(u.changes, func(c change) bool {
		both := len(c.knob) > 1
		return c.knob.name() == e.Subject && c.value == e.New && both == (e.Kind == sources.KnobBoth) && (both || c.knob[0].Host == e.Host)
	})
}

// A walk goes back over the events from the newest turn.
type walk struct {
	undos  []undone             // those whose events are still to come
	within map[string]time.Time // knobs turned on all ends at once, and when that began
	skip   int                  // turns that are undone already
}

// stands tells whether an event is a turn that is not undone.
func (w *walk) stands(e sources.Event) bool {
	began, part := w.within[e.Subject]
	switch {
	case e.Kind == sources.KnobBoth:
		w.within[e.Subject] = e.At.Add(-e.Span)
		if e.Error {
			return false
		}
	case e.Kind != sources.KnobTurned || e.Old == e.New || part && !e.At.Before(began):
		return false
	}
	for i := len(w.undos) - 1; i >= 0; i-- {
		u := &w.undos[i]
		at := u.of(e)
		if at < 0 {
			continue
		}
		if !u.counted {
			u.counted = true
			w.skip++
		}
		u.changes = slices.Concat(u.changes[:at], u.changes[at+1:])
		return false
	}
	w.skip--
	return w.skip < 0
}

// lastTurn is what would undo the newest turn that stands: a turn of U's takes one
// earlier turn with it. One whose knob is back where it was, by whatever hand, needs no
// undoing.
func (m *model) lastTurn() []change {
	events := m.cfg.Session.Events()
	w := walk{slices.Clone(m.undos), map[string]time.Time{}, 0}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if !w.stands(e) {
			continue
		}
		w.skip = 0
		if e.Kind == sources.KnobBoth {
			if each := m.unturn(events[:i], e.Subject); len(each) > 0 {
				return each
			}
			continue
		}
		if k := m.cfg.Session.Knob(e.Host, e.Subject); k != nil && k.Value != e.Old {
			return []change{{knob: knob{k}, value: e.Old}}
		}
	}
	return nil
}

// unturn is what undoes the turn of all ends that the events end with.
func (m *model) unturn(events []sources.Event, name string) []change {
	var each []change
	var all knob
	for _, host := range m.cfg.Session.Hosts() {
		k := m.cfg.Session.Knob(host, name)
		if k == nil {
			continue
		}
		for i := len(events) - 1; i >= 0; i-- {
			if e := events[i]; e.Kind == sources.KnobTurned && e.Host == host && e.Subject == name {
				each = append(each, change{knob: knob{k}, value: e.Old})
				all = append(all, k)
				break
			}
		}
	}
	if len(all) > 1 && !slices.ContainsFunc(each, func(c change) bool { return c.value != each[0].value }) {
		each = []change{{knob: all, value: each[0].value}}
	}
	return slices.DeleteFunc(each, func(c change) bool { return c.knob.at(c.value) })
}

// restoreAll turns every knob back to its start, the newest first. One that was
// turned on all ends is turned back on all at once.
func (m *model) restoreAll() tea.Cmd {
	turned := m.cfg.Session.Turned()
	if len(turned) == 0 {
		m.notice("every knob is as it was at the start")
		return nil
	}
	if why := m.refusal(turned...); why != "" {
		m.notice(why)
		return nil
	}
	changes := m.backToStart(turned)
	if !drops(turned) {
		return m.start(changes)
	}
	m.confirm(m.putBack(changes), changes)
	return nil
}

func (m *model) backToStart(turned []*experiment.KnobState) []change {
	slices.SortStableFunc(turned, func(a, b *experiment.KnobState) int { return b.Since.Compare(a.Since) })
	var changes []change
	done := map[string]bool{}
	for _, k := range turned {
		name := k.Spec.Name
		if done[name] {
			continue
		}
		same := func(o *experiment.KnobState) bool { return o.Spec.Name == name && o.Start == k.Start }
		if all := matching(turned, same); len(all) > 1 && len(all) == len(m.cfg.Session.Hosts()) {
			done[name] = true
			changes = append(changes, change{knob: all, value: k.Start})
			continue
		}
		changes = append(changes, change{knob: knob{k}, value: k.Start})
	}
	return changes
}

func matching(turned []*experiment.KnobState, f func(*experiment.KnobState) bool) (out knob) {
	for _, k := range turned {
		if f(k) {
			out = append(out, k)
		}
	}
	return out
}

// putBack is the question before several turns of which one drops the link.
func (m *model) putBack(changes []change) func() (panes.Prompt, string) {
	return func() (panes.Prompt, string) {
		left := slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.knob.at(c.value) })
		if len(left) == 0 {
			return panes.Prompt{}, "there is nothing to put back any more"
		}
		var all knob
		for _, c := range left {
			all = append(all, c.knob...)
		}
		return panes.RestoreAll(words(left)), m.refusal(all...)
	}
}

func words(changes []change) []string {
	var out []string
	for _, c := range changes {
		k := c.knob[0]
		text := k.Spec.Name + " " + k.Value + " -> " + c.value
		switch {
		case len(c.knob) > 1:
			text += " on all ends"
		case k.Host != "":
			text = k.Host + " " + text
		}
		out = append(out, text)
	}
	return out
}

func drops(turned []*experiment.KnobState) bool {
	return slices.ContainsFunc(turned, func(k *experiment.KnobState) bool { return k.Spec.Disruption == sources.LinkReset })
}
