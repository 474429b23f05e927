package panes

import (
	"netwatch/sources"
	"netwatch/tui/theme"
)

// eventsTail writes the newest events, the newest at the bottom.
func eventsTail(f *Frame, g theme.Grid) {
	events := f.events()
	for y, e := range events[max(len(events)-g.H(), 0):] {
		eventRow(f, g, y, e)
	}
}

func eventRow(f *Frame, g theme.Grid, y int, e sources.Event) {
	text, ink := say(e)
	g.Text(0, y, theme.Dim, f.clock(e.At))
	g.Text(10, y, ink, text)
}

// eventsPage lists all events, the newest first.
func eventsPage(f *Frame, g theme.Grid) {
	events := f.events()
	n := len(events)
	if n == 0 {
		g.Text(1, 1, theme.Dim, "nothing happened yet")
	}
	from := first(f.View.Row, n, g.H())
	for y := 0; y < g.H() && from+y < n; y++ {
		eventRow(f, g, y, events[n-1-from-y])
	}
}

// first keeps the first shown row of a list of n so that no screen is half empty.
func first(row, n, h int) int { return max(min(row, n-h), 0) }
