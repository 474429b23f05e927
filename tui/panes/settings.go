package panes

import (
	"slices"
	"strconv"
	"strings"

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
	{"runs", 4, 2, func(_ experiment.Row, c experiment.Cell, _ chart.Unit, _ string) string { return strconv.Itoa(c.Runs) }},
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
	tables := f.tables()
	t := tables[0].Table
	shape := f.settingShape(t.Rows, w)
	settle := f.Session.Settle.String()
	var out []func(theme.Grid)
	for _, words := range []string{
		"mean: settled, without the first " + settle + " of a turn or a run",
		"whole mean: with them; delta: to the first row of that load",
	} {
		for _, row := range theme.Fold(words, w-1) {
			out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Dim, row) })
		}
	}
	if h := f.hold(); h != nil {
		for _, row := range theme.Fold("as of "+f.clock(h.at)+", when the view was paused: what came later is not in it", w-1) {
			out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Warn, row) })
		}
	}
	if ofOneConnection(tables) {
		for _, row := range theme.Fold("goodput from tcp or siftr: of the one connection that moves most", w-1) {
			out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Dim, row) })
		}
	}
	empty := len(out)
	for j, q := range t.Quantities {
		u := f.columnUnit(tables, j)
		section := []func(theme.Grid){func(g theme.Grid) { settingHead(g, q.Name+" "+u.Label, shape) }}
		for i := range t.Rows {
			for _, end := range tables {
				section = append(section, end.lines(i, j, u, shape)...)
			}
		}
		if len(section) > 1 {
			out = append(out, section...)
		}
	}
	if len(out) == empty {
		out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Dim, "nothing counted yet") })
	}
	away := f.away
	if h := f.hold(); h != nil {
		away = func() []string { return h.away }
	}
	for _, words := range away() {
		out = append(out, func(g theme.Grid) { g.Text(1, 0, theme.Warn, words) })
	}
	if t.Left > 0 {
		out = append(out, func(g theme.Grid) {
			g.Text(1, 0, theme.Warn, strconv.Itoa(t.Left)+" phases are too old to count")
		})
	}
	return out
}

// ofOneConnection says whether any goodput of the tables is one connection's: a load of
// several moves more.
func ofOneConnection(tables []hostTable) bool {
	for _, t := range tables {
		col := slices.Index(t.Quantities, experiment.Goodput)
		for _, r := range t.Rows {
			if tr := r.Cells[col].Track; tr != nil && tr.OfConnection() {
				return true
			}
		}
	}
	return false
}

// A hostTable is the table of one host's figures. All of a session have the same rows
// and columns.
type hostTable struct {
	experiment.Table
	host string // in words
}

func (f *Frame) tables() []hostTable {
	var out []hostTable
	hosts := f.Session.Hosts()
	if h := f.hold(); h != nil {
		hosts = h.hosts
	}
	for _, host := range hosts {
		out = append(out, hostTable{f.table(host, experiment.TableQuantities()), f.Called(host)})
	}
	return out
}

// lines paint one setting of one quantity, none where this host tells none: the figures,
// and more rows where the label needs them.
func (t hostTable) lines(row, col int, u chart.Unit, shape settingShape) []func(theme.Grid) {
	r := t.Rows[row]
	c := r.Cells[col]
	if c.Track == nil {
		return nil
	}
	delta := ""
	if d, ok := t.Delta(row, col); ok {
		delta = percent(d)
	}
	var out []func(theme.Grid)
	for i, label := range theme.Fold(labelsOf(r)[shape.form], shape.label-1) {
		ink := theme.Plain
		if r.Current {
			ink = theme.Strong
		}
		out = append(out, func(g theme.Grid) {
			g.Text(3, 0, ink, label)
			if i == 0 {
				t.paint(g, r, c, u, delta, shape, ink)
			}
		})
	}
	if words := shape.spread(c, u); t.Quantities[col] == experiment.PingRTT && words != "" {
		out = append(out, func(g theme.Grid) { g.Text(5, 0, theme.Dim, words) })
	}
	return out
}

// spread is how far readings lie apart, as far as there are no columns for it: of a ping
// that is half of what is told.
func (shape settingShape) spread(c experiment.Cell, u chart.Unit) string {
	var words []string
	for _, col := range settingColumns {
		has := slices.ContainsFunc(shape.columns, func(s settingColumn) bool { return s.name == col.name })
		if !has && c.Sum.N > 0 && slices.Contains([]string{"min", "max", "sd"}, col.name) {
			words = append(words, col.name+" "+col.text(experiment.Row{}, c, u, ""))
		}
	}
	return strings.Join(words, "  ")
}

// columnUnit is one unit for all rows of a quantity.
func (f *Frame) columnUnit(tables []hostTable, col int) chart.Unit {
	top := 0.0
	for _, t := range tables {
		for _, r := range t.Rows {
			if c := r.Cells[col]; c.Track != nil {
				if v, ok := c.Whole.Mean(c.Track.Origin.Metric.Agg); ok {
					top = max(top, v)
				}
			}
		}
	}
	return chart.Pick(units(tables[0].Quantities[col].Metric(), f.View.Bytes), top)
}

func settingHead(g theme.Grid, name string, shape settingShape) {
	g.Text(1, 0, theme.Strong, name)
	x := 3 + shape.label
	for _, c := range shape.columns {
		g.Right(x+c.width, 0, theme.Dim, c.name)
		x += c.width + 1
	}
}

func (t hostTable) paint(g theme.Grid, r experiment.Row, c experiment.Cell, u chart.Unit, delta string, shape settingShape, ink theme.Ink) {
	if r.Current {
		g.Put(1, 0, '>', ink)
	}
	x := 3 + shape.label
	for _, col := range shape.columns {
		text := t.host
		if col.text != nil {
			text = col.text(r, c, u, delta)
		}
		g.Right(x+col.width, 0, ink, text)
		x += col.width + 1
	}
	if source := c.Track.Origin.Source; x+1+len(source) <= g.W() {
		g.Text(x+1, 0, theme.Dim, source)
	}
}
