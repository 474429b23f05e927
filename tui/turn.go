package tui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/panes"
)

// A question stands in the footer and takes every key until it is answered. Esc
// always takes it back.
type question struct {
	prompt panes.Prompt
	answer func(key string) (cmd tea.Cmd, done bool)
}

func (m *model) answer(key string) tea.Cmd {
	if key == "esc" {
		m.ask = nil
		return nil
	}
	q := m.ask
	cmd, done := q.answer(key)
	if done && m.ask == q {
		m.ask = nil
	}
	return cmd
}

type turnedMsg struct{ err error }

// knob returns a knob that can be turned now, or says why not and returns nil.
func (m *model) knob(name string) *experiment.KnobState {
	var k *experiment.KnobState
	for _, s := range m.cfg.Session.Knobs() {
		if s.Spec.Name == name && (k == nil || s.Host == "") {
			k = s
		}
	}
	if k == nil {
		m.notice("no " + name + " here: this host or card has no such knob")
		return nil
	}
	if why := m.refusal(k); why != "" {
		m.notice(why)
		return nil
	}
	return k
}

// refusal says why a knob cannot be turned now, "" when it can.
func (m *model) refusal(k *experiment.KnobState) string {
	switch {
	case m.frame.ReadOnly != "":
		return m.frame.ReadOnly
	case k.Spec.Locked != "":
		return panes.LockedWords(k)
	case m.turning != "":
		return m.turning + " is being turned"
	case k.Turning != "":
		return k.Spec.Name + " is being turned"
	}
	return ""
}

// chooseKnob asks which value a knob shall have; a digit turns it.
func (m *model) chooseKnob(name string) tea.Cmd {
	k := m.knob(name)
	if k == nil {
		return nil
	}
	m.ask = &question{panes.Choose(k), func(key string) (tea.Cmd, bool) {
		value, ok := panes.ByDigit(k, key)
		if !ok {
			return nil, false
		}
		m.ask = nil
		return m.turn(k, value), true
	}}
	return nil
}

// toggleKnob turns a knob to its next value.
func (m *model) toggleKnob(name string) tea.Cmd {
	if k := m.knob(name); k != nil {
		return m.turn(k, neighbour(k, 1))
	}
	return nil
}

// neighbour is the value before or after the present one, around the end.
func neighbour(k *experiment.KnobState, step int) string {
	n := len(k.Spec.Values)
	if n == 0 {
		return k.Value
	}
	i := slices.Index(k.Spec.Values, k.Value)
	return k.Spec.Values[((i+step)%n+n)%n]
}

// turn turns a knob, at once or after a warning where the link will drop.
func (m *model) turn(k *experiment.KnobState, value string) tea.Cmd {
	switch {
	case value == k.Value:
		m.notice(k.Spec.Name + " is " + value + " already")
		return nil
	case k.Spec.Disruption != sources.LinkReset:
		return m.start([]change{{k, value}})
	}
	m.confirm(panes.Confirm(k, value), []change{{k, value}})
	return nil
}

// A change is a turn that is wanted.
type change struct {
	knob  *experiment.KnobState
	value string
}

// confirm turns after Enter, and after a second one where the terminal itself
// would hang on the link that drops.
func (m *model) confirm(p panes.Prompt, changes []change) {
	sure := !m.cfg.OverLink
	m.ask = &question{p, func(key string) (tea.Cmd, bool) {
		switch {
		case key != "enter":
			return nil, false
		case !sure:
			sure = true
			m.ask.prompt = panes.OwnLink
			return nil, false
		}
		return m.start(changes), true
	}}
}

// start turns one knob after the other, away from the screen: a turn may take
// seconds. How each ended comes as an event.
func (m *model) start(changes []change) tea.Cmd {
	m.turning = changes[0].knob.Spec.Name
	turner, ctx := m.cfg.Turner, m.ctx
	type turn struct{ host, name, value string }
	var turns []turn
	for _, c := range changes {
		turns = append(turns, turn{c.knob.Host, c.knob.Spec.Name, c.value})
	}
	return func() tea.Msg {
		var err error
		for _, t := range turns {
			err = errors.Join(err, turner.Turn(ctx, t.host, t.name, t.value))
		}
		return turnedMsg{err}
	}
}

// knobsKey takes the keys that mean something else on the knobs page.
func (m *model) knobsKey(key string) (cmd tea.Cmd, taken bool) {
	knobs := m.cfg.Session.Knobs()
	if len(knobs) == 0 {
		return nil, false
	}
	k := knobs[min(m.frame.View.Row, len(knobs)-1)]
	var value string
	switch key {
	case "left", "h":
		value = neighbour(k, -1)
	case "right", "l":
		value = neighbour(k, 1)
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		v, ok := panes.ByDigit(k, key)
		if !ok {
			m.notice(k.Spec.Name + " has no value for " + key)
			return nil, true
		}
		value = v
	case "U":
		return m.undo(), true
	case "R":
		return m.restoreAll(), true
	default:
		return nil, false
	}
	if why := m.refusal(k); why != "" {
		m.notice(why)
		return nil, true
	}
	return m.turn(k, value), true
}

// undo turns the knob that was turned last back to what it was.
func (m *model) undo() tea.Cmd {
	events := m.cfg.Session.Events()
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Kind != sources.KnobTurned || e.Old == e.New {
			continue
		}
		k := m.cfg.Session.Knob(e.Host, e.Subject)
		if k == nil {
			break
		}
		if why := m.refusal(k); why != "" {
			m.notice(why)
			return nil
		}
		return m.turn(k, e.Old)
	}
	m.notice("nothing was turned")
	return nil
}

// restoreAll turns every knob back to its start, the newest first.
func (m *model) restoreAll() tea.Cmd {
	turned := m.cfg.Session.Turned()
	if len(turned) == 0 {
		m.notice("every knob is as it was at the start")
		return nil
	}
	slices.SortStableFunc(turned, func(a, b *experiment.KnobState) int { return b.Since.Compare(a.Since) })
	var changes []change
	for _, k := range turned {
		if why := m.refusal(k); why != "" {
			m.notice(why)
			return nil
		}
		changes = append(changes, change{k, k.Start})
	}
	if !drops(turned) {
		return m.start(changes)
	}
	m.confirm(panes.RestoreAll(words(turned)), changes)
	return nil
}

// leave quits, after a question where something is turned.
func (m *model) leave() tea.Cmd {
	if m.turning != "" {
		m.notice(m.turning + " is being turned; Ctrl-C does not wait")
		return nil
	}
	turned := m.cfg.Session.Turned()
	pending := words(turned)
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

func words(turned []*experiment.KnobState) []string {
	var out []string
	for _, k := range turned {
		out = append(out, k.Spec.Name+" "+k.Value+" -> "+k.Start)
	}
	return out
}

func drops(turned []*experiment.KnobState) bool {
	return slices.ContainsFunc(turned, func(k *experiment.KnobState) bool { return k.Spec.Disruption == sources.LinkReset })
}
