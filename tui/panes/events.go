package panes

import (
	"slices"

	"netwatch/tui/theme"
)

// eventsTail writes the newest events, the newest at the bottom. One that is longer than
// its row ends with "..": the page of the events has it whole.
func eventsTail(f *Frame, g theme.Grid) {
	events := f.events()
	for y, e := range events[max(len(events)-g.H(), 0):] {
		text, ink := say(e)
		if room := g.W() - eventAt; theme.Width(text) > room {
			text = whole(text, room-len("..")) + ".."
		}
		g.Text(0, y, theme.Dim, f.clock(e.At))
		g.Text(eventAt, y, ink, text)
	}
}

// eventAt is the column of what happened, right of its time.
const eventAt = 10

// eventsPage lists all events, the newest first, long ones in several rows.
func eventsPage(f *Frame, g theme.Grid) {
	rows := f.eventRows(g.W(), f.View.Row+g.H())
	if len(rows) == 0 {
		g.Text(1, 1, theme.Dim, "nothing happened yet")
		return
	}
	for y, r := range rows[first(f.View.Row, len(rows), g.H()):] {
		g.Text(0, y, theme.Dim, r.time)
		g.Text(eventAt, y, r.ink, r.text)
	}
}

// An eventRow is a row of the events' page; the first one of an event has its time.
type eventRow struct {
	time, text string
	ink        theme.Ink
}

// eventRows are the first rows of the page, as many as are wanted or a few more.
func (f *Frame) eventRows(w, wanted int) []eventRow {
	var rows []eventRow
	for _, e := range slices.Backward(f.events()) {
		if len(rows) >= wanted {
			break
		}
		text, ink := say(e)
		time := f.clock(e.At)
		for _, part := range theme.FoldWhole(text, w-eventAt) {
			rows = append(rows, eventRow{time, part, ink})
			time = ""
		}
	}
	return rows
}

// first keeps the first shown row of a list of n so that no screen is half empty.
func first(row, n, h int) int { return max(min(row, n-h), 0) }
