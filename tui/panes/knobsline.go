package panes

import (
	"cmp"
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
	whose            string // which ends it tells of: " both"
	terse            string // the shortest form, "" is the brief one
	note             string // what the value does not say
	ink              theme.Ink
	turned           bool // it goes first where not all fit
	star             bool // the brief form has one
}

func (f *Frame) knobWords() []knobWord {
	var out []knobWord
	if f.Log != "" {
		out = append(out, knobWord{key: "S", text: f.Log, ink: theme.Turn, turned: true})
	}
	if f.many() {
		return append(out, f.endsWords()...)
	}
	for _, k := range f.Session.Knobs() {
		if onLine(k) {
			out = append(out, f.knobWord(k))
		}
	}
	return out
}

// onLine tells whether a knob has a place on the line: one that the driver does not
// have is listed on its page only, unless a key is pressed for it.
func onLine(k *experiment.KnobState) bool {
	has := k.Start != "" || k.Value != ""
	return !k.Spec.Aside && (has || KnobKeys[k.Spec.Name] != "")
}

func (f *Frame) knobWord(k *experiment.KnobState) knobWord {
	turned := k.Moved()
	w := knobWord{key: KnobKeys[k.Spec.Name], text: knobText(k), ink: theme.Plain, turned: turned, star: turned}
	switch {
	case k.Turning != "" || k.Doubt || knobValue(k) == "?":
		w.ink = theme.Warn
	case w.turned:
		w.ink, w.start = theme.Turn, k.Start
	case k.From() != "":
		w.ink, w.start = theme.Turn, k.From()
	case k.Spec.Locked != "" || f.ReadOnly != "":
		w.ink = theme.Dim
	}
	if k.Spec.Name == "tso" {
		if fl := f.Session.Busiest(k.Host); f.Session.UnusedTSO(fl) {
			w.note = "unused by " + flowID(fl)
		}
	}
	return w
}

// knobText is "aim=2", "TSO on", "aim=1>2" while a turn is under way, and "LRO -"
// for a knob that the driver does not have.
func knobText(k *experiment.KnobState) string {
	name := label(k)
	if k.Host != "" {
		name = k.Host + ":" + name
	}
	return name + sign(k) + cmp.Or(knobValue(k), "-")
}

func label(k *experiment.KnobState) string { return cmp.Or(k.Spec.Label, k.Spec.Name) }

// knobValue is "2", "1>2" while a turn is under way, "2?" of a host that is gone, "?"
// while it cannot be read.
func knobValue(k *experiment.KnobState) string {
	switch {
	case k.Turning != "":
		return k.Value + ">" + k.Turning
	case k.Doubt || k.Value == "" && k.Start != "":
		return k.Value + "?"
	}
	return k.Value
}

// sign stands between a knob and its value.
func sign(k *experiment.KnobState) string {
	switch word, _, _ := strings.Cut(knobValue(k), ">"); strings.TrimSuffix(word, "?") {
	case "on", "off", "":
		return " "
	}
	return "="
}

func (w knobWord) full() string {
	s := w.text
	if w.key != "" {
		s = "[" + w.key + "] " + s
	}
	if w.start != "" {
		s += " (start " + w.start + ")"
	}
	s += w.whose
	if w.note != "" {
		s += " (" + w.note + ")"
	}
	return s
}

// brief marks a turned knob with a star and leaves the start value out.
func (w knobWord) brief() string {
	s := w.text
	if w.star {
		s += "*"
	}
	s += w.whose
	if w.note != "" {
		s += "(unused)"
	}
	return s
}

// least says which ends it tells of by a place for each: "aim=2|1".
func (w knobWord) least() string {
	if w.terse == "" {
		return w.brief()
	}
	return w.terse
}

// knobRows is one row, or two on a screen that has them when one is not enough.
func knobRows(f *Frame, w, h int) int {
	if h >= rowsFrom && rowsFor(f.knobWords(), knobWord.full, w-len(f.now())) > 1 {
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
// form does not, turned knobs come first and the rest is counted. What keys act on is
// how knobs are now, so that stands there also while the view does not follow.
func knobsLine(f *Frame, g theme.Grid) {
	words := f.knobWords()
	if len(words) == 0 {
		g.Text(0, 0, theme.Dim, "no knob is known yet")
		return
	}
	label := g.Text(0, 0, theme.Warn, f.now())
	g = g.Sub(label, 0, g.W()-label, g.H())
	form := knobWord.full
	if rowsFor(words, form, g.W()) > g.H() {
		form = knobWord.brief
	}
	if rowsFor(words, form, g.W()) > g.H() {
		form = knobWord.least
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
