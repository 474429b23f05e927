package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/panes"
)

// undo turns what was turned last back to what it was, on all ends where it was
// turned on all.
func (m *model) undo() tea.Cmd {
	changes := m.lastTurn()
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
		return m.turn(changes[0].knob, changes[0].value)
	}
	if !drops(all) {
		return m.start(changes)
	}
	m.confirm(panes.RestoreAll(words(changes)), changes)
	return nil
}

// lastTurn is what would undo the newest turn.
func (m *model) lastTurn() []change {
	events := m.cfg.Session.Events()
	undone := map[string]time.Time{} // knobs whose newest turn was put back, and since when
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		began, back := undone[e.Subject]
		switch {
		case e.Kind == sources.KnobBoth && e.Error:
			undone[e.Subject] = e.At.Add(-e.Span)
		case e.Kind == sources.KnobBoth:
			return m.unturn(events[:i], e.Subject)
		case e.Kind != sources.KnobTurned || e.Old == e.New || back && !e.At.Before(began):
		default:
			if k := m.cfg.Session.Knob(e.Host, e.Subject); k != nil {
				return []change{{knob{k}, e.Old}}
			}
			return nil
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
				each = append(each, change{knob{k}, e.Old})
				all = append(all, k)
				break
			}
		}
	}
	if len(all) > 1 && !slices.ContainsFunc(each, func(c change) bool { return c.value != each[0].value }) {
		return []change{{all, each[0].value}}
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
	m.confirm(panes.RestoreAll(words(changes)), changes)
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
			changes = append(changes, change{all, k.Start})
			continue
		}
		changes = append(changes, change{knob{k}, k.Start})
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

// leave quits, after a question where something is turned.
func (m *model) leave() tea.Cmd {
	if m.turning != "" {
		m.notice(m.turning + " is being turned; Ctrl-C does not wait")
		return nil
	}
	turned := m.cfg.Session.Turned()
	pending := words(m.backToStart(turned))
	if m.cfg.Restorer != nil {
		pending = m.cfg.Restorer.Pending()
	}
	if len(pending) == 0 || m.cfg.Turner == nil && m.cfg.Restorer == nil {
		return tea.Quit
	}
	m.ask = &question{panes.Leave(pending, drops(turned)), func(key string) (tea.Cmd, bool) {
		switch key {
		case "enter":
			return tea.Quit, true
		case "k":
			m.result.Keep = true
			return tea.Quit, true
		}
		return nil, false
	}}
	return nil
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
