package panes

import (
	"strconv"

	"netwatch/tui/theme"
)

// A Leaving is a row of the question what becomes of turned knobs: one that would be
// put back, or is kept.
type Leaving struct {
	Ends               string // which ends it is turned on: "", "r1", "both"
	Knob, Value, Start string
	Drops              bool // putting it back drops the link
	Keep               bool
	Back               bool // it is not turned any more, and is Value now
}

// Ends names a knob's ends for such a row: the host, or all of them.
func (f *Frame) Ends(host string, n int) string {
	switch {
	case n > 1:
		return everyEnd(n)
	case f.many():
		return f.Called(host)
	}
	return ""
}

// Leave is the question what becomes of the knobs that were turned, when a person
// wants to quit. keep says that they stay unless a person wants otherwise.
func Leave(rows []Leaving, keep bool) Prompt {
	var p Prompt
	drops, kept, turned := false, 0, 0
	for i, r := range rows {
		p.Rows = append(p.Rows, r.row(i+1))
		if r.Back {
			continue
		}
		turned++
		drops = drops || r.Drops && !r.Keep
		if r.Keep {
			kept++
		}
	}
	count := strconv.Itoa(turned) + " turned"
	if drops {
		count += ", link drops"
	}
	digits := "1"
	if n := min(len(rows), 9); n > 1 {
		digits += "-" + strconv.Itoa(n)
	}
	long, short, tiny := "Enter puts back, k keeps all, ", "Enter restore, k keep, ", "Enter restore k keep"
	switch {
	case keep && kept == turned:
		long, short, tiny = "--keep: Enter keeps, r puts back all, ", "Enter keep, r restore, ", "Enter keep r restore"
	case kept == turned:
		long, short, tiny = "Enter keeps, r puts back all, ", "Enter keep, r restore, ", "Enter keep r restore"
	case kept > 0:
		long, short, tiny = "Enter does that, k keeps all, r puts back all, ", "Enter does it, k keep, ", "Enter does it k keep"
	}
	p.Long = long + digits + " changes one, Esc stays"
	p.Short = short + digits + " one, Esc stay"
	p.Tiny = count + " " + tiny + " Esc stay"
	return p
}

func (r Leaving) row(n int) PromptRow {
	what := "  "
	if n <= 9 { // the rest has no digit
		what = strconv.Itoa(n) + " "
	}
	if r.Ends != "" {
		what += r.Ends + " "
	}
	if r.Back {
		what += r.Knob + " is " + r.Value + " now"
		return PromptRow{what, what}
	}
	if r.Keep {
		what += r.Knob + " stays " + r.Value
		return PromptRow{what + "   (it was " + r.Start + ")", what}
	}
	what += r.Knob + " " + r.Value + " -> " + r.Start
	if !r.Drops {
		return PromptRow{what, what}
	}
	return PromptRow{what + "   " + ResetWords, what + "  link drops"}
}

// leastBody is how many rows stay for the rest of the screen when a question is long.
const leastBody = 3

// footerRows is how many rows the footer takes on a screen of a size.
func (f *Frame) footerRows(w, h int) int {
	more := len(f.Prompt.Rows)
	if f.Prompt.Long == "" && f.Notice != "" {
		more = len(theme.FoldWhole(f.Notice, w)) - 1
	}
	return 1 + min(more, max(h-1-leastBody, 0))
}

// question writes a question over the whole of g, its keys at the bottom. Rows that
// find no room are counted.
func question(p Prompt, g theme.Grid) {
	room := g.H() - 1
	rows := p.Rows
	if len(rows) > room {
		rows = rows[:max(room-1, 0)]
	}
	for y := range g.H() {
		g.Tint(y, theme.Question)
	}
	for y, r := range rows {
		g.Text(0, y, theme.Question, either(r.Long, r.Short, g.W()))
	}
	if left := len(p.Rows) - len(rows); left > 0 && room > 0 {
		g.Text(0, room-1, theme.Question, "  and "+strconv.Itoa(left)+" more")
	}
	long, short := p.Long, p.Short
	if len(p.Rows) > 0 && room == 0 {
		long, short = p.Tiny, p.Tiny
	}
	g.Text(0, room, theme.Question, either(long, short, g.W()))
}

// either is the long form where it fits.
func either(long, short string, w int) string {
	if theme.Width(long) <= w || short == "" {
		return long
	}
	return short
}
