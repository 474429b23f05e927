package panes

import (
	"strconv"
	"strings"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

// KnobKeys are the knobs that have a key of their own on every page.
var KnobKeys = map[string]string{"aim": "a", "tso": "t", "tcp.tso": "T"}

// knobWord is a knob as the line shows it.
type knobWord struct {
	key, text, start string
	ink              theme.Ink
	turned           bool
}

func (f *Frame) knobWords() []knobWord {
	var out []knobWord
	for _, k := range f.Session.Knobs() {
		w := knobWord{key: KnobKeys[k.Spec.Name], text: knobText(k), ink: theme.Plain, turned: k.Value != k.Start}
		switch {
		case k.Turning != "":
			w.ink = theme.Warn
		case w.turned:
			w.ink, w.start = theme.Turn, k.Start
		case k.Spec.Locked != "" || f.ReadOnly != "":
			w.ink = theme.Dim
		}
		out = append(out, w)
	}
	return out
}

// knobText is "aim=2", "TSO on", "aim=1>2" while a turn is under way, and "LRO -"
// for a knob that the driver does not have.
func knobText(k *experiment.KnobState) string {
	label, value := k.Spec.Label, k.Value
	if label == "" {
		label = k.Spec.Name
	}
	if k.Host != "" {
		label = k.Host + ":" + label
	}
	if k.Turning != "" {
		value += ">" + k.Turning
	}
	if value == "" {
		return label + " -"
	}
	if value == "on" || value == "off" || strings.HasPrefix(value, "on>") || strings.HasPrefix(value, "off>") {
		return label + " " + value
	}
	return label + "=" + value
}

func (w knobWord) full() string {
	s := w.text
	if w.key != "" {
		s = "[" + w.key + "] " + s
	}
	if w.start != "" {
		s += " (start " + w.start + ")"
	}
	return s
}

// brief marks a turned knob with a star and leaves the start value out.
func (w knobWord) brief() string {
	if w.turned {
		return w.text + "*"
	}
	return w.text
}

// knobRows is one row, or two on a screen that has them when one is not enough.
func knobRows(f *Frame, w, h int) int {
	if h >= rowsFrom && rowsFor(f.knobWords(), knobWord.full, w) > 1 {
		return 2
	}
	return 1
}

// rowsFor is how many rows of w cells the knobs fill in a form.
func rowsFor(words []knobWord, form func(knobWord) string, w int) int {
	x, rows := 0, 1
	for _, k := range words {
		n := theme.Width(form(k))
		if x > 0 && x+n > w {
			x, rows = 0, rows+1
		}
		x += n + 2
	}
	return rows
}

// knobsLine writes every knob in the longest form that fits. Where even the short
// form does not, turned knobs come first and the rest is counted.
func knobsLine(f *Frame, g theme.Grid) {
	words := f.knobWords()
	if len(words) == 0 {
		g.Text(0, 0, theme.Dim, "no knob is known yet")
		return
	}
	form := knobWord.full
	if rowsFor(words, form, g.W()) > g.H() {
		form = knobWord.brief
	}
	if rowsFor(words, form, g.W()) > g.H() {
		words = turnedFirst(words)
	}
	x, y := 0, 0
	for i, w := range words {
		s := form(w)
		room := g.W() - x
		if y+1 == g.H() && i+1 < len(words) {
			room -= restWidth
		}
		if x > 0 && theme.Width(s) > room {
			if y+1 == g.H() {
				g.Right(g.W(), y, theme.Warn, "+"+strconv.Itoa(len(words)-i))
				return
			}
			x, y = 0, y+1
		}
		x = g.Text(x, y, w.ink, s) + 2
	}
}

// restWidth is the room for the count of knobs that found none: " +3".
const restWidth = 3

func turnedFirst(words []knobWord) []knobWord {
	var first, rest []knobWord
	for _, w := range words {
		if w.turned {
			first = append(first, w)
		} else {
			rest = append(rest, w)
		}
	}
	return append(first, rest...)
}
