package tui

import (
	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/tui/panes"
)

type proposalMsg struct {
	words, brief string
	err          error
}

// proposeLog asks what logging the next run would be. The answer comes as a
// message: it may take a look at a disk.
func (m *model) proposeLog() tea.Cmd {
	l := m.cfg.Logger
	switch {
	case l == nil && m.cfg.Session.Simulated:
		m.notice("the log of the simulation is a knob: K")
		return nil
	case l == nil:
		m.notice("nothing is logged here: no kernel of this session writes siftr logs")
		return nil
	case m.frame.ReadOnly != "":
		m.notice(m.frame.ReadOnly)
		return nil
	}
	if state := l.State(); state != "" {
		m.ask = &question{panes.EndLog(state), func(key string) (tea.Cmd, bool) {
			switch key {
			case "enter":
				l.Disarm()
			case "S":
				l.Arm(true)
			default:
				return nil, false
			}
			return nil, true
		}, nil}
		return nil
	}
	port, packets := m.loadPort(), m.packets()
	return func() tea.Msg {
		words, brief, err := l.Propose(port, packets)
		return proposalMsg{words, brief, err}
	}
}

// askLog lets a person decide on a proposal.
func (m *model) askLog(p proposalMsg) {
	switch {
	case m.ask != nil: // another question came first
		return
	case p.err != nil:
		m.notice(p.err.Error())
		return
	}
	l := m.cfg.Logger
	m.ask = &question{panes.ProposeLog(p.words, p.brief), func(key string) (tea.Cmd, bool) {
		switch key {
		case "enter":
			l.Arm(false)
		case "S":
			l.Arm(true)
		default:
			return nil, false
		}
		return nil, true
	}, nil}
}

// tellLogger passes on that a run began or ended.
func (m *model) tellLogger() {
	_, _, on := m.cfg.Session.Run()
	if l := m.cfg.Logger; l != nil && on != m.loaded {
		m.loaded = on
		l.Load(on)
	}
}

// loadPort is the port by which the charted connection is a load, 0 for none.
func (m *model) loadPort() uint16 {
	if f := m.cfg.Session.Busiest(""); f != nil {
		for _, p := range []uint16{f.Remote.Port(), f.Local.Port()} {
			if p == 5201 || p == 5001 {
				return p
			}
		}
	}
	return 0
}

// packets is how many packets a second the interface moves: as many records a log
// would have.
func (m *model) packets() float64 {
	sum := 0.0
	for _, q := range []*experiment.Quantity{experiment.TxPkts, experiment.RxPkts} {
		if t := m.cfg.Session.Find(q, ""); t != nil {
			v, _ := t.Now()
			sum += v
		}
	}
	return sum
}
