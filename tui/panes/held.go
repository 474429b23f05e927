package panes

import (
	"time"

	"netwatch/experiment"
	"netwatch/sources"
)

// A held is the table of settings as it was when the view left the present. Sums are
// not kept over time, so no table of an earlier moment can be told; one that went on
// counting beside charts that stand still would be of neither moment.
type held struct {
	at     time.Time
	end    time.Time     // the right edge that was looked at last
	window time.Duration // … and how much
	loaded bool
	hosts  []string
	tables map[string]experiment.Table // by host, of all quantities
	away   []string                    // which peers were gone, in words

	edge    time.Time                               // the right edge when the view left the present …
	figures map[*experiment.Track]experiment.Figure // … and the figures that stood there
}

// hold keeps the tables from the first frame on that does not follow the present, and
// forgets them with the first one that does.
func (f *Frame) hold() *held {
	if f.live() {
		f.Stack.held = nil
		return nil
	}
	if f.Stack.held == nil {
		h := &held{at: f.Session.Now(), loaded: f.loaded(), hosts: f.Session.Hosts(), away: f.away(), tables: map[string]experiment.Table{}}
		for _, host := range h.hosts {
			h.tables[host] = f.Session.TableOf(host, experiment.Quantities())
		}
		h.end, h.window = h.at, f.View.Window
		h.edge, h.figures = f.View.End, f.Session.Figures(f.View.End)
		f.Stack.held = h
	}
	f.refit(f.Stack.held)
	return f.Stack.held
}

// refit has the y scales fit another stretch of time at once. As long as it is the same,
// they stay as they are.
func (f *Frame) refit(h *held) {
	if !f.View.End.Equal(h.end) || f.View.Window != h.window {
		clear(f.Stack.scales)
		h.end, h.window = f.View.End, f.View.Window
	}
}

// table is the table of settings of one host.
func (f *Frame) table(host string, quantities []*experiment.Quantity) experiment.Table {
	if h := f.hold(); h != nil {
		return h.tables[host].Pick(quantities)
	}
	return f.Session.TableOf(host, quantities)
}

// figure is what a Track tells at the right edge of the view. Where the view was paused
// it is what stood there then.
func (f *Frame) figure(t *experiment.Track) (g experiment.Figure, ok bool) {
	if f.live() {
		g.Value, ok = t.Now()
		g.Age, g.Stale = t.Stale(f.Session.Now())
		g.Stale = g.Stale || f.linkless(t)
		return g, ok
	}
	if h := f.hold(); h.edge.Equal(f.View.End) {
		if g, ok = h.figures[t]; ok {
			return g, true
		}
	}
	return t.FigureAt(f.View.End)
}

// linkless says whether a Track tells of an interface that has no link now: what it told
// last is of before, also when that is not long ago.
func (f *Frame) linkless(t *experiment.Track) bool {
	_, down := f.Session.LinkDown(t.Host)
	return down && t.Quantity != nil && t.Quantity.Scope == experiment.OfInterface && !f.forwards()
}

// away are the peers that were gone, in words.
func (f *Frame) away() []string {
	var out []string
	for _, host := range f.Session.Hosts()[1:] {
		if away := f.Session.Peer(host).Away(f.Session.Now()); away != "" {
			out = append(out, away)
		}
	}
	return out
}

// tableTime says of when the table is, where that is not the right edge of the charts.
func (f *Frame) tableTime() string {
	h := f.hold()
	if h == nil || h.at.Equal(f.right()) {
		return ""
	}
	return f.clock(h.at)
}

// A pastList is the list of events up to a time, and of which list it was made.
type pastList struct {
	end    time.Time
	logged int
	events []sources.Event
}

// events are those up to the right edge of the view. A run is noticed after it began,
// so the list is not quite in order and no cut through it would do.
func (f *Frame) events() []sources.Event {
	all := f.Session.Events()
	if f.live() {
		return all
	}
	p := &f.Stack.past
	if p.end.Equal(f.View.End) && p.logged == f.Session.Logged() {
		return p.events
	}
	*p = pastList{end: f.View.End, logged: f.Session.Logged(), events: p.events[:0]}
	for _, e := range all {
		if !e.At.After(f.View.End) {
			p.events = append(p.events, e)
		}
	}
	return p.events
}
