package chart

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"

	"netwatch/experiment/series"
	"netwatch/tui/theme"
)

// layer draws one Layer from its bins.
func (p *Painter) layer(plot theme.Grid, l Layer, bins []series.Bin, s Scale) {
	if plot.W() == 0 || plot.H() == 0 {
		return
	}
	if p.Theme.ASCII {
		p.ascii(plot, l, bins, s)
		return
	}
	d := pen{p.blank(plot.W(), plot.H()), len(bins) - 1, s}
	switch l.Kind {
	case Dots:
		for x, b := range bins {
			readings(b, l, func(v float64) { d.Set(d.at(x, v)) })
		}
	case Area:
		bottom := plot.H()*4 - 1
		for x, v := range p.line(bins, l) {
			if !math.IsNaN(v) {
				d.column(x, d.at(x, v).Y, bottom)
			}
		}
	case Line:
		d.join(p.line(bins, l))
	}
	for y, row := range d.BraillePatterns() {
		for x, r := range row {
			if r != noDot {
				plot.Put(x, y, plot.At(x, y).Rune|r, l.Ink)
			}
		}
	}
}

// noDot is the braille pattern without a dot. Patterns are or-ed together.
const noDot = '\u2800'

// blank returns an empty grid of dots for so many cells. Its coordinates run from
// 0 to 1, so that plots of one size can share it.
func (p *Painter) blank(w, h int) *graph.BrailleGrid {
	if p.dots == nil || p.w != w || p.h != h {
		p.dots, p.w, p.h = graph.NewBrailleGrid(w, h, 0, 1, 0, 1), w, h
	} else {
		p.dots.Clear()
	}
	return p.dots
}

// A pen sets dots by column and value.
type pen struct {
	*graph.BrailleGrid
	last  int // column
	scale Scale
}

func (d pen) at(x int, v float64) canvas.Point {
	return d.GridPoint(canvas.Float64Point{
		X: float64(x) / float64(max(d.last, 1)),
		Y: d.scale.part(v),
	})
}

func (d pen) column(x, from, to int) {
	for y := min(from, to); y <= max(from, to); y++ {
		d.Set(canvas.Point{X: x, Y: y})
	}
}

// join draws a line through neighbouring values: a step is drawn in the column of
// the newer value.
func (d pen) join(y []float64) {
	prev := -1
	for x, v := range y {
		if math.IsNaN(v) {
			prev = -1
			continue
		}
		to := d.at(x, v).Y
		switch {
		case prev < 0 || prev == to:
			d.column(x, to, to)
		case prev < to:
			d.column(x, prev+1, to)
		default:
			d.column(x, to, prev-1)
		}
		prev = to
	}
}

// readings says the values of a bin that are known one by one: all of them up to
// three, else the smallest, the mean and the largest.
func readings(b series.Bin, l Layer, say func(float64)) {
	mean, ok := value(b, l)
	if !ok {
		return
	}
	say(float64(b.Min))
	if b.N < 2 {
		return
	}
	say(float64(b.Max))
	switch {
	case b.N == 3:
		say(b.Sum - float64(b.Min) - float64(b.Max))
	case b.N > 3:
		say(mean)
	}
}

// line returns a value for each column. Between two readings the line passes
// through columns that are covered; it breaks where one is not.
func (p *Painter) line(bins []series.Bin, l Layer) []float64 {
	p.y = p.y[:0]
	last := -1 // column of the last reading, -1 after a gap
	for x, b := range bins {
		v, ok := value(b, l)
		p.y = append(p.y, math.NaN())
		switch {
		case ok:
			p.y[x] = v
			if last >= 0 {
				for i := last + 1; i < x; i++ {
					p.y[i] = p.y[last] + (v-p.y[last])*float64(i-last)/float64(x-last)
				}
			}
			last = x
		case !b.Covered():
			last = -1
		}
	}
	return p.y
}

// ascii draws with one character a cell: three heights of a line, four of an area.
func (p *Painter) ascii(plot theme.Grid, l Layer, bins []series.Bin, s Scale) {
	level := func(v float64, steps int) int {
		return int(math.Round(s.part(v) * float64(plot.H()*steps-1)))
	}
	point := func(x int, v float64, glyphs string) {
		n := level(v, len(glyphs))
		plot.Put(x, plot.H()-1-n/len(glyphs), rune(glyphs[n%len(glyphs)]), l.Ink)
	}
	if l.Kind == Dots {
		for x, b := range bins {
			readings(b, l, func(v float64) { point(x, v, ".-'") })
		}
		return
	}
	for x, v := range p.line(bins, l) {
		switch {
		case math.IsNaN(v):
		case l.Kind == Line:
			point(x, v, "_-'")
		default:
			n := level(v, 4)
			for y := range n / 4 {
				plot.Put(x, plot.H()-1-y, '#', l.Ink)
			}
			point(x, v, ".-=#")
		}
	}
}
