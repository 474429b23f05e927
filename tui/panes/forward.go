package panes

import (
	"math"
	"strconv"

	"netwatch/experiment"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// Widths of the table of two interfaces.
const (
	forwardLabel  = 12
	forwardColumn = 7
	forwardWide   = 12 // where there is room
)

// A forwardRow is one line of the table: what is told of each direction, or of
// the card as a whole.
type forwardRow struct {
	label   string
	in, out *experiment.Quantity
	card    *experiment.Quantity
	octets  bool
	plain   bool // every digit matters
}

var forwardRows = []forwardRow{
	{label: "packets/s", in: experiment.RxPkts, out: experiment.TxPkts},
	{label: "wire pkt/s", in: experiment.RxWirePkts, out: experiment.TxWirePkts},
	{in: experiment.Rx, out: experiment.Tx, octets: true},
	{label: "mean octets", in: experiment.RxSize, out: experiment.TxSize, plain: true},
	{label: "drops/s", in: experiment.RxDrops, out: experiment.TxDrops},
	{label: "errors/s", in: experiment.RxErrors, out: experiment.TxErrors},
	{label: "missed/s", in: experiment.Missed},
	{label: "no buffer/s", in: experiment.NoBuffer},
	{label: "pause/s", in: experiment.RxPause, out: experiment.TxPause},
	{label: "qdrops/s", card: experiment.QueueDrops},
	{label: "irq/s", card: experiment.Irqs},
}

// forwarding is what stands in place of the charts while two interfaces are
// watched: their counters side by side, what passes from one to the other, and
// both directions over time where there is room.
//
//	em0 > em1  not forwarded 100/s 1.00%  in 10.0k/s  out 9.90k/s  (10 s, stack)
//	em1 > em0  all forwarded  in 100/s  out 100/s  (10 s, stack)
//	                      em0             em1
//	                in    out       in    out
//	packets/s    10.0k    100      100  9.90k
func forwarding(f *Frame, g theme.Grid, axis bool) {
	s := &stacker{g: g, end: g.H()}
	f.passageLine(s.take(1), false)
	f.passageLine(s.take(1), true)
	rows := f.forwardRows()
	f.forwardTable(s.take(len(rows)+2), rows)
	if rest := s.end - s.top; rest > leastCharts {
		s.take(1).Text(0, 0, theme.Dim, whole("what was for this host itself counts as not forwarded; a little is noise", g.W()))
		f.passageCharts(s.rest(), axis)
	}
}

// leastCharts are the rows above which the two charts can be read.
const leastCharts = 6

// forwardRows are those that either interface tells.
func (f *Frame) forwardRows() (rows []forwardRow) {
	for _, r := range forwardRows {
		if r.octets {
			r.label = "bit/s"
			if f.View.Bytes {
				r.label = "byte/s"
			}
		}
		for _, q := range []*experiment.Quantity{r.in, r.out, r.card} {
			if q != nil && (f.Session.Find(q, "") != nil || f.Session.FindSecond(q) != nil) {
				rows = append(rows, r)
				break
			}
		}
	}
	return rows
}

// forwardTable writes a heading of two rows, then the rows, for each interface a
// column in and a column out.
func (f *Frame) forwardTable(g theme.Grid, rows []forwardRow) {
	column := min(max((g.W()-forwardLabel)/4, forwardColumn), forwardWide)
	for y, r := range rows {
		g.Text(0, 2+y, theme.Dim, r.label)
	}
	first := func(q *experiment.Quantity) *experiment.Track { return f.Session.Find(q, "") }
	for i, find := range []func(*experiment.Quantity) *experiment.Track{first, f.Session.FindSecond} {
		part := g.Sub(forwardLabel+2*i*column, 0, 2*column, g.H())
		name := f.forwardName(i)
		part.Right(part.W(), 0, name.ink, name.text)
		part.Right(column, 1, theme.Dim, "in")
		part.Right(2*column, 1, theme.Dim, "out")
		for y, r := range rows {
			for x, q := range [...]*experiment.Quantity{r.in, r.out} {
				if q != nil {
					f.forwardCell(part, (x+1)*column, 2+y, find(q), r)
				}
			}
			if r.card != nil {
				f.forwardCell(part, 2*column, 2+y, find(r.card), r)
			}
		}
	}
}

// forwardName is the name of the first or second interface, and beside figures of the
// present that it has no link.
func (f *Frame) forwardName(i int) word {
	name, down := f.Session.Interface, false
	if i == 0 {
		_, down = f.Session.LinkDown("")
	} else {
		name = f.Session.Second
		_, down = f.Session.SecondDown()
	}
	if down && f.live() {
		return word{name + " NO LINK", theme.Alert}
	}
	return word{name, theme.Strong}
}

// forwardCell writes a figure that ends at x; a stale one with a question mark.
func (f *Frame) forwardCell(g theme.Grid, x, y int, t *experiment.Track, r forwardRow) {
	if t == nil {
		g.Right(x, y, theme.Dim, "-")
		return
	}
	now, ok := f.figure(t)
	if !ok {
		g.Right(x, y, theme.Dim, "-")
		return
	}
	v := now.Value
	if r.octets && !f.View.Bytes {
		v *= 8
	}
	text, ink := si(v), theme.Plain
	if r.plain {
		text = figure(v)
	}
	if now.Stale {
		text, ink = text+"?", theme.Warn
	}
	g.Right(x, y, ink, text)
}

// enoughForShare is how many packets must have come in before a share of them is told.
const enoughForShare = 1000

// passageLine says what passes in one direction.
func (f *Frame) passageLine(g theme.Grid, back bool) {
	from, to := f.Session.Interface, f.Session.Second
	if back {
		from, to = to, from
	}
	x := g.Text(0, 0, theme.Strong, from+" > "+to) + 2
	p, ok := f.Session.Passage(back, f.right())
	if !ok {
		g.Text(x, 0, theme.Dim, "not enough told yet")
		return
	}
	by := "stack"
	if p.Wire {
		by = "wire"
	}
	lost, share := p.Lost()
	words := []word{{"in " + si(p.In) + "/s", theme.Plain}, {"out " + si(p.Out) + "/s", theme.Plain}}
	switch {
	case lost > 0:
		text := "not forwarded " + si(lost) + "/s"
		if p.In*float64(p.Seconds) >= enoughForShare {
			text += " " + strconv.FormatFloat(share*100, 'f', 2, 64) + "%"
		}
		words = append([]word{{text, theme.Lost}}, words...)
	case lost < 0:
		words = append([]word{{si(-lost) + "/s more out than in", theme.Warn}}, words...)
	default:
		words = append([]word{{"all forwarded", theme.Plain}}, words...)
	}
	words = append(words, word{"(" + strconv.Itoa(p.Seconds) + " s, " + by + ")", theme.Dim})
	for _, w := range words {
		if x+theme.Width(w.text) > g.W() {
			break
		}
		x = g.Text(x, 0, w.ink, w.text) + 2
	}
}

// passageCharts draws both directions: what came in, and over it what left.
func (f *Frame) passageCharts(g theme.Grid, axis bool) {
	s := &stacker{g: g, end: g.H()}
	var axisRow theme.Grid
	if axis {
		axisRow = s.takeBottom(1)
	}
	body := s.rest()
	ax := f.axis(g.W() - chart.Gutter)
	stripes := f.stripes()
	for i, ends := range [2]struct {
		name    string
		by      string // where it leaves
		in, out *experiment.Track
	}{
		{f.Session.Interface + " in", f.Session.Second, f.Session.Find(experiment.RxPkts, ""), f.Session.FindSecond(experiment.TxPkts)},
		{f.Session.Second + " in", f.Session.Interface, f.Session.FindSecond(experiment.RxPkts), f.Session.Find(experiment.TxPkts, "")},
	} {
		c := chart.Chart{Name: ends.name, Ink: theme.Stack, Axis: ax, Stripes: stripes, Zero: f.View.Zero,
			Units: units(experiment.RxPkts.Metric(), false), Empty: "no packets are told",
			Notes: []string{ends.by + " out"}}
		for _, l := range []struct {
			t   *experiment.Track
			ink theme.Ink
		}{{ends.in, theme.Stack}, {ends.out, theme.Packets}} {
			if l.t != nil {
				c.Layers = append(c.Layers, chart.Layer{Ring: l.t.Ring, Kind: chart.Line, Ink: l.ink})
			}
		}
		y, end := i*body.H()/2, (i+1)*body.H()/2
		key := "forward\x00" + ends.name
		f.Stack.scales[key] = f.Stack.painter.Paint(body.Sub(0, y, g.W(), end-y), c, f.Stack.scales[key], f.right())
	}
	timeAxis(f, axisRow, ax, 0, labelling{})
}

// si writes a figure in three digits: "941M", "10.0k", "7", "0.25".
func si(v float64) string {
	suffix := ""
	for _, s := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, suffix = v/1000, s
	}
	decimals := 0
	switch a := math.Abs(v); {
	case a == math.Trunc(a) && suffix == "":
	case a < 9.995:
		decimals = 2
	case a < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + suffix
}
