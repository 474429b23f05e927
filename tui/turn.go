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
// always takes it back. What it says is said anew with every frame, for a knob may be
// turned by another hand meanwhile; one that has become pointless goes.
type question struct {
	prompt panes.Prompt
	answer func(key string) (cmd tea.Cmd, done bool)
	again  func() (p panes.Prompt, pointless string) // nil: it stays as it is
}

// askAgain says a question anew, or why there is none any more.
func (m *model) askAgain() {
	if m.ask == nil || m.ask.again == nil {
		return
	}
	p, pointless := m.ask.again()
	if pointless != "" {
		m.ask = nil
		m.notice(pointless)
		return
	}
	m.ask.prompt = p
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

// A knob on the ends that a key acts on; the first is the one that is looked at.
type knob []*experiment.KnobState

func (k knob) name() string { return k[0].Spec.Name }

// host is where a Turner turns it.
func (k knob) host() string {
	if len(k) > 1 {
		return sources.Everywhere
	}
	return k[0].Host
}

// at says whether it has a value on every end.
func (k knob) at(value string) bool {
	return !slices.ContainsFunc(k, func(s *experiment.KnobState) bool { return s.Value != value })
}

// knob returns a knob that can be turned now on the ends that keys act on, or says
// why not and returns nil.
func (m *model) knob(name string) knob {
	k := m.onEnds(name)
	if k == nil {
		return nil
	}
	if why := m.refusal(k...); why != "" {
		m.notice(why)
		return nil
	}
	return k
}

// onEnds returns a knob on the ends that keys act on, or says which end has none. A
// turn of one end alone is another experiment: it wants to be chosen.
func (m *model) onEnds(name string) knob {
	var k knob
	var without []string
	for _, host := range m.acting() {
		if s := m.cfg.Session.Knob(host, name); s != nil {
			k = append(k, s)
		} else {
			without = append(without, host)
		}
	}
	switch {
	case len(without) == 0:
		return k
	case len(k) > 0:
		m.notice(m.frame.Called(without[0]) + " has no " + name + ": b chooses one end")
	case len(without) == 1 && without[0] != "":
		m.notice("no " + name + " on " + without[0])
	default:
		m.notice("no " + name + " here: this host or card has no such knob")
	}
	return nil
}

// acting returns the hosts that knob keys act on.
func (m *model) acting() []string {
	hosts := m.cfg.Session.Hosts()
	if n := m.frame.View.Act; n > 0 && n <= len(hosts) {
		return hosts[n-1 : n]
	}
	return hosts
}

// refusal says why knobs cannot be turned now, "" when they can.
func (m *model) refusal(knobs ...*experiment.KnobState) string {
	for _, k := range knobs {
		switch {
		case m.frame.ReadOnly != "":
			return m.frame.ReadOnly
		case k.Doubt:
			return k.Host + " is gone: b chooses another end"
		case k.Spec.Locked != "":
			return panes.LockedWords(k)
		case m.turning != "":
			return m.turning + " is being turned"
		case k.Turning != "":
			return k.Spec.Name + " is being turned"
		}
	}
	return ""
}

// chooseKnob asks which value a knob shall have; a digit turns it.
func (m *model) chooseKnob(name string) tea.Cmd {
	k := m.knob(name)
	if k == nil {
		return nil
	}
	words := func() (panes.Prompt, string) { return m.frame.Whose(panes.Choose(k[0]), k), m.refusal(k...) }
	p, _ := words()
	m.ask = &question{p, func(key string) (tea.Cmd, bool) {
		value, ok := panes.ByDigit(k[0], key)
		if !ok {
			return nil, false
		}
		m.ask = nil
		return m.turn(k, value), true
	}, words}
	return nil
}

// toggleKnob turns a knob to its next value.
func (m *model) toggleKnob(name string) tea.Cmd {
	if k := m.knob(name); k != nil {
		return m.turn(k, neighbour(k[0], 1))
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
func (m *model) turn(k knob, value string) tea.Cmd { return m.change(change{knob: k, value: value}) }

func (m *model) change(c change) tea.Cmd {
	already := c.knob.name() + " is " + c.value + " already"
	switch {
	case c.knob.at(c.value):
		m.notice(already)
		return nil
	case !drops(c.knob):
		return m.start([]change{c})
	}
	m.confirm(func() (panes.Prompt, string) {
		if c.knob.at(c.value) {
			return panes.Prompt{}, already
		}
		return m.frame.Whose(panes.Confirm(c.knob[0], c.value), c.knob), m.refusal(c.knob...)
	}, []change{c})
	return nil
}

// A change is a turn that is wanted.
type change struct {
	knob  knob
	value string
	undo  bool // it takes an earlier turn back
}

// confirm turns after Enter, and after a second one where the terminal itself
// would hang on the link that drops.
func (m *model) confirm(words func() (panes.Prompt, string), changes []change) {
	sure := !m.cfg.OverLink
	p, _ := words()
	m.ask = &question{p, func(key string) (tea.Cmd, bool) {
		switch {
		case key != "enter":
			return nil, false
		case !sure:
			sure = true
			m.ask.prompt, m.ask.again = panes.OwnLink, nil
			return nil, false
		}
		left := slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.knob.at(c.value) })
		if len(left) == 0 {
			return nil, true
		}
		return m.start(left), true
	}, words}
}

// start turns one knob after the other, away from the screen: a turn may take
// seconds. How each ended comes as an event.
func (m *model) start(changes []change) tea.Cmd {
	m.turning = changes[0].knob.name()
	if changes[0].undo {
		m.undos = append(m.undos, undone{changes: changes, at: m.cfg.Session.Now()})
	}
	turner, ctx := m.cfg.Turner, m.ctx
	type turn struct{ host, name, value string }
	var turns []turn
	for _, c := range changes {
		turns = append(turns, turn{c.knob.host(), c.knob.name(), c.value})
	}
	return func() tea.Msg {
		var err error
		for _, t := range turns {
			err = errors.Join(err, turner.Turn(ctx, t.host, t.name, t.value))
		}
		return turnedMsg{err}
	}
}

// knobsKey takes the keys that mean something else on the knobs page. Digits are not
// among them: who wants another page must not turn a card.
func (m *model) knobsKey(key string) (cmd tea.Cmd, taken bool) {
	knobs := m.cfg.Session.Knobs()
	if len(knobs) == 0 {
		return nil, false
	}
	k := knobs[min(m.frame.View.Row, len(knobs)-1)]
	listed := len(k.Spec.Values) > 0
	step := 0
	switch {
	case key == "left" || key == "h":
		step = -1
	case key == "right" || key == "l":
		step = 1
	case key == "enter" && !listed:
	case key == "U":
		return m.undo(), true
	case key == "R":
		return m.restoreAll(), true
	default:
		return nil, false
	}
	row := knob{k}
	if m.frame.View.Act == 0 {
		if row = m.onEnds(k.Spec.Name); row == nil {
			return nil, true
		}
	}
	if why := m.refusal(row...); why != "" {
		m.notice(why)
		return nil, true
	}
	switch {
	case listed:
		return m.turn(row, neighbour(k, step)), true
	case step == 0:
		m.typeValue(row)
	default:
		m.notice(k.Spec.Name + " has no list of values: Enter asks for one to type")
	}
	return nil, true
}
