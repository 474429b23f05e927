package panes

import (
	"maps"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// Widths of the column right of the plot, by what it holds.
const (
	sideWide   = 46 // newest figure; label, mean, delta and n of several settings
	sideMedium = 32 // newest figure; label, mean and delta of several settings
	sideNarrow = 18 // newest figure above the first and the present setting, and the delta
	sideSlim   = 13 // the same without labels
	sideLeast  = 8  // newest figure and delta

	nowEnd = 10 // where the newest figure ends in the wide ones; settings follow
)

func sideWidth(w int) int {
	switch {
	case w >= 110:
		return sideWide
	case w >= 90:
		return sideMedium
	case w >= 72:
		return sideNarrow
	case w >= 50:
		return sideSlim
	}
	return sideLeast
}

// A mean is one setting's settled mean of one quantity.
type mean struct {
	labels   labels
	track    *experiment.Track
	value    float64
	ok       bool
	delta    float64
	compared bool // delta holds
	n        int64
	current  bool
	first    bool // of its load state
}

// means gathers what the side column shows, by quantity: the settings in order of
// appearance, under load once there was a run, else idle. A quantity that nobody
// told in them is left out.
func (f *Frame) means(plots []plot) map[*experiment.Quantity][]mean {
	var qs []*experiment.Quantity
	for _, p := range plots {
		qs = append(qs, p.q)
	}
	t := f.table(f.View.Host, qs)
	loaded := f.loaded()
	var present string // the label of the setting as it stands, idle or not
	for _, r := range t.Rows {
		if r.Current {
			present = r.Label
		}
	}
	out := map[*experiment.Quantity][]mean{}
	told := map[*experiment.Quantity]bool{}
	for i, r := range t.Rows {
		if r.Loaded != loaded {
			continue
		}
		l := labelsOf(r)
		for j, c := range r.Cells {
			m := mean{labels: l, current: r.Label == present, first: len(out[qs[j]]) == 0, track: c.Track, n: c.Sum.N}
			if c.Track != nil {
				m.value, m.ok = c.Sum.Mean(c.Track.Origin.Metric.Agg)
			}
			m.delta, m.compared = t.Delta(i, j)
			if f.otherWay(c.Track, qs[j]) {
				m = mean{labels: l, current: m.current, first: m.first}
			}
			out[qs[j]] = append(out[qs[j]], m)
			told[qs[j]] = told[qs[j]] || m.ok
		}
	}
	maps.DeleteFunc(out, func(q *experiment.Quantity, _ []mean) bool { return !told[q] })
	return out
}

// otherWay says whether a mean is of the direction that the chart does not show: where
// the load stood still all the time of a setting.
func (f *Frame) otherWay(t *experiment.Track, q *experiment.Quantity) bool {
	if q != experiment.Goodput && q != experiment.Sampled || t == nil {
		return false
	}
	shown := f.find(q)
	return shown != nil && shown.Origin.Metric != t.Origin.Metric
}

// loaded says whether there was a run: its means are what one compares, also when
// it has ended.
func (f *Frame) loaded() bool {
	if h := f.Stack.held; h != nil && !f.live() {
		return h.loaded
	}
	n, _, _ := f.Session.Run()
	return n > 0
}

func sideColumn(f *Frame, g theme.Grid, p plot, t sideTable, l labelling, ax chart.Axis) {
	rows, s := t.rows, t.scale
	for y := range g.H() {
		g.Put(0, y, f.Theme.Side, theme.Rule)
	}
	now, extra := f.figureNow(p, s), f.extra(p, s, ax)
	if p.q == experiment.Irqs && g.W() >= sideMedium {
		extra = append(extra, f.capWords(s)...)
	}
	switch {
	case g.W() >= sideMedium:
		g.Right(nowEnd, 0, now.ink, now.text)
		if now.note != "" {
			extra = append([]word{{now.note, theme.Warn}}, extra...)
		}
		for i, w := range extra {
			g.Right(max(nowEnd, 1+theme.Width(w.text)), 1+i, w.ink, w.text)
		}
		settings(g.Sub(nowEnd+2, 0, g.W()-nowEnd-2, g.H()), rows, s, l)
	case g.W() >= sideSlim:
		stacked(g.Sub(1, 0, g.W()-1, g.H()), now, extra, rows, s, l)
	default:
		g.Right(g.W(), 0, now.ink, now.text)
		if m := present(rows); m != nil && m.compared {
			g.Right(g.W(), 1, theme.Plain, percent(m.delta))
		}
	}
}

// settings writes one row a setting, or two where the label has one of its own: the
// first, the present one and the newest.
func settings(g theme.Grid, rows []mean, s chart.Scale, l labelling) {
	wide := g.W() >= sideWide-nowEnd-2
	value, delta := l.columns(g.W())
	each := 1
	if l.apart {
		each = 2
	}
	for i, m := range fewest(rows, g.H()/each) {
		room := g.W()
		if !l.apart {
			room = value - 1 - theme.Width(m.text(s))
		}
		ink := theme.Plain
		if m.current {
			ink = theme.Strong
		}
		y := each*i + each - 1
		g.Text(0, each*i, ink, l.of(m, room))
		g.Right(value, y, ink, m.text(s))
		if m.compared {
			g.Right(delta, y, ink, percent(m.delta))
		}
		if wide && !l.bare && m.ok {
			g.Right(g.W(), y, theme.Dim, count(m.n))
		}
	}
}

// stacked writes now, the first and the present setting and the delta, one below
// the other.
func stacked(g theme.Grid, now nowWord, extra []word, rows []mean, s chart.Scale, l labelling) {
	x := g.Text(1, 0, now.ink, now.text) + 1
	if now.note != "" {
		x = g.Text(x, 0, theme.Warn, now.note) + 1
	}
	y := 1
	for _, w := range extra {
		switch {
		case x+theme.Width(w.text) <= g.W():
			x = g.Text(x, 0, w.ink, w.text) + 1
		case g.H() > 2:
			g.Text(1, y, w.ink, w.text)
			y++
		}
	}
	cur := present(rows)
	if cur == nil {
		return
	}
	left := g.H() - y
	if cur.compared {
		left--
		g.Text(1, g.H()-1, theme.Plain, percent(cur.delta))
	}
	for _, m := range fewest(rows, min(left, 2)) {
		ink := theme.Plain
		if m.current {
			ink = theme.Strong
		}
		g.Text(1, y, ink, l.of(m, g.W()-2-theme.Width(m.text(s))))
		g.Right(g.W(), y, ink, " "+m.text(s))
		y++
	}
}

func (m mean) text(s chart.Scale) string {
	if !m.ok {
		return "-"
	}
	return figure(m.value * s.Unit.Factor)
}

func present(rows []mean) *mean {
	for i := range rows {
		if rows[i].current {
			return &rows[i]
		}
	}
	return nil
}

// fewest takes n rows: the first, the present one, then the newest, in order.
func fewest(rows []mean, n int) []mean {
	for len(rows) > max(n, 0) {
		drop := 1
		for drop < len(rows)-1 && rows[drop].current {
			drop++
		}
		if n < 2 { // only one fits: the present one
			drop = 0
			if rows[0].current {
				drop = len(rows) - 1
			}
		}
		drop = min(drop, len(rows)-1)
		rows = append(append([]mean(nil), rows[:drop]...), rows[drop+1:]...)
	}
	return rows
}

type nowWord struct {
	text, note string
	ink        theme.Ink
}

// figureNow is the newest figure, with a question mark and its age when it is stale. A
// screen that does not follow the present shows the figure at its right edge.
func (f *Frame) figureNow(p plot, s chart.Scale) nowWord {
	t := f.find(p.q)
	if t == nil {
		return nowWord{text: "-", ink: theme.Dim}
	}
	v, ok := f.figure(t)
	if !ok {
		return nowWord{text: "-", ink: theme.Dim}
	}
	text := figure(v.Value * s.Unit.Factor)
	if v.Stale {
		return nowWord{text + "?", age(v.Age), theme.Warn}
	}
	return nowWord{text: text, ink: theme.Strong}
}

// extra is what stands below the newest figure: the stack's throughput beside
// goodput, the lost pings of the window.
func (f *Frame) extra(p plot, s chart.Scale, ax chart.Axis) []word {
	var out []word
	if p.with != nil {
		w := plot{q: p.with}
		if n := f.figureNow(w, s); n.text != "-" {
			out = append(out, word{p.with.Name + " " + n.text, theme.Stack})
		}
	}
	if p.lost != nil {
		if t := f.find(p.lost); t != nil {
			bins := make([]series.Bin, ax.Told())
			t.Ring.Window(bins, ax.From, ax.Step)
			var lost float64
			for _, b := range bins {
				lost += b.Sum
			}
			if lost >= 0.5 {
				out = append(out, word{"lost " + count(int64(lost+0.5)), theme.Lost})
			}
		}
	}
	return out
}

func sideHeading(f *Frame, g theme.Grid, l labelling) {
	state := "idle"
	if f.loaded() {
		state = "run"
	}
	newest := "last"
	if !f.live() {
		newest = "edge"
	}
	setting, mean, means := "setting", state+" mean", newest+", "+state+" means"
	at := f.tableTime()
	if at != "" {
		setting, mean, means = "by "+at, state+" "+at, state+" by "+at
	}
	switch {
	case g.W() >= sideWide:
		value, delta := l.columns(g.W() - nowEnd - 2)
		g.Right(nowEnd, 0, theme.Dim, newest)
		g.Text(nowEnd+2, 0, theme.Dim, setting)
		g.Right(nowEnd+2+value, 0, theme.Dim, state+" mean")
		g.Right(nowEnd+2+delta, 0, theme.Dim, "delta")
		if !l.bare {
			g.Right(g.W(), 0, theme.Dim, "n")
		}
	case g.W() >= sideMedium:
		g.Right(nowEnd, 0, theme.Dim, newest)
		g.Right(nowEnd+15, 0, theme.Dim, mean)
		g.Right(g.W(), 0, theme.Dim, "delta")
	case g.W() >= sideNarrow:
		g.Text(2, 0, theme.Dim, means)
	case g.W() >= sideSlim && at != "":
		g.Text(2, 0, theme.Dim, setting)
	default:
		g.Right(g.W(), 0, theme.Dim, at)
	}
}
