package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"netwatch/experiment"
)

// Markdown writes the table of settings: one row per knob setting and load
// state. Means are settled ones; the whole-run mean stands beside the goodput.
func Markdown(w io.Writer, s *experiment.Session, host string) error {
	t := s.Table(host)
	var b strings.Builder
	title := s.Interface
	if s.Simulated {
		title += " SIMULATED"
	}
	fmt.Fprintf(&b, "### netwatch %s, %s, %s\n\n", title, s.Start.Format("2006-01-02 15:04:05 MST"), s.Now().Sub(s.Start).Round(time.Second))
	cols := used(t)
	if len(t.Rows) == 0 || len(cols) == 0 {
		b.WriteString("Nothing was counted.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("| setting | load | runs | s |")
	for _, c := range cols {
		q := t.Quantities[c]
		fmt.Fprintf(&b, " %s %s |", q.Name, scales[q].unit)
		if q == experiment.PingRTT {
			b.WriteString(" ping min/avg/max/sd ms |")
		}
		fmt.Fprintf(&b, " n | delta |")
	}
	b.WriteString("\n|---|---|---:|---:|" + strings.Repeat("---:|", columns(t, cols)) + "\n")
	for i := range t.Rows {
		row(&b, t, i, cols)
	}
	footnotes(&b, t, cols, s.Settle)
	_, err := io.WriteString(w, b.String())
	return err
}

// used lists the columns that hold at least one figure.
func used(t experiment.Table) []int {
	var cols []int
	for c := range t.Quantities {
		for _, r := range t.Rows {
			if r.Cells[c].Track != nil {
				cols = append(cols, c)
				break
			}
		}
	}
	return cols
}

func columns(t experiment.Table, cols []int) int {
	n := 3 * len(cols)
	for _, c := range cols {
		if t.Quantities[c] == experiment.PingRTT {
			n++
		}
	}
	return n
}

func row(b *strings.Builder, t experiment.Table, i int, cols []int) {
	r := t.Rows[i]
	load := "idle"
	if r.Loaded {
		load = "run"
	}
	fmt.Fprintf(b, "| %s | %s | %d | %.0f |", r.Label, load, r.Runs, r.Seconds)
	for _, c := range cols {
		q, cell := t.Quantities[c], r.Cells[c]
		mean, n, delta, spread := "-", "-", "-", "-"
		if cell.Track != nil {
			n = fmt.Sprint(cell.Sum.N)
			sc := scales[q]
			if v, ok := cell.Sum.Mean(q.Metric().Agg); ok {
				mean = sc.text(v)
				spread = sc.text(cell.Sum.Min) + "/" + mean + "/" + sc.text(cell.Sum.Max)
				if sd, ok := cell.Sum.SD(); ok {
					spread += "/" + sc.text(sd)
				}
			}
			if d, ok := t.Delta(i, c); ok {
				delta = percent(d)
			}
		}
		fmt.Fprintf(b, " %s |", mean)
		if q == experiment.PingRTT {
			fmt.Fprintf(b, " %s |", spread)
		}
		fmt.Fprintf(b, " %s | %s |", n, delta)
	}
	b.WriteByte('\n')
}

// footnotes say what the figures are: who told them, what was left out, and the
// means of the whole runs.
func footnotes(b *strings.Builder, t experiment.Table, cols []int, settle time.Duration) {
	fmt.Fprintf(b, "\nMeans without the first %s after a turn and of a run, and without link gaps; n counts readings; delta is to the first row of the same load state, not tested.\n", settle)
	for _, c := range cols {
		q := t.Quantities[c]
		var who, whole []string
		for _, r := range t.Rows {
			cell := r.Cells[c]
			if cell.Track == nil {
				continue
			}
			if o := origin(cell.Track); len(who) == 0 || who[len(who)-1] != o {
				who = append(who, o)
			}
			if v, ok := cell.Whole.Mean(q.Metric().Agg); ok && r.Loaded {
				whole = append(whole, fmt.Sprintf("%s %s", r.Label, scales[q].text(v)))
			}
		}
		fmt.Fprintf(b, "- %s: from %s", q.Name, strings.Join(who, ", "))
		if len(whole) > 0 {
			fmt.Fprintf(b, "; whole-run means (%s): %s", scales[q].unit, strings.Join(whole, ", "))
		}
		b.WriteByte('\n')
	}
	if t.Left > 0 {
		fmt.Fprintf(b, "- the first %d phases of this session are left out: there were too many.\n", t.Left)
	}
}
