package panes

import (
	"strconv"

	"netwatch/experiment"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// A settingColumn is one column of the settings page. Where the page is narrow
// the columns with the highest drop go first.
type settingColumn struct {
	name  string
	width int
	drop  int
	text  func(experiment.Row, experiment.Cell, chart.Unit, string) string
}

var settingColumns = []settingColumn{
	{"load", 4, 0, func(r experiment.Row, _ experiment.Cell, _ chart.Unit, _ string) string { return loadWord(r) }},
	{"n", 6, 0, func(_ experiment.Row, c experiment.Cell, _ chart.Unit, _ string) string { return count(c.Sum.N) }},
	{"runs", 4, 2, func(r experiment.Row, _ experiment.Cell, _ chart.Unit, _ string) string { return strconv.Itoa(r.Runs) }},
	{"mean", 7, 0, func(_ experiment.Row, c experiment.Cell, u chart.Unit, _ string) string { return meanText(c, c.Sum, u) }},
	{"min", 7, 3, func(_ experiment.Row, c experiment.Cell, u chart.Unit, _ string) string { return edge(c, c.Sum.Min, u) }},
	{"max", 7, 3, func(_ experiment.Row, c experiment.Cell, u chart.Unit, _ string) string { return edge(c, c.Sum.Max, u) }},
	{"sd", 7, 4, func(_ experiment.Row, c experiment.Cell, u chart.Unit, _ string) string { return sd(c, u) }},
	{"delta", 7, 0, func(_ experiment.Row, _ experiment.Cell, _ chart.Unit, delta string) string { return delta }},
	{"whole mean", 10, 1, func(_ experiment.Row, c experiment.Cell, u chart.Unit, _ string) string {
		return meanText(c, c.Whole, u)
	}},
	{"whole n", 7, 5, func(_ experiment.Row, c experiment.Cell, _ chart.Unit, _ string) string { return count(c.Whole.N) }},
}

const settingLabel = 14

func loadWord(r experiment.Row) string {
	if r.Loaded {
		return "run"
	}
	return "idle"
}

func meanText(c experiment.Cell, s experiment.Sum, u chart.Unit) string {
	if v, ok := s.Mean(c.Track.Origin.Metric.Agg); ok {
		return figure(v * u.Factor)
	}
	return "-"
}

func edge(c experiment.Cell, v float64, u chart.Unit) string {
	if c.Sum.N == 0 {
		return "-"
	}
	return figure(v * u.Factor)
}

func sd(c experiment.Cell, u chart.Unit) string {
	if v, ok := c.Sum.SD(); ok {
		return figure(v * u.Factor)
	}
	return "-"
}

// settingsPage is the table of settings: for each quantity one row a setting and
// load state.
func settingsPage(f *Frame, g theme.Grid) {
	lines := f.settingLines(g.W())
	for y, l := range lines[first(f.View.Row, len(lines), g.H()):] {
		l(g.Sub(0, y, g.W(), 1))
	}
}

// settingLines returns one painter a line.
func (f *Frame) settingLines(w int) []func(theme.Grid) {
	t := f.Session.Table("")
	columns := fittingColumns(w)
	settle := f.Session.Settle.String()
	out := []func(theme.Grid){
		func(g theme.Grid) {
			g.Text(1, 0, theme.Dim, "mean: settled, without the first "+settle+" of a turn or a run")
		},
		func(g theme.Grid) {
			g.Text(1, 0, theme.Dim, "whole mean: with them; delta: to the first row of that load")
		},
	}
	for j, q := range t.Quantities {
		u := f.columnUnit(t, j)
		section, any := []func(theme.Grid){func(g theme.Grid) { settingHead(g, q.Name+" "+u.Label, columns) }}, false
		for i, r := range t.Rows {
			c := r.Cells[j]
			if c.Track == nil {
				continue
			}
			any = true
			delta := ""
			if d, ok := t.Delta(i, j); ok {
				delta = percent(d)
			}
			section = append(section, func(g theme.Grid) { settingRow(g, r, c, u, delta, columns) })
		}
		if any {
			out = append(out, section...)
		}
	}
	if len(out) == 2 {
		out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Dim, "nothing counted yet") })
	}
	if t.Left > 0 {
		out = append(out, func(g theme.Grid) {
			g.Text(1, 0, theme.Warn, strconv.Itoa(t.Left)+" phases are too old to count")
		})
	}
	return out
}

// columnUnit is one unit for all rows of a quantity.
func (f *Frame) columnUnit(t experiment.Table, col int) chart.Unit {
	top := 0.0
	for _, r := range t.Rows {
		if c := r.Cells[col]; c.Track != nil {
			if v, ok := c.Whole.Mean(c.Track.Origin.Metric.Agg); ok {
				top = max(top, v)
			}
		}
	}
	return chart.Pick(units(t.Quantities[col].Metric(), f.View.Bytes), top)
}

func fittingColumns(w int) []settingColumn {
	columns := append([]settingColumn(nil), settingColumns...)
	for {
		need, worst := 3+settingLabel, 0
		for i, c := range columns {
			need += c.width + 1
			if c.drop > columns[worst].drop {
				worst = i
			}
		}
		if need <= w || columns[worst].drop == 0 {
			return columns
		}
		columns = append(columns[:worst], columns[worst+1:]...)
	}
}

func settingHead(g theme.Grid, name string, columns []settingColumn) {
	g.Text(1, 0, theme.Strong, name)
	x := 3 + settingLabel
	for _, c := range columns {
		g.Right(x+c.width, 0, theme.Dim, c.name)
		x += c.width + 1
	}
}

func settingRow(g theme.Grid, r experiment.Row, c experiment.Cell, u chart.Unit, delta string, columns []settingColumn) {
	ink := theme.Plain
	if r.Current {
		ink = theme.Strong
		g.Put(1, 0, '>', ink)
	}
	label := r.Label
	if len(label) > settingLabel {
		label = brief(r)
	}
	g.Sub(3, 0, settingLabel, 1).Text(0, 0, ink, label)
	x := 3 + settingLabel
	for _, col := range columns {
		g.Right(x+col.width, 0, ink, col.text(r, c, u, delta))
		x += col.width + 1
	}
	if source := c.Track.Origin.Source; x+1+len(source) <= g.W() {
		g.Text(x+1, 0, theme.Dim, source)
	}
}
