package panes

import (
	"math"
	"strconv"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// capWords are what the moderation allows at most, in the unit of the irq chart, and the
// state that this tells: "cap 20.03", "low lat". It hops, so that only a single reading
// is true, never a mean.
func (f *Frame) capWords(s chart.Scale) []word {
	v, ok := f.capNow()
	if !ok {
		return nil
	}
	out := []word{{"cap " + figure(v*s.Unit.Factor), theme.Dim}}
	if state := experiment.Moderation(v); state != "" {
		out = append(out, word{state, theme.Dim})
	}
	if len(f.queues()) > 0 { // the figure beside it is that of all of them
		out = append(out, word{"of queue 0", theme.Dim})
	}
	return out
}

func (f *Frame) capNow() (float64, bool) {
	t := f.find(experiment.IrqCap)
	if t == nil {
		return 0, false
	}
	if f.live() {
		_, stale := t.Stale(f.Session.Now())
		v, ok := t.Now()
		return v, ok && !stale
	}
	const seconds = 3
	var bins [seconds]series.Bin
	t.Ring.Window(bins[:], f.View.End.Truncate(time.Second).Add(-seconds*time.Second), time.Second)
	for i := seconds - 1; i >= 0; i-- {
		if b := bins[i]; b.N > 0 {
			return float64(b.Max), b.Min == b.Max
		}
	}
	return 0, false
}

// queues are the interrupt lines of the host that is looked at, at the right edge.
func (f *Frame) queues() []experiment.Queue { return f.Session.Queues(f.View.Host, f.View.End) }

// hasQueues says whether any host that is shown has several lines.
func (f *Frame) hasQueues(both bool) bool {
	return len(f.queues()) > 0 || both && (len(f.of("").queues()) > 0 || len(f.of(f.onTheRight()).queues()) > 0)
}

// queueWords name each interrupt line and its rate: "rxq0 3901", "irq0 shared 12".
func (f *Frame) queueWords() []word {
	var out []word
	for _, q := range f.queues() {
		name, ink := q.Name, theme.Plain
		if q.Shared {
			name, ink = name+" shared", theme.Warn
		}
		out = append(out, word{name + " " + perQueue(q.PerSecond), ink})
	}
	return out
}

// perQueue writes interrupts a second without a unit that would have to change.
func perQueue(v float64) string {
	if a := math.Abs(v); a != 0 && a < 99.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// queueRow is one row with the interrupts of each line, of both ends where both are
// shown; ".." stands for those that have no room, which the page of flows has.
func queueRow(f *Frame, g theme.Grid, both bool) {
	ends := []*Frame{f}
	if both {
		ends = []*Frame{f.of(""), f.of(f.onTheRight())}
	}
	x := g.Text(0, 0, theme.Dim, "irq/s by queue") + 2
	for _, end := range ends {
		words := end.queueWords()
		if both && len(words) > 0 {
			words[0].text = end.Called(end.View.Host) + " " + words[0].text
		}
		for _, w := range words {
			if x+theme.Width(w.text) > g.W()-len("  ..") {
				g.Text(x, 0, theme.Dim, "..")
				return
			}
			x = g.Text(x, 0, w.ink, w.text) + 2
		}
	}
}

// queueRows are all of them in rows of w cells.
func (f *Frame) queueRows(w int) (rows [][]word) {
	words := f.queueWords()
	if len(words) == 0 {
		return nil
	}
	row, x := []word{{"irq/s by queue", theme.Dim}}, theme.Width("irq/s by queue")
	for _, q := range words {
		if x += 2 + theme.Width(q.text); x > w {
			rows, row, x = append(rows, row), []word{{"", theme.Dim}}, 2+theme.Width(q.text)
		}
		row = append(row, q)
	}
	return append(rows, row)
}

// queuesBelow writes them at the end of a page that has room for them, and returns what
// is left of it.
func (f *Frame) queuesBelow(g theme.Grid) theme.Grid {
	rows := f.queueRows(g.W())
	left := g.H() - len(rows)
	if left < 1 {
		return g
	}
	for y, row := range rows {
		x := 0
		for _, w := range row {
			x = g.Text(x, left+y, w.ink, w.text) + 2
		}
	}
	return g.Sub(0, 0, g.W(), left)
}
