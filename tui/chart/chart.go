// Package chart draws one quantity over time into a rectangle of cells: labels on
// the left, the plot on the right, in braille dots (2x4 a cell) or ASCII. It is
// given rings, an axis and a scale, and decides nothing about what they mean. A
// gap in the data is a gap in the picture.
//
// The dots are ntcharts' braille grid; the string is made by theme.Grid, because
// ntcharts' own View styles every cell by itself and costs milliseconds.
package chart

import (
	"math"
	"time"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"

	"netwatch/experiment/series"
	"netwatch/tui/theme"
)

// A Kind is how a Layer is drawn.
type Kind uint8

const (
	Line Kind = iota // through the means
	Area             // filled from zero
	Dots             // one dot a reading, never joined
)

// A Layer is one line, area or cloud of a Chart. Later layers lie on top.
type Layer struct {
	Ring *series.Ring
	Kind Kind
	Ink  theme.Ink
}

// A Stripe is a column through the whole plot (From equals To), or shading where
// no data are (To is later).
type Stripe struct {
	From, To time.Time
	Glyph    rune
	Ink      theme.Ink
}

// A Chart is what to draw.
type Chart struct {
	Name    string // top left, in the ink of the first Layer
	Ink     theme.Ink
	Notes   []string // below the name and the unit: where the figures are from
	Empty   string   // what to say in a plot without a value
	Layers  []Layer
	Lost    *series.Ring // a sign on the baseline where something was lost, or nil
	Stripes []Stripe
	Axis    Axis
	Units   []Unit  // smallest first
	Beside  float64 // the largest figure that stands beside, in the same unit
	Zero    bool    // always start at zero
}

// Gutter is the width of the labels and the axis left of the plot.
const Gutter = 17

const labelWidth = 6

// NameWidth is how much of it names, units and notes can take.
const NameWidth = Gutter - labelWidth - 1

// A Painter draws Charts and keeps its buffers between them. It is not safe for
// use by several goroutines.
type Painter struct {
	Theme *theme.Theme
	bins  []series.Bin
	y     []float64 // of the Layer at hand, one a column, NaN where there is no line
	dots  *graph.BrailleGrid
	w, h  int // of dots, in cells
}

// Paint draws c into g and returns the Scale to pass in with the next frame. now
// is the time by which a scale shrinks.
func (p *Painter) Paint(g theme.Grid, c Chart, s Scale, now time.Time) Scale {
	cols := c.Axis.Columns()
	p.load(c, cols)
	lo, hi, any := p.extent(c, cols)
	c.Units = worth(c.Units, hi, c.Beside)
	if any {
		s = s.Fit(lo, hi, c.Zero || hasArea(c.Layers), c.Units, now)
	} else if s.Known() && !has(c.Units, s.Unit) {
		s = Scale{}
	}
	plot := g.Sub(Gutter, 0, c.Axis.Cells, g.H())
	p.gutter(g.Sub(0, 0, Gutter, g.H()), c, s)
	if any {
		for i, l := range c.Layers {
			p.layer(plot, l, p.bins[i*cols:(i+1)*cols], s)
		}
	}
	for _, v := range c.Stripes {
		stripe(plot, c.Axis, v)
	}
	if c.Lost != nil {
		p.lost(plot, c)
	}
	if !any {
		empty(plot, c.Empty)
	}
	return s
}

// load reads the bins of every Layer, one after the other, into p.bins.
func (p *Painter) load(c Chart, cols int) {
	if need := cols * (len(c.Layers) + 1); cap(p.bins) < need {
		p.bins = make([]series.Bin, need)
	}
	p.bins = p.bins[:cols*(len(c.Layers)+1)]
	for i, l := range c.Layers {
		read(p.bins[i*cols:(i+1)*cols], l.Ring, c.Axis)
	}
}

// read fills a bin for each column of an Axis.
func read(bins []series.Bin, r *series.Ring, a Axis) {
	told := a.Told()
	r.Window(bins[:told], a.From, a.Step)
	clear(bins[told:])
}

func hasArea(layers []Layer) bool {
	for _, l := range layers {
		if l.Kind == Area {
			return true
		}
	}
	return false
}

// value is a bin's mean, if there is one and it can be drawn.
func value(b series.Bin, l Layer) (v float64, ok bool) {
	v, ok = b.Mean(l.Ring.Agg())
	for _, x := range []float64{v, float64(b.Min), float64(b.Max)} {
		ok = ok && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return v, ok
}

// extent is the range of what will be drawn: means, and for Dots every reading.
func (p *Painter) extent(c Chart, cols int) (lo, hi float64, any bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, l := range c.Layers {
		for _, b := range p.bins[i*cols : (i+1)*cols] {
			v, ok := value(b, l)
			if !ok {
				continue
			}
			any = true
			lo, hi = min(lo, v), max(hi, v)
			if l.Kind == Dots {
				lo, hi = min(lo, float64(b.Min)), max(hi, float64(b.Max))
			}
		}
	}
	return lo, hi, any
}

// empty says why there is nothing in the middle of the plot, in as many rows as that
// takes and there are.
func empty(plot theme.Grid, words string) {
	rows := theme.FoldWhole(words, plot.W())
	if left := len(rows) - plot.H(); left > 0 && plot.H() > 0 {
		rows = rows[:plot.H()]
		last := []rune(rows[plot.H()-1])
		rows[plot.H()-1] = string(last[:min(len(last), max(plot.W()-len(".."), 0))]) + ".."
	}
	for i, row := range rows {
		x := max((plot.W()-theme.Width(row))/2, 0)
		plot.Text(x, (plot.H()-len(rows))/2+i, theme.Dim, row)
	}
}

func stripe(plot theme.Grid, a Axis, v Stripe) {
	from, to := a.Cell(v.From), a.Cell(v.To)
	if to < 0 || from >= plot.W() {
		return
	}
	shade := v.To.After(v.From)
	for x := max(from, 0); x <= min(to, plot.W()-1); x++ {
		for y := range plot.H() {
			if !shade || plot.At(x, y).Rune == 0 {
				plot.Put(x, y, v.Glyph, v.Ink)
			}
		}
	}
}

func (p *Painter) lost(plot theme.Grid, c Chart) {
	cols := c.Axis.Columns()
	bins := p.bins[len(p.bins)-cols:]
	read(bins, c.Lost, c.Axis)
	for i, b := range bins {
		if b.Sum > 0 && b.N > 0 { // in the column where the loss ends, not in all it spans
			plot.Put(i/c.Axis.PerCell, plot.H()-1, p.Theme.Lost, theme.Lost)
		}
	}
}
