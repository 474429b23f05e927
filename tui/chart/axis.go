package chart

import "time"

// An Axis is the stretch of time that all charts of a screen share, cut into
// columns of one Step. Columns begin at multiples of the Step (and cells at
// multiples of theirs), so that a chart scrolls by whole cells and a bin never
// changes its column.
type Axis struct {
	From    time.Time
	Step    time.Duration // of one column
	PerCell int           // columns in a cell: 2 in braille, 1 in ASCII
	Cells   int
	Until   time.Time // what a column holds that ends later is not told; zero: all is
}

// NewAxis covers at least the window before end in the given number of cells.
func NewAxis(end time.Time, window time.Duration, cells int, ascii bool) Axis {
	a := Axis{PerCell: 2, Cells: max(cells, 1)}
	if ascii {
		a.PerCell = 1
	}
	a.Step = roundUp(window / time.Duration(a.Columns()))
	cell := int64(a.Step) * int64(a.PerCell)
	right := (floorDiv(end.UnixNano(), cell) + 1) * cell
	a.From = time.Unix(0, right-cell*int64(a.Cells)).In(end.Location())
	return a
}

// roundUp takes a step to a round one, at most a quarter longer.
func roundUp(d time.Duration) time.Duration {
	unit := 100 * time.Millisecond
	for unit*10 < d {
		unit *= 2
	}
	return max((d+unit-1)/unit*unit, unit)
}

// Columns is how many Steps the Axis spans.
func (a Axis) Columns() int { return a.Cells * a.PerCell }

// Told is how many of the columns are told, from the left. A picture that stands still
// has no column that goes on filling.
func (a Axis) Told() int {
	if a.Until.IsZero() {
		return a.Columns()
	}
	return min(max(int(floorDiv(int64(a.Until.Sub(a.From)), int64(a.Step))), 0), a.Columns())
}

// End is where the Axis ends.
func (a Axis) End() time.Time { return a.From.Add(a.Step * time.Duration(a.Columns())) }

// Cell is the cell that holds t; it lies outside 0..Cells-1 when t is not on the Axis.
func (a Axis) Cell(t time.Time) int {
	return int(floorDiv(int64(t.Sub(a.From)), int64(a.Step)*int64(a.PerCell)))
}

// ticks are the distances between labels of the Axis.
var ticks = []time.Duration{
	5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute,
	5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour,
}

// Tick is the distance between labels that are at least so many cells apart.
func (a Axis) Tick(cells int) time.Duration {
	for _, d := range ticks {
		if d >= a.Step*time.Duration(a.PerCell*cells) {
			return d
		}
	}
	return ticks[len(ticks)-1]
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
