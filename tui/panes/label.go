package panes

import (
	"strings"

	"netwatch/experiment"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// labels are the forms of a setting's label, the longer first: "tso=on gso=off", and
// what is on and off as ifconfig(8) has it, "tso -gso". Each names its knobs: a value
// alone says nothing.
type labels [2]string

func labelsOf(r experiment.Row) labels {
	var named []string
	for _, part := range strings.Fields(r.Label) {
		knob, value, found := strings.Cut(part, "=")
		host := strings.LastIndexByte(knob, ':') + 1
		switch {
		case !found && !strings.HasSuffix(part, ":?"): // no knob, and no peer that is gone
			return labels{r.Label, r.Label}
		case value == "on":
			part = knob
		case value == "off":
			part = knob[:host] + "-" + knob[host:]
		}
		named = append(named, part)
	}
	return labels{r.Label, strings.Join(named, " ")}
}

// A labelling is how one screen writes the labels of settings, everywhere the same.
type labelling struct {
	form   int  // which of the labels
	apart  bool // on a row of their own, above the figures
	bare   bool // the counts give them their room
	places bool // "first" and "this" stand for the two rows of a narrow column
}

// of is a row's label in w cells: where it does not fit, as many of its whole parts as
// do and "..".
func (l labelling) of(m mean, w int) string {
	text := m.labels[l.form]
	switch {
	case l.places && m.current:
		text = "this"
	case l.places && m.first:
		text = "first"
	case l.places:
		text = "other"
	}
	if theme.Width(text) <= w {
		return text
	}
	return whole(text, w-len("..")) + ".."
}

// A sideTable is the settings of one chart, beside it.
type sideTable struct {
	rows  []mean
	scale chart.Scale
}

// labelled chooses the first labelling that fits beside every chart of a screen whose
// side columns have w cells.
func labelled(tables []sideTable, w int) labelling {
	var try []labelling
	switch {
	case w < sideSlim: // it has no labels
		return labelling{}
	case w < sideMedium:
		try = []labelling{{}, {form: 1}, {places: true}}
	case w < sideWide:
		try = []labelling{{}, {form: 1}, {apart: true}, {form: 1, apart: true}}
	default:
		try = []labelling{{}, {form: 1}, {bare: true}, {form: 1, bare: true}, {apart: true}, {form: 1, apart: true}}
	}
	for _, l := range try {
		if l.fits(tables, w) {
			return l
		}
	}
	return try[len(try)-1]
}

func (l labelling) fits(tables []sideTable, w int) bool {
	for _, t := range tables {
		rows, room := t.rows, 0
		switch {
		case l.places:
			return true
		case w < sideMedium:
			rows, room = fewest(rows, 2), w-2
		case l.apart:
			room = w - nowEnd - 2
		default:
			room, _ = l.columns(w - nowEnd - 2)
		}
		for _, m := range rows {
			figure := 1 + theme.Width(m.text(t.scale))
			if l.apart {
				figure = 0
			}
			if theme.Width(l.of(m, 1<<10))+figure > room {
				return false
			}
		}
	}
	return true
}

// columns are where the mean and the delta end beside a chart, in w cells.
func (l labelling) columns(w int) (value, delta int) {
	switch {
	case w < sideWide-nowEnd-2:
		return 13, 20
	case l.bare:
		return 27, 34
	}
	return 21, 28
}
