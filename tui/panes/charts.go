package panes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/sources"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// A Stack is what is kept from frame to frame: the cells, buffers and y scales.
type Stack struct {
	grid    theme.Grid
	painter chart.Painter
	scales  map[string]chart.Scale
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

// A plot is one chart of the stack: a quantity, and what is drawn with it.
type plot struct {
	name string
	q    *experiment.Quantity
	ink  theme.Ink
	with *experiment.Quantity // a second line in the same unit, or nil
	lost *experiment.Quantity // marks on the baseline, or nil
}

// plots returns the charts that are wanted, in order. Goodput takes the place of
// the interface's throughput once anything tells it, with the stack's figure as a
// second line, because the two are never the same thing.
func (f *Frame) plots() []plot {
	tx := plot{name: "tx", q: experiment.Tx, ink: theme.Stack}
	rx := plot{name: "rx", q: experiment.Rx, ink: theme.Stack}
	top, other := tx, rx
	if q, t := f.throughput(); q == experiment.Sampled {
		top = plot{name: t.Origin.Metric.Name, q: q, ink: theme.Goodput, with: experiment.Tx}
		if t.Origin.Metric == sources.RxSampled {
			top.with, other = experiment.Rx, tx
		}
	} else if t != nil {
		top = plot{name: "goodput", q: experiment.Goodput, ink: theme.Goodput, with: experiment.Tx}
		if t.Origin.Metric == sources.RxGood {
			top.name, top.with, other = "goodput in", experiment.Rx, tx
		}
	}
	all := []plot{
		top,
		{name: "ping rtt", q: experiment.PingRTT, ink: theme.Ping, lost: experiment.PingLost},
		{name: "srtt", q: experiment.SRTT, ink: theme.SRTT},
		{name: "cwnd", q: experiment.Cwnd, ink: theme.Cwnd},
		f.irqPlot(),
		f.segmentPlot(),
		other,
		{name: "cpu", q: experiment.CPU, ink: theme.CPU},
		{name: "tx pkt", q: experiment.TxPkts, ink: theme.Packets},
		{name: "retrans", q: experiment.Retrans, ink: theme.Lost},
		{name: "rx pkt", q: experiment.RxPkts, ink: theme.Packets},
		{name: "rx drops", q: experiment.RxDrops, ink: theme.Lost},
		{name: "inflight", q: experiment.Inflight, ink: theme.Cwnd},
	}
	return append(slices.Insert(all, 1, f.loadPlots()...), f.cardPlots()...)
}

// cardPlots are what only some cards tell. Losses have a chart once there was one
// in what is shown.
func (f *Frame) cardPlots() []plot {
	var out []plot
	if f.find(experiment.TSOFactor) != nil {
		out = append(out, plot{name: "tso factor", q: experiment.TSOFactor, ink: theme.Packets})
	}
	for _, p := range []plot{
		{name: "missed", q: experiment.Missed, ink: theme.Lost},
		{name: "no buffer", q: experiment.NoBuffer, ink: theme.Lost},
		{name: "qdrops", q: experiment.QueueDrops, ink: theme.Lost},
		{name: "rx pause", q: experiment.RxPause, ink: theme.Lost},
		{name: "tx pause", q: experiment.TxPause, ink: theme.Lost},
	} {
		if t := f.find(p.q); t != nil && f.happened(t) {
			out = append(out, p)
		}
	}
	return out
}

// happened says whether anything was counted in the window.
func (f *Frame) happened(t *experiment.Track) bool {
	const columns = 60
	var bins [columns]series.Bin
	t.Ring.Window(bins[:], f.right().Add(-f.View.Window), f.View.Window/columns)
	return slices.ContainsFunc(bins[:], func(b series.Bin) bool { return b.Sum > 0 })
}

// irqPlot is named after whose interrupts it shows: the card's own, as the kernel
// takes them or the card counts them, or those of a line it shares.
func (f *Frame) irqPlot() plot {
	p := plot{name: "irq", q: experiment.Irqs, ink: theme.Interrupts}
	if t := f.find(p.q); t != nil {
		p.name = t.Origin.Metric.Name
	}
	return p
}

// segmentPlot is the segment as a log tells it. Where none ever did, the mean size
// of the packets at the interface, headers and all, is an estimate of it and says so.
func (f *Frame) segmentPlot() plot {
	estimate := plot{name: "seg est.", q: experiment.TxSize, ink: theme.Segment}
	if f.goodputIn() {
		estimate.q = experiment.RxSize
	}
	if f.find(experiment.Segment) == nil && f.find(estimate.q) != nil {
		return estimate
	}
	return plot{name: "avg seg", q: experiment.Segment, ink: theme.Segment}
}

// loadPlots are what only some loads tell: each has its place as soon as it is told.
func (f *Frame) loadPlots() []plot {
	var out []plot
	for _, p := range []plot{
		{name: "load in", q: experiment.LoadIn, ink: theme.Goodput},
		{name: "latency", q: experiment.Latency, ink: theme.SRTT},
		{name: "jitter", q: experiment.Jitter, ink: theme.SRTT},
		{name: "udp lost", q: experiment.UDPLost, ink: theme.Lost},
		{name: "iperf rtt", q: experiment.IperfRTT, ink: theme.SRTT},
		{name: "netpwr", q: experiment.NetPower, ink: theme.Packets},
	} {
		switch {
		case f.find(p.q) == nil:
		case p.q == experiment.LoadIn && f.goodputIn(): // the first chart shows it
		case p.q == experiment.IperfRTT && f.find(experiment.SRTT) != nil: // the kernel tells it finer
		default:
			out = append(out, p)
		}
	}
	return out
}

// goodputIn says whether the first chart is what the load receives.
func (f *Frame) goodputIn() bool {
	t := f.find(experiment.Goodput)
	return t != nil && t.Origin.Metric == sources.RxGood
}

// throughput is the goodput, or where only a log tells it that holds some of the
// packets, what those moved. The Track is nil when nothing tells it.
func (f *Frame) throughput() (*experiment.Quantity, *experiment.Track) {
	now := f.Session.Now()
	t := f.find(experiment.Goodput)
	part := f.find(experiment.Sampled)
	if part != nil {
		if t == nil {
			return experiment.Sampled, part
		}
		_, stale := t.Stale(now)
		if _, partStale := part.Stale(now); stale && !partStale {
			return experiment.Sampled, part
		}
	}
	return experiment.Goodput, t
}

// choose takes n plots: those that somebody tells first, and the others while
// there is room, all in their order.
func (f *Frame) choose(n int) []plot {
	all := f.plots()
	told := 0
	for _, p := range all {
		if f.find(p.q) != nil {
			told++
		}
	}
	untold := max(n-told, 0)
	var out []plot
	for _, p := range all {
		if f.find(p.q) == nil {
			if untold == 0 {
				continue
			}
			untold--
		}
		if len(out) < n {
			out = append(out, p)
		}
	}
	return out
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
func charts(f *Frame, g theme.Grid, axis bool) {
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
	ax := chart.NewAxis(f.right(), f.View.Window, width-chart.Gutter-side, f.Theme.ASCII)
	per := min(chartsIn(body.H()), (len(f.plots())+columns-1)/columns)
	chosen := f.choose(per * columns)
	means := f.means(chosen)
	stripes := f.stripes()
	for i, p := range chosen {
		column, row := i/per, i%per
		y, end := row*body.H()/per, (row+1)*body.H()/per
		r := body.Sub(column*(width+gap), y, width, end-y)
		scale := f.chart(r, p, ax, stripes)
		sideColumn(f, r.Sub(width-side, 0, side, r.H()), p, scale, means, ax)
	}
	for c := range columns {
		timeAxis(f, axisRow.Sub(c*(width+gap), 0, width, 1), ax, side)
	}
}

// chart draws one plot and returns its scale.
func (f *Frame) chart(g theme.Grid, p plot, ax chart.Axis, stripes []chart.Stripe) chart.Scale {
	t := f.find(p.q)
	c := chart.Chart{
		Name: p.name, Ink: p.ink, Axis: ax, Stripes: stripes, Zero: f.View.Zero,
		Units: units(p.q.Metric(), f.View.Bytes),
	}
	if p.with != nil {
		if w := f.find(p.with); w != nil {
			c.Layers = append(c.Layers, chart.Layer{Ring: w.Ring, Kind: chart.Line, Ink: theme.Stack})
		}
	}
	if t != nil {
		c.Layers = append(c.Layers, chart.Layer{Ring: t.Ring, Kind: kind(t.Origin.Metric), Ink: p.ink})
		c.Notes = notes(p.name, t)
		c.Empty = "no reading in this window"
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
	f.Stack.scales[key] = f.Stack.painter.Paint(g, c, f.Stack.scales[key], f.Session.Now())
	return f.Stack.scales[key]
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
func notes(name string, t *experiment.Track) []string {
	var n []string
	if !strings.HasPrefix(name, t.Origin.Source) {
		n = append(n, t.Origin.Source)
	}
	ofFlow := t.Quantity.Scope == experiment.OfFlow && t.Subject != experiment.LoadSum && len(t.Subject) <= 10
	if ofFlow || t.Quantity.Scope == experiment.OfTarget {
		n = append(n, t.Subject)
	}
	return n
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

// whyNone says why nobody tells a quantity, in the words of the source that should.
func (f *Frame) whyNone(q *experiment.Quantity) string {
	var names []string
	for _, o := range q.From {
		if !slices.Contains(names, o.Source) {
			names = append(names, o.Source)
		}
	}
	if q.Scope == experiment.OfInterface {
		names = names[:1] // the others tell what this one cannot
	}
	if p := f.Session.Peer(f.View.Host); p != nil && !p.Gone.IsZero() {
		return p.Host + " is gone"
	}
	if f.noPayload(q) {
		return "not in this format: siftr logs no payload"
	}
	silent := ""
	for _, st := range f.Session.Sources() {
		if st.Host != f.View.Host || !slices.Contains(names, st.Name) {
			continue
		}
		switch {
		case st.Gone != "":
			return "no " + st.Name + ": " + st.Gone
		case st.NoteError:
			return "no " + st.Name + ": " + st.Note
		case silent == "" && st.Last.IsZero():
			silent = st.Name + " has told nothing yet"
		case silent == "":
			silent = st.Name + " does not tell " + q.Name
		}
	}
	if silent != "" {
		return silent
	}
	return "no source: " + strings.Join(names, ", ")
}

// noPayload says whether a quantity is missing because a log that speaks carries
// no payload.
func (f *Frame) noPayload(q *experiment.Quantity) bool {
	if q != experiment.Segment {
		return false
	}
	return slices.ContainsFunc(f.Session.Sources(), func(st *experiment.SourceState) bool {
		return st.Host == f.View.Host && st.NoPayload && st.Gone == ""
	})
}

// timeAxis labels the columns: seconds before now while the screen follows the
// present, times of day while it does not.
func timeAxis(f *Frame, g theme.Grid, ax chart.Axis, side int) {
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
	sideHeading(f, g.Sub(g.W()-side, 0, side, 1))
}
