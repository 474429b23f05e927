package chart

import (
	"math"

	"netwatch/tui/theme"
)

// gutter writes the name, the unit and the notes on the left, the tick labels
// right of them, and the axis.
func (p *Painter) gutter(g theme.Grid, c Chart, s Scale) {
	words := g.Sub(0, 0, NameWidth, g.H())
	x := words.Text(0, 0, c.Ink, c.Name)
	unit := ""
	if s.Known() {
		unit = s.Unit.Label
	}
	notes := c.Notes
	if fits := x+1+theme.Width(unit) <= words.W(); fits {
		words.Text(x+1, 0, theme.Dim, unit)
	} else if g.H() > 2 {
		words.Text(0, 1, theme.Dim, unit)
		words = words.Sub(0, 1, words.W(), words.H()-1)
	}
	for i, n := range notes {
		words.Text(0, 1+i, theme.Dim, n)
	}
	for y := range g.H() {
		g.Put(Gutter-1, y, p.Theme.Axis, theme.Rule)
	}
	if s.Known() {
		labels(g, s)
	}
}

// labels writes the highest and the lowest tick, and those between them that fall
// on a row and have a free one above and below.
func labels(g theme.Grid, s Scale) {
	last := g.H() - 1
	put := func(y int, v float64) { g.Right(Gutter-1, y, theme.Plain, s.label(v)) }
	put(0, s.Hi)
	if last == 0 {
		return
	}
	put(last, s.Lo)
	prev := 0
	for v := s.Hi - s.Tick; v > s.Lo+s.Tick/2; v -= s.Tick {
		exact := (s.Hi - v) / (s.Hi - s.Lo) * float64(last)
		y := int(math.Round(exact))
		if y-prev >= 2 && last-y >= 2 && math.Abs(exact-float64(y)) < 0.2 {
			put(y, v)
			prev = y
		}
	}
}
