package panes

import (
	"strconv"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// A Stack is what is kept from frame to frame: the cells, buffers and y scales.
type Stack struct {
	grid    theme.Grid
	painter chart.Painter
	scales  map[string]chart.Scale
	held    *held    // the tables while the view does not follow the present
	past    pastList // the events while it does not
}

// NewStack returns a Stack for charts in a theme.
func NewStack(t *theme.Theme) *Stack {
	return &Stack{painter: chart.Painter{Theme: t}, scales: map[string]chart.Scale{}}
}

// blank returns a blank grid of a size, the same one as long as the size stays.
func (s *Stack) blank(w, h int) theme.Grid {
	if s.grid.W() != w || s.grid.H() != h {
		s.grid = theme.NewGrid(w, h)
	}
	s.grid.Clear()
	return s.grid
}

// chartsIn is how many charts share so many rows.
func chartsIn(rows int) int {
	if rows >= 16 {
		return rows / 4
	}
	return max(1, (rows+2)/3)
}

// charts fills g with as many charts as are legible, in two columns where it is
// wide, all on one time axis.
func charts(f *Frame, g theme.Grid, axis bool) { beside(paintCharts(f, g, axis)) }

// A painted is the charts of one host without what stands beside and below them.
type painted struct {
	frame  *Frame
	ax     chart.Axis
	side   int // the width of what stands beside
	plots  []plot
	tables []sideTable  // of each plot
	sides  []theme.Grid // where they go
	axes   []theme.Grid
}

func paintCharts(f *Frame, g theme.Grid, axis bool) painted {
	columns, gap := 1, 0
	if g.W() >= twoColumns {
		columns, gap = 2, 1
	}
	s := &stacker{g: g, end: g.H()}
	var axisRow theme.Grid
	if axis {
		axisRow = s.takeBottom(1)
	}
	body := s.rest()
	width := (g.W() - gap*(columns-1)) / columns
	side := sideWidth(width)
	ax := f.axis(width - chart.Gutter - side)
	per := min(chartsIn(body.H()), (len(f.plots())+columns-1)/columns)
	out := painted{frame: f, ax: ax, side: side, plots: f.choose(per * columns)}
	means := f.means(out.plots)
	stripes := f.stripes()
	for i, p := range out.plots {
		column, row := i/per, i%per
		y, end := row*body.H()/per, (row+1)*body.H()/per
		r := body.Sub(column*(width+gap), y, width, end-y)
		out.tables = append(out.tables, sideTable{means[p.q], f.chart(r, p, ax, stripes, means[p.q])})
		out.sides = append(out.sides, r.Sub(width-side, 0, side, r.H()))
	}
	for c := range columns {
		out.axes = append(out.axes, axisRow.Sub(c*(width+gap), 0, width, 1))
	}
	return out
}

// beside writes the columns right of charts, and the time below them. One setting has
// one label beside all of them.
func beside(all ...painted) {
	var tables []sideTable
	for _, p := range all {
		tables = append(tables, p.tables...)
	}
	for _, p := range all {
		l := labelled(tables, p.side)
		for i, plot := range p.plots {
			sideColumn(p.frame, p.sides[i], plot, p.tables[i], l, p.ax)
		}
		for _, g := range p.axes {
			timeAxis(p.frame, g, p.ax, p.side, l)
		}
	}
}

// axis is the time axis of charts that are so many cells wide.
func (f *Frame) axis(cells int) chart.Axis {
	a := chart.NewAxis(f.right(), f.View.Window, cells, f.Theme.ASCII)
	a.Until = f.View.End
	return a
}

// chart draws one plot and returns its scale. The means stand beside it.
func (f *Frame) chart(g theme.Grid, p plot, ax chart.Axis, stripes []chart.Stripe, means []mean) chart.Scale {
	t := f.find(p.q)
	c := chart.Chart{
		Name: p.name, Ink: p.ink, Axis: ax, Stripes: stripes, Zero: f.View.Zero,
		Units: units(p.q.Metric(), f.View.Bytes), Beside: f.largest(p, means),
	}
	if p.with != nil {
		if w := f.find(p.with); w != nil {
			c.Layers = append(c.Layers, chart.Layer{Ring: w.Ring, Kind: chart.Line, Ink: theme.Stack})
		}
	}
	if t != nil {
		c.Layers = append(c.Layers, chart.Layer{Ring: t.Ring, Kind: kind(t.Origin.Metric), Ink: p.ink})
		c.Notes = f.notes(p.name, t)
		c.Empty = f.whyEmpty(p.q)
	} else {
		c.Empty = f.whyNone(p.q)
	}
	if p.lost != nil {
		if l := f.find(p.lost); l != nil {
			c.Lost = l.Ring
		}
	}
	if f.many() {
		c.Notes = withHost(f.Called(f.View.Host), c.Notes)
	}
	key := f.View.Host + "\x00" + p.name
	s := f.Stack.painter.Paint(g, c, f.Stack.scales[key], f.right())
	f.Stack.scales[key] = s
	if !s.Known() {
		s.Unit = chart.Pick(c.Units, c.Beside)
	}
	return s
}

// largest is the largest of the figures beside a chart.
func (f *Frame) largest(p plot, means []mean) (most float64) {
	for _, q := range []*experiment.Quantity{p.q, p.with} {
		if t := f.find(q); t != nil {
			g, _ := f.figure(t)
			most = max(most, g.Value)
		}
	}
	for _, m := range means {
		most = max(most, m.value)
	}
	return most
}

func kind(m sources.Metric) chart.Kind {
	switch m.Draw {
	case sources.Area:
		return chart.Area
	case sources.Dots:
		return chart.Dots
	}
	return chart.Line
}

// notes say where a figure is from, as far as the name does not: "siftr2", "dd7fc950".
func (f *Frame) notes(name string, t *experiment.Track) []string {
	var n []string
	subject := t.Subject
	if !f.live() {
		subject = f.Session.SubjectAt(t, f.View.End)
	}
	if !strings.HasPrefix(name, t.Origin.Source) {
		n = append(n, t.Origin.Source)
	}
	if one := f.oneOf(t); one != "" {
		n = besides(one, n)
	}
	if local, _, ok := strings.Cut(subject, ">"); ok { // as the flows table names it
		subject = local[max(strings.LastIndexByte(local, ':'), 0):]
	}
	ofFlow := t.Quantity.Scope == experiment.OfFlow && subject != "" && subject != experiment.LoadSum && len(subject) <= 10
	if ofFlow || t.Quantity.Scope == experiment.OfTarget {
		n = append(n, subject)
	}
	return n
}

// oneOf is "1 of 3" where a goodput is that of one connection and others move data, too:
// what the load moves is more.
func (f *Frame) oneOf(t *experiment.Track) string {
	if t.Quantity != experiment.Goodput || !t.OfConnection() {
		return ""
	}
	moving := f.Session.Moving(f.View.Host)
	if !f.live() {
		moving = f.Session.MovingAt(f.View.Host, f.View.End)
	}
	if moving < 2 {
		return ""
	}
	return "1 of " + strconv.Itoa(moving)
}

// besides puts a word to the last of the notes, or on a line of its own.
func besides(one string, notes []string) []string {
	if i := len(notes) - 1; i >= 0 && theme.Width(notes[i]+" "+one) <= chart.NameWidth {
		notes[i] += " " + one
		return notes
	}
	return append(notes, one)
}

// withHost puts whose chart it is before the notes, on the line of the first where
// both fit.
func withHost(host string, notes []string) []string {
	if len(notes) > 0 && theme.Width(host+" "+notes[0]) <= chart.NameWidth {
		notes[0] = host + " " + notes[0]
		return notes
	}
	return append([]string{host}, notes...)
}

// timeAxis labels the columns: seconds before now while the screen follows the
// present, times of day while it does not.
func timeAxis(f *Frame, g theme.Grid, ax chart.Axis, side int, l labelling) {
	if g.H() == 0 {
		return
	}
	plot := g.Sub(chart.Gutter, 0, ax.Cells, 1)
	tick := ax.Tick(12)
	if f.live() {
		plot.Right(plot.W(), 0, theme.Dim, "now")
		now := f.right()
		for d := tick; ; d += tick {
			x := ax.Cell(now.Add(-d))
			label := "-" + strconv.Itoa(int(d.Seconds())) + "s"
			if tick >= time.Minute {
				label = "-" + span(d)
			}
			if x-theme.Width(label)+1 < 0 {
				break
			}
			plot.Right(x+1, 0, theme.Dim, label)
		}
	} else {
		for at := ax.From.Truncate(tick).Add(tick); ax.Cell(at) < plot.W(); at = at.Add(tick) {
			x := ax.Cell(at)
			if label := f.clock(at); x+theme.Width(label) <= plot.W() {
				plot.Text(x, 0, theme.Dim, label)
			}
		}
	}
	sideHeading(f, g.Sub(g.W()-side, 0, side, 1), l)
}
