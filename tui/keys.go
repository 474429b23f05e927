package tui

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/sources"
	"netwatch/tui/panes"
)

// windows are the stretches of time that + and - go through.
var windows = []time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour,
}

const startWindow = 1

// key acts on one key press, by the names that Bubble Tea gives keys.
func (m *model) key(key string) tea.Cmd {
	switch key {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+z":
		return tea.Suspend
	}
	if m.ask != nil {
		return m.answer(key)
	}
	if m.frame.View.Page == panes.Knobs {
		if cmd, taken := m.knobsKey(key); taken {
			return cmd
		}
	}
	switch key {
	case "q":
		return m.leave()
	case "a":
		return m.chooseKnob("aim")
	case "t":
		return m.toggleKnob("tso")
	case "T":
		return m.toggleKnob("tcp.tso")
	case "S":
		return m.proposeLog()
	case "i":
		return m.startLoad()
	}
	if !m.pageKey(key) && !m.viewKey(key) {
		m.notice(strconv.Quote(key) + " does nothing here; ? shows the keys")
	}
	return nil
}

// pageKey takes the keys that choose a page or a row.
func (m *model) pageKey(key string) bool {
	v := &m.frame.View
	switch key {
	case "tab":
		m.page((v.Page + 1) % panes.Help)
	case "shift+tab":
		m.page((min(v.Page, panes.Help) + panes.Help - 1) % panes.Help)
	case "1", "2", "3", "4", "5", "6":
		m.page(panes.Page(key[0] - '1'))
	case "7", "8", "9":
		m.notice("there are pages 1 to 6")
	case "K":
		m.page(panes.Knobs)
	case "?":
		if v.Page == panes.Help {
			m.page(panes.Charts)
		} else {
			m.page(panes.Help)
		}
	case "esc":
		m.page(panes.Charts)
	case "j", "down", "k", "up", "g", "home", "G", "end", "pgdown", "pgup":
		m.row(key)
	default:
		return false
	}
	return true
}

func (m *model) page(p panes.Page) {
	m.frame.View.Page, m.frame.View.Row, m.frame.View.Detail = p, 0, 0
}

func (m *model) row(key string) {
	v := &m.frame.View
	if v.Page == panes.Charts {
		m.notice("no rows here: Tab goes to the pages with rows")
		return
	}
	last := panes.LastRow(&m.frame, m.w, m.h)
	more := panes.LastDetail(&m.frame, m.w, m.h)
	v.Detail = min(v.Detail, more)
	switch key {
	case "j", "down":
		if v.Detail < more {
			v.Detail++
			return
		}
		v.Row++
	case "k", "up":
		if v.Detail > 0 {
			v.Detail--
			return
		}
		v.Row--
	case "pgdown":
		v.Row += max(m.h-5, 1)
	case "pgup":
		v.Row -= max(m.h-5, 1)
	case "g", "home":
		v.Row = 0
	default:
		v.Row = last
	}
	v.Row, v.Detail = min(max(v.Row, 0), last), 0
}

// chartKeys do nothing that could be seen on another page.
var chartKeys = []string{"h", "left", "l", "right", "+", "=", "-", "_", "y", "o"}

// viewKey takes the keys that change what the charts show.
func (m *model) viewKey(key string) bool {
	v, now := &m.frame.View, m.cfg.Session.Now()
	if v.Page != panes.Charts && slices.Contains(chartKeys, key) {
		m.notice("that moves the charts: 1 shows them")
		return true
	}
	switch key {
	case "space":
		if v.End.IsZero() {
			v.End = now
		} else {
			v.End = time.Time{}
		}
	case "h", "left":
		m.scroll(-1)
	case "l", "right":
		m.scroll(1)
	case "+", "=":
		m.zoom(-1)
	case "-", "_":
		m.zoom(1)
	case "y":
		v.Zero = !v.Zero
		if v.Zero {
			m.notice("y scales start at zero")
		} else {
			m.notice("y scales fit what is shown")
		}
	case "u":
		v.Bytes = !v.Bytes
	case "m":
		m.mark()
	case "b":
		m.nextEnds()
	case "o":
		m.otherEnd()
	default:
		return false
	}
	return true
}

// scroll moves the right edge by a quarter of the window. Past the present the
// screen follows it again.
func (m *model) scroll(dir time.Duration) {
	v, s := &m.frame.View, m.cfg.Session
	end := v.End
	if end.IsZero() {
		if dir > 0 {
			m.notice("this is the present already")
			return
		}
		end = s.Now()
	}
	end = end.Add(dir * v.Window / 4)
	switch {
	case !end.Before(s.Now()):
		end = time.Time{}
	case end.Before(s.Start):
		m.notice("the session began at " + s.Start.In(s.Now().Location()).Format("15:04:05"))
		return
	}
	v.End = end
}

func (m *model) zoom(dir int) {
	v := &m.frame.View
	i := slices.Index(windows, v.Window) + dir
	if i < 0 || i >= len(windows) {
		m.notice("the window is 30 s to 1 h")
		return
	}
	v.Window = windows[i]
}

// nextEnds chooses what knob keys act on: all ends, then each alone.
func (m *model) nextEnds() {
	v, hosts := &m.frame.View, m.cfg.Session.Hosts()
	if len(hosts) == 1 {
		m.notice("there is one end only: netwatch IFACE --peer HOST adds another")
		return
	}
	v.Act = (v.Act + 1) % (len(hosts) + 1)
}

// otherEnd shows the charts of the next host, or of the next peer where this host's
// stand beside them.
func (m *model) otherEnd() {
	v, hosts := &m.frame.View, m.cfg.Session.Hosts()
	beside := m.frame.SideBySide(m.w, m.h)
	switch {
	case len(hosts) == 1:
		m.notice("there is no other end: netwatch IFACE --peer HOST adds one")
		return
	case beside && len(hosts) == 2:
		m.notice("both ends are shown")
		return
	}
	next := (slices.Index(hosts, v.Host) + 1) % len(hosts)
	if beside && v.Host == "" {
		next = 2
	}
	if beside && next == 0 {
		next = 1
	}
	v.Host = hosts[next]
}

func (m *model) mark() {
	n := 1
	for _, e := range m.cfg.Session.Events() {
		if e.Kind == sources.Mark {
			n++
		}
	}
	m.cfg.Session.Note(sources.Mark, strconv.Itoa(n))
}

type loadMsg struct{ err error }

func (m *model) startLoad() tea.Cmd {
	load := m.cfg.Load
	switch {
	case load == nil:
		m.notice("no load was given: netwatch IFACE -- COMMAND")
		return nil
	case load.Running():
		m.notice("the load is running")
		return nil
	}
	m.stopped = false
	return func() tea.Msg { return loadMsg{load.Start()} }
}

// interrupt is Ctrl-C: it stops the load first, and quits when there is none or
// it was stopped before. What was turned is put back without a question.
func (m *model) interrupt() tea.Cmd {
	if load := m.cfg.Load; load != nil && !m.stopped && load.Running() {
		m.stopped = true
		m.notice("the load is told to stop; Ctrl-C again quits")
		return func() tea.Msg {
			load.Stop()
			return nil
		}
	}
	m.result.Interrupted = true
	return tea.Quit
}
