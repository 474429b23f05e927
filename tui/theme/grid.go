package theme

import (
	"cmp"
	"strings"
)

// A Cell is one place on the screen. The zero Cell is blank.
type Cell struct {
	Rune rune
	Ink  Ink
}

// A Grid is a rectangle of cells to paint on. What falls outside is cut off, so
// no pane can leave its rectangle. Parts made with Sub share the cells.
type Grid struct {
	cells      []Cell
	stride     int
	x, y, w, h int
}

// NewGrid returns a blank Grid. Sizes below zero count as zero.
func NewGrid(w, h int) Grid {
	w, h = max(w, 0), max(h, 0)
	return Grid{cells: make([]Cell, w*h), stride: w, w: w, h: h}
}

// W is the width in cells.
func (g Grid) W() int { return g.w }

// H is the height in cells.
func (g Grid) H() int { return g.h }

// Clear blanks every cell.
func (g Grid) Clear() {
	for y := range g.h {
		clear(g.row(y))
	}
}

// Sub is the part of g at x, y of size w, h, as far as it lies in g.
func (g Grid) Sub(x, y, w, h int) Grid {
	x0, y0 := min(max(x, 0), g.w), min(max(y, 0), g.h)
	x1, y1 := min(max(x+w, x0), g.w), min(max(y+h, y0), g.h)
	return Grid{cells: g.cells, stride: g.stride, x: g.x + x0, y: g.y + y0, w: x1 - x0, h: y1 - y0}
}

func (g Grid) row(y int) []Cell {
	i := (g.y+y)*g.stride + g.x
	return g.cells[i : i+g.w]
}

// At is the cell at x, y; the zero Cell outside.
func (g Grid) At(x, y int) Cell {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return Cell{}
	}
	return g.row(y)[x]
}

// Put paints one cell.
func (g Grid) Put(x, y int, r rune, ink Ink) {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return
	}
	g.row(y)[x] = Cell{r, ink}
}

// Text writes s at x, y and returns the x after it, which may lie outside.
func (g Grid) Text(x, y int, ink Ink, s string) int {
	for _, r := range s {
		g.Put(x, y, narrow(r), ink)
		x++
	}
	return x
}

// Right writes s so that it ends before x. What does not fit is cut off on the left.
func (g Grid) Right(x, y int, ink Ink, s string) { g.Text(x-Width(s), y, ink, s) }

// Fill paints every cell of row y from x on.
func (g Grid) Fill(x, y int, r rune, ink Ink) {
	for ; x < g.w; x++ {
		g.Put(x, y, r, ink)
	}
}

// Tint gives the row another ink, also where it is blank.
func (g Grid) Tint(y int, ink Ink) {
	if y < 0 || y >= g.h {
		return
	}
	for x, c := range g.row(y) {
		if c.Rune == 0 {
			c.Rune = ' '
		}
		g.Put(x, y, c.Rune, ink)
	}
}

// Width is the number of cells that Text fills with s.
func Width(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// narrow returns r if it is one cell wide in every locale, else a question mark:
// a name from outside must not shift what stands right of it.
func narrow(r rune) rune {
	switch {
	case r >= ' ' && r <= '~', r >= 0x2800 && r <= 0x28ff, r >= 0xc0 && r < 0x250 && r != 0xd7 && r != 0xf7:
		return r
	}
	return '?'
}

// String writes the Grid as lines, one escape sequence for each run of an ink and
// none of them longer than the Grid is wide. Blanks at the end of a line are left out.
func (g Grid) String(t *Theme) string {
	var b strings.Builder
	b.Grow(g.w*g.h*2 + g.h*16)
	for y := range g.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		t.line(&b, g.row(y))
	}
	return b.String()
}

func (t *Theme) line(b *strings.Builder, row []Cell) {
	end := len(row)
	for end > 0 && (row[end-1].Rune == 0 || row[end-1] == Cell{' ', Plain}) {
		end--
	}
	on := Plain // the ink that the terminal writes with
	for _, c := range row[:end] {
		if c.Rune == 0 { // a blank takes any ink that does not show on it
			c = Cell{' ', on}
			if t.ground[on] {
				c.Ink = Plain
			}
		}
		if t.seq[c.Ink] != t.seq[on] {
			b.WriteString(cmp.Or(t.seq[c.Ink], reset))
			on = c.Ink
		}
		if t.ASCII && c.Rune > '~' {
			c.Rune = '?'
		}
		b.WriteRune(c.Rune)
	}
	if t.seq[on] != "" {
		b.WriteString(reset)
	}
}

const reset = "\x1b[m"

// ground says whether a sequence shows on blanks as well: reverse, underline or a ground colour.
func ground(seq string) bool {
	return strings.Contains(seq, ";7m") || strings.Contains(seq, ";4m") || strings.Contains(seq, ";48;")
}
