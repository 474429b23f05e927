package panes

import (
	"strings"

	"netwatch/experiment"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// labels are the forms of a setting's label, the longest first: "tso=on gso=off";
// what is on and off as ifconfig(8) has it, "tso -gso"; and without the knobs' names,
// "on off". A single knob needs no name, and has no second form.
type labels [3]string

func labelsOf(r experiment.Row) labels {
	var named, values []string
	for _, part := range strings.Fields(r.Label) {
		knob, value, found := strings.Cut(part, "=")
		host := strings.LastIndexByte(knob, ':') + 1
		switch {
		case strings.HasSuffix(part, ":?"): // of a peer that is gone
			value = "?"
		case !found:
			return labels{r.Label, r.Label, r.Label}
		case value == "on":
			part = knob
		case value == "off":
			part = knob[:host] + "-" + knob[host:]
		}
		named, values = append(named, part), append(values, value)
	}
	if len(named) == 1 {
		named[0] = r.Label
	}
	return labels{r.Label, strings.Join(named, " "), strings.Join(values, " ")}
}

// within is the longest form that has at most w cells, else as many whole values as
// fit and "..".
func (l labels) within(w int) string {
	for _, text := range l {
		if theme.Width(text) <= w {
			return text
		}
	}
	return whole(l[len(l)-1], w-len("..")) + ".."
}

// labelRoom is how many cells are left for labels before figures that end at a column.
func labelRoom(rows []mean, s chart.Scale, end int) int {
	room := end - 1
	for _, m := range rows {
		room = min(room, end-1-theme.Width(m.text(s)))
	}
	return room
}
