package panes

import (
	"netwatch/experiment"
	"netwatch/tui/theme"
)

// Widths of a label on the settings page: at least so much where there is room, and
// where there is none.
const (
	settingLabel = 14
	leastLabel   = 8
)

// A settingShape is what the settings page has room for.
type settingShape struct {
	columns []settingColumn
	label   int // the width of a setting's label and a blank; what is longer is folded
	form    int // which of its forms
}

// settingShape takes the shorter labels before it leaves out a column.
func (f *Frame) settingShape(rows []experiment.Row, w int) settingShape {
	s := settingShape{columns: append([]settingColumn(nil), settingColumns...)}
	if f.many() {
		s.columns = append([]settingColumn{{name: "host", width: 6}}, s.columns...)
	}
	wants := [2]int{settingLabel, settingLabel}
	for _, r := range rows {
		for i, text := range labelsOf(r) {
			wants[i] = max(wants[i], theme.Width(text)+1)
		}
	}
	for s.label = wants[0]; s.need() > w; {
		if s.form == 0 {
			s.form, s.label = 1, wants[1]
			continue
		}
		if !s.drop() { // what must be told is told; the label takes what is left
			s.label = max(leastLabel, s.label-(s.need()-w))
			break
		}
	}
	return s
}

func (s *settingShape) need() int {
	n := 3 + s.label
	for _, c := range s.columns {
		n += c.width + 1
	}
	return n
}

// drop leaves out the column that goes first, if one may.
func (s *settingShape) drop() bool {
	worst := 0
	for i, c := range s.columns {
		if c.drop > s.columns[worst].drop {
			worst = i
		}
	}
	if s.columns[worst].drop == 0 {
		return false
	}
	s.columns = append(s.columns[:worst], s.columns[worst+1:]...)
	return true
}
