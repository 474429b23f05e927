package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"netwatch/sources"
	"netwatch/tui/panes"
)

// A leaving is the question what becomes of the knobs that were turned. Each row is
// one knob, on one end or, where it is the same on all of them, on all.
type leaving struct {
	m    *model
	rows []panes.Leaving
	ends [][]Turned // of each row
}

// leave quits, after a question where something is turned.
func (m *model) leave() tea.Cmd {
	if m.turning != "" {
		m.notice(m.turning + " is being turned; Ctrl-C does not wait")
		return nil
	}
	pending := m.pending()
	if len(pending) == 0 || m.cfg.Turner == nil && m.cfg.Restorer == nil {
		return tea.Quit
	}
	l := &leaving{m: m}
	l.gather(pending)
	m.ask = &question{l.prompt(), l.answer, l.again}
	return nil
}

// pending is what leaving would put back.
func (m *model) pending() []Turned {
	if m.cfg.Restorer != nil {
		return m.cfg.Restorer.Pending()
	}
	var out []Turned
	for _, k := range m.cfg.Session.Turned() {
		out = append(out, Turned{k.Host, k.Spec.Name, k.Value, k.Start})
	}
	return out
}

// again looks anew what is turned while the question stands.
func (l *leaving) again() (p panes.Prompt, pointless string) {
	pending := l.m.pending()
	switch {
	case len(pending) == 0 && len(l.gone()) > 0:
		return p, "what is turned is on a host that is gone: q quits"
	case len(pending) == 0:
		return p, "nothing is turned any more: q quits"
	}
	l.gather(pending)
	return l.prompt(), ""
}

// gather makes the rows: what is turned alike on every end is one. A row keeps its
// digit and what a person chose for it as long as the question stands, also when there
// is nothing to put back any more: what is turned since comes below.
func (l *leaving) gather(pending []Turned) {
	for i := range l.rows {
		l.rows[i].Back = true
		l.rows[i].Value = l.present(l.ends[i])
	}
	hosts := len(l.m.cfg.Session.Hosts())
	done := map[string]bool{}
	for _, t := range pending {
		if done[t.Knob] {
			continue
		}
		ends := []Turned{t}
		alike := func(o Turned) bool { return o.Knob == t.Knob && o.Value == t.Value && o.Start == t.Start }
		if all := only(pending, alike); len(all) == hosts {
			ends, done[t.Knob] = all, true
		}
		l.put(ends)
	}
}

// put makes or renews the row of one knob on some ends.
func (l *leaving) put(ends []Turned) {
	t := ends[0]
	row := panes.Leaving{Knob: t.Knob, Value: t.Value, Start: t.Start, Keep: l.m.cfg.Keep}
	for _, end := range ends {
		k := l.m.cfg.Session.Knob(end.Host, end.Knob)
		row.Drops = row.Drops || k != nil && k.Spec.Disruption == sources.LinkReset
	}
	row.Ends = l.m.frame.Ends(t.Host, len(ends))
	for i, r := range l.rows {
		if r.Knob == row.Knob && r.Ends == row.Ends {
			row.Keep = r.Keep
			l.rows[i], l.ends[i] = row, ends
			return
		}
	}
	l.rows, l.ends = append(l.rows, row), append(l.ends, ends)
}

// present is what a knob is now on some ends: "1", or "1|2" where they differ.
func (l *leaving) present(ends []Turned) string {
	var values []string
	for _, end := range ends {
		value := "?"
		if k := l.m.cfg.Session.Knob(end.Host, end.Knob); k != nil && k.Value != "" && !k.Doubt {
			value = k.Value
		}
		values = append(values, value)
	}
	if slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
		return strings.Join(values, "|")
	}
	return values[0]
}

func only(all []Turned, f func(Turned) bool) []Turned {
	return slices.DeleteFunc(slices.Clone(all), func(t Turned) bool { return !f(t) })
}

func (l *leaving) prompt() panes.Prompt {
	p := panes.Leave(l.rows, l.m.cfg.Keep)
	p.Rows = append(p.Rows, l.gone()...)
	return p
}

// answer takes a key: a digit changes what becomes of one row.
func (l *leaving) answer(key string) (cmd tea.Cmd, done bool) {
	switch key {
	case "enter":
	case "k":
		l.all(true)
	case "r":
		l.all(false)
	default:
		if n, err := strconv.Atoi(key); err == nil && n > 0 && n <= len(l.rows) && !l.rows[n-1].Back {
			l.rows[n-1].Keep = !l.rows[n-1].Keep
			l.m.ask.prompt = l.prompt()
		}
		return nil, false
	}
	r := &l.m.result
	r.Answered, r.Keep = true, true
	for i, row := range l.rows {
		if row.Back {
			continue
		}
		if r.Keep = r.Keep && row.Keep; row.Keep {
			r.Kept = append(r.Kept, l.ends[i]...)
		}
	}
	return tea.Quit, true
}

func (l *leaving) all(keep bool) {
	for i := range l.rows {
		l.rows[i].Keep = keep
	}
}
