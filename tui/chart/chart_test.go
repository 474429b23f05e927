package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// ring fills a ring with one value a column: steps of 100 ms from t0 on. NaN is
// a gap, +Inf a column that is covered by the next reading.
func ring(agg sources.Agg, values ...float64) *series.Ring {
	metric := sources.Metric{Name: "test", Agg: agg}
	sr := &sources.Series{Metric: metric}
	r := series.New(agg)
	span := step
	for i, v := range values {
		at := t0.Add(time.Duration(i+1) * step)
		switch {
		case math.IsNaN(v):
			span = step
		case math.IsInf(v, 1):
			span += step
		default:
			if agg == sources.PerTime {
				r.Add(sources.Amount(sr, at, span, v*span.Seconds()))
			} else {
				// A reading lies in the bin that its time ends.
				r.Add(sources.Reading(sr, at, span, v))
			}
			span = step
		}
	}
	return r
}

const step = 100 * time.Millisecond

var nan, wait = math.NaN(), math.Inf(1)

// axis has one column of 100 ms a cell in ASCII, two in braille, from t0 on.
func axis(cells int, ascii bool) Axis {
	a := Axis{From: t0, Step: step, PerCell: 2, Cells: cells}
	if ascii {
		a.PerCell = 1
	}
	return a
}

// plotOf paints a chart and returns its plot without gutter, one string a row.
func plotOf(c Chart, h int, ascii bool) []string {
	p := &Painter{Theme: theme.New(theme.Options{Colours: theme.None, ASCII: ascii})}
	g := theme.NewGrid(Gutter+c.Axis.Cells, h)
	p.Paint(g, c, Scale{}, t0)
	var out []string
	for _, l := range strings.Split(g.Sub(Gutter, 0, c.Axis.Cells, h).String(p.Theme), "\n") {
		out = append(out, l+strings.Repeat(" ", c.Axis.Cells-theme.Width(l)))
	}
	return out
}

func TestPlot(t *testing.T) {
	up := []float64{0, 7, 13, 20, 20, 20}
	tests := []struct {
		name  string
		ascii bool
		h     int
		c     Chart
		want  []string
	}{
		{"a line joins neighbours", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerTime, up...), Kind: Line}}}, []string{"⡠⠊⠉"}},
		{"a gap breaks it", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerTime, 0, 20, nan, nan, 20, 20), Kind: Line}}}, []string{"⡸ ⠉"}},
		{"a covered column is passed", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerReading, 20, wait, wait, wait, wait, 20), Kind: Line}}, Zero: true}, []string{"⠉⠉⠉"}},
		{"an area is filled", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerTime, 20, 20, 13, 13, 0, 0), Kind: Area}}}, []string{"⣿⣶⣀"}},
		{"a gap in an area is empty", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerTime, 20, 20, nan, nan, 20, 20), Kind: Area}}}, []string{"⣿ ⣿"}},
		{"dots are not joined", false, 1, Chart{Axis: axis(3, false), Layers: []Layer{{Ring: ring(sources.PerReading, 0, 20, 0, 20, 0, 20), Kind: Dots}}}, []string{"⡈⡈⡈"}},
		{"two layers share a cell", false, 1, Chart{Axis: axis(1, false), Layers: []Layer{{Ring: ring(sources.PerTime, 0, 0), Kind: Line}, {Ring: ring(sources.PerTime, 20, 20), Kind: Line}}}, []string{"⣉"}},
		{"ascii line", true, 1, Chart{Axis: axis(6, true), Layers: []Layer{{Ring: ring(sources.PerTime, 0, 10, 20, nan, 20, 0), Kind: Line}}}, []string{"_-' '_"}},
		{"ascii area", true, 2, Chart{Axis: axis(5, true), Layers: []Layer{{Ring: ring(sources.PerTime, 0, 10, 20, nan, 20), Kind: Area}}}, []string{"  # #", ".## #"}},
		{"ascii dots", true, 1, Chart{Axis: axis(3, true), Layers: []Layer{{Ring: ring(sources.PerReading, 0, 10, 20), Kind: Dots}}}, []string{".-'"}},
		{"words in an empty plot", true, 3, Chart{Axis: axis(9, true), Empty: "no siftr2"}, []string{"         ", "no siftr2", "         "}},
		{"more words than a row", true, 3, Chart{Axis: axis(9, true), Empty: "no siftr2 is loaded"}, []string{"no siftr2", "is loaded", "         "}},
		{"more words than rows", true, 2, Chart{Axis: axis(9, true), Empty: "no siftr2 is loaded here"}, []string{"no siftr2", "is load.."}},
		{"a stripe goes through all rows and over data", true, 2, Chart{Axis: axis(3, true),
			Layers:  []Layer{{Ring: ring(sources.PerTime, 20, 20, 20), Kind: Area}},
			Stripes: []Stripe{{From: t0.Add(step), To: t0.Add(step), Glyph: ':'}}}, []string{"#:#", "#:#"}},
		{"shading leaves data alone", true, 1, Chart{Axis: axis(4, true),
			Layers:  []Layer{{Ring: ring(sources.PerTime, 20, nan, nan, 20), Kind: Line}},
			Stripes: []Stripe{{From: t0, To: t0.Add(4 * step), Glyph: '/'}}, Zero: true}, []string{"'//'"}},
		{"stripes outside", true, 1, Chart{Axis: axis(2, true), Stripes: []Stripe{
			{From: t0.Add(-time.Second), To: t0.Add(-time.Second), Glyph: ':'}, {From: t0.Add(time.Second), To: t0.Add(2 * time.Second), Glyph: '/'}}}, []string{"  "}},
		{"lost pings on the baseline", true, 2, Chart{Axis: axis(4, true),
			Layers: []Layer{{Ring: ring(sources.PerReading, 20, nan, 20, 20), Kind: Dots}},
			Lost:   ring(sources.PerTime, 0, 10, 0, 0), Zero: true}, []string{"' ''", " x  "}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.c.Units = plain
			got := plotOf(c.c, c.h, c.ascii)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestReadings(t *testing.T) {
	tests := []struct {
		values []float64
		want   []float64
	}{
		{[]float64{3}, []float64{3}},
		{[]float64{3, 5}, []float64{3, 5}},
		{[]float64{3, 5, 4}, []float64{3, 5, 4}},
		{[]float64{3, 5, 4, 4}, []float64{3, 5, 4}}, // the smallest, the largest, the mean
	}
	for _, c := range tests {
		sr := &sources.Series{}
		r := series.New(sources.PerReading)
		for i, v := range c.values {
			r.Add(sources.Reading(sr, t0.Add(time.Duration(i+1)*time.Millisecond), time.Millisecond, v))
		}
		var bin [1]series.Bin
		r.Window(bin[:], t0, step)
		var got []float64
		readings(bin[0], Layer{Ring: r}, func(v float64) { got = append(got, v) })
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: dots at %v, want %v", c.values, got, c.want)
		}
	}
}

func TestGutter(t *testing.T) {
	p := &Painter{Theme: theme.New(theme.Options{Colours: theme.None, ASCII: true})}
	g := theme.NewGrid(Gutter, 5)
	c := Chart{Name: "goodput", Notes: []string{"iperf3"}, Axis: axis(2, true), Units: bits,
		Layers: []Layer{{Ring: ring(sources.PerTime, 0, 110e6), Kind: Line}}}
	p.Paint(g, c, Scale{}, t0)
	want := strings.Join([]string{
		"goodput     1000|",
		"Mbit/s          |",
		"iperf3          |",
		"                |",
		"               0|"}, "\n")
	if got := g.String(p.Theme); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAnySize paints into rectangles that are too small for anything.
func TestAnySize(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		p := &Painter{Theme: theme.New(theme.Options{ASCII: ascii})}
		for w := range 24 {
			for h := range 6 {
				c := Chart{Name: "srtt", Empty: "nothing", Axis: NewAxis(t0, time.Minute, w-Gutter, ascii), Units: plain}
				p.Paint(theme.NewGrid(w, h), c, Scale{}, t0)
				c.Layers = []Layer{{Ring: ring(sources.PerTime, 1, 2, 3), Kind: Area}, {Ring: ring(sources.PerReading, 1, 2), Kind: Dots}}
				c.Lost = c.Layers[0].Ring
				p.Paint(theme.NewGrid(w, h), c, Scale{}, t0)
			}
		}
	}
}

// TestNoNumber draws what no source should ever send: it is no reading, and no hang.
func TestNoNumber(t *testing.T) {
	sr := &sources.Series{Metric: sources.Metric{Agg: sources.PerReading}}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := series.New(sources.PerReading)
		r.Add(sources.Reading(sr, t0.Add(step), step, bad))
		r.Add(sources.Reading(sr, t0.Add(2*step), step, 20))
		for _, kind := range []Kind{Line, Area, Dots} {
			c := Chart{Axis: axis(2, true), Units: plain, Zero: true, Layers: []Layer{{Ring: r, Kind: kind}}}
			if got := plotOf(c, 1, true)[0]; got != " '" && got != " #" {
				t.Errorf("%v as kind %d: %q", bad, kind, got)
			}
		}
	}
}

// BenchmarkSixCharts paints six charts of 103x4 cells with a minute of 100 ms
// bins and writes them as one string: what a frame at 120x40 draws.
func BenchmarkSixCharts(b *testing.B) {
	values := make([]float64, 600)
	for i := range values {
		values[i] = 900 + 50*math.Sin(float64(i)/7)
	}
	r := ring(sources.PerTime, values...)
	th := theme.New(theme.Options{})
	p := &Painter{Theme: th}
	g := theme.NewGrid(120, 24)
	a := NewAxis(t0.Add(time.Minute), time.Minute, 120-Gutter, false)
	var scales [6]Scale
	b.ReportAllocs()
	for b.Loop() {
		g.Clear()
		for i := range scales {
			c := Chart{Name: "tx", Axis: a, Units: bits, Layers: []Layer{{Ring: r, Kind: Kind(i % 2), Ink: theme.Goodput}}}
			scales[i] = p.Paint(g.Sub(0, i*4, 120, 4), c, scales[i], t0)
		}
		_ = g.String(th)
	}
}
