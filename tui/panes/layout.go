package panes

import (
	"strconv"

	"netwatch/tui/theme"
)

// The charts page, from top to bottom; what a small screen has no room for goes
// in the order axis, sources, flows, events.
//
//	header   em4@s1  em(4) 82546EB UP 1000baseT                run 2 0:41
//	knobs    [a] aim=2 (start 1)  [t] TSO on
//	sources  nic ok  siftr2 66.1k rec/s  ping 5/s
//	charts   goodput 1000 |~~~~~~~~:~~~~~~~~|  928.2   aim=1  904.0
//	         Mbit/s       |        :        |          aim=2  928.2  +2.7%
//	axis                  -40s    -20s     now
//	flows    dd7fc950  10.1.1.3:5201  928 Mb/s  733 KiB
//	events   09:03:51  aim 1 -> 2 (9 ms)
//	footer   q quit  ? help  space pause
const (
	smallW, smallH = 40, 8 // below this: one line
	tinyW, tinyH   = 20, 3 // below this: only the rate
	axisFrom       = 16    // rows from which the time axis has a row
	sourcesFrom    = 12    // … the sources
	rowsFrom       = 22    // … the busiest flow, and two events
	tablesFrom     = 36    // … several flows and events
	twoColumns     = 180   // columns from which charts stand side by side
)

// Screen draws the Frame at a size and returns its lines.
func Screen(f *Frame, w, h int) string {
	f.hold()
	g := f.Stack.blank(w, h)
	switch {
	case w < tinyW || h < tinyH:
		rateOnly(f, g)
	case w < smallW || h < smallH:
		oneLine(f, g)
	case f.View.Page == Charts:
		chartsPage(f, g)
	default:
		listPage(f, g)
	}
	return g.String(f.Theme)
}

// A stacker hands out rows of a grid from the top and from the bottom.
type stacker struct {
	g        theme.Grid
	top, end int
}

func (s *stacker) take(n int) theme.Grid {
	n = max(min(n, s.end-s.top), 0)
	g := s.g.Sub(0, s.top, s.g.W(), n)
	s.top += n
	return g
}

func (s *stacker) takeBottom(n int) theme.Grid {
	n = max(min(n, s.end-s.top), 0)
	s.end -= n
	return s.g.Sub(0, s.end, s.g.W(), n)
}

func (s *stacker) rest() theme.Grid { return s.take(s.end - s.top) }

func chartsPage(f *Frame, g theme.Grid) {
	h := g.H()
	s := &stacker{g: g, end: h}
	both := f.SideBySide(g.W(), h)
	sourced := h >= sourcesFrom && !both
	header(f, s.take(1), both, sourced || both)
	knobsLine(f, s.take(knobRows(f, g.W(), h)))
	if sourced {
		sourcesLine(f, s.take(1), true)
	}
	footer(f, s.takeBottom(f.footerRows(g.W(), h)))
	switch {
	case h >= tablesFrom:
		events := 4 + (h-tablesFrom)/8
		if f.hasQueues(both) {
			events--
		}
		eventsTail(f, s.takeBottom(events))
		if n := len(f.flows()); n > 0 {
			flowsTable(f, s.takeBottom(1+min(n, 3)))
		}
		if f.hasQueues(both) {
			queueRow(f, s.takeBottom(1), both)
		}
	case h >= rowsFrom:
		eventsTail(f, s.takeBottom(2))
		flowLine(f, s.takeBottom(1))
	default:
		eventsTail(f, s.takeBottom(min(h-smallH, 1)))
	}
	if both {
		bothEnds(f, s.rest())
		return
	}
	if f.Session.Second != "" && f.View.Host == "" {
		forwarding(f, s.rest(), h >= axisFrom)
		return
	}
	charts(f, s.rest(), h >= axisFrom)
}

// tabs names the pages and their digits, or only the present one.
func tabs(f *Frame, g theme.Grid) {
	var all []word
	width := 0
	for i, name := range pageNames {
		w := word{" " + strconv.Itoa(i+1) + " " + name + " ", theme.Dim}
		if Page(i) == f.View.Page {
			w = word{"[" + strconv.Itoa(i+1) + " " + name + "]", theme.Strong}
		}
		all = append(all, w)
		width += theme.Width(w.text)
	}
	if width > g.W() {
		all = all[f.View.Page : f.View.Page+1]
	}
	x := 0
	for _, w := range all {
		x = g.Text(x, 0, w.ink, w.text)
	}
}

func listPage(f *Frame, g theme.Grid) {
	s := &stacker{g: g, end: g.H()}
	header(f, s.take(1), false, false)
	knobsLine(f, s.take(knobRows(f, g.W(), g.H())))
	footer(f, s.takeBottom(f.footerRows(g.W(), g.H())))
	title := s.take(1)
	title.Fill(0, 0, f.Theme.Rule, theme.Rule)
	tabs(f, title)
	body := s.rest()
	switch f.View.Page {
	case Settings:
		settingsPage(f, body)
	case Flows:
		flowsTable(f, body)
	case Knobs:
		knobsPage(f, body)
	case Events:
		eventsPage(f, body)
	case Help:
		helpPage(f, body)
	}
}
