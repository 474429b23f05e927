package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"netwatch/experiment"
)

// Markdown writes the table of settings: one row per knob setting and load
// state, and host where there are peers. Means are settled ones; the whole-run mean
// stands beside the goodput. here is what this host is called among its peers.
func Markdown(w io.Writer, s *experiment.Session, here string) error {
	tables := hostTables(s, here)
	t := tables[0]
	var b strings.Builder
	title := s.Interface
	if t.host != "" {
		title = t.host + ":" + title
	}
	for _, host := range s.Hosts()[1:] {
		title += " " + host + ":" + s.InterfaceOf(host)
	}
	if s.Simulated {
		title += " SIMULATED"
	}
	fmt.Fprintf(&b, "### netwatch %s, %s, %s\n\n", title, s.Start.Format("2006-01-02 15:04:05 MST"), s.Now().Sub(s.Start).Round(time.Second))
	cols := used(tables)
	if len(t.Rows) == 0 || len(cols) == 0 {
		b.WriteString("Nothing was counted.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("|")
	if len(tables) > 1 {
		b.WriteString(" host |")
	}
	b.WriteString(" setting | load | runs | s |")
	for _, c := range cols {
		q := t.Quantities[c]
		fmt.Fprintf(&b, " %s %s |", q.Name, scales[q].unit)
		if q == experiment.PingRTT {
			b.WriteString(" ping min/avg/max/sd ms | lost |")
		}
		fmt.Fprintf(&b, " n | delta |")
	}
	b.WriteString("\n")
	if len(tables) > 1 {
		b.WriteString("|---")
	}
	b.WriteString("|---|---|---:|---:|" + strings.Repeat("---:|", columns(t.Table, cols)) + "\n")
	for i := range t.Rows {
		for _, t := range tables {
			// A stretch that was over before it had settled has nothing to compare.
			if len(tables) == 1 && (len(t.Rows) == 1 || t.Rows[i].Seconds > 0) || len(tables) > 1 && t.tells(i) {
				row(&b, t, i, cols)
			}
		}
	}
	footnotes(&b, tables, cols, s.Settle)
	for _, host := range s.Hosts()[1:] {
		if away := s.Peer(host).Away(s.Now()); away != "" {
			fmt.Fprintf(&b, "- %s.\n", away)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A hostTable is the table of one host's figures. Those of one session have the same
// rows and columns.
type hostTable struct {
	experiment.Table
	host string // in words, "" where there is only one
}

func hostTables(s *experiment.Session, here string) []hostTable {
	var out []hostTable
	for _, host := range s.Hosts() {
		out = append(out, hostTable{s.Table(host), named(s, host, here)})
	}
	return out
}

// named is a host in words: "" for this one as long as there is no other.
func named(s *experiment.Session, host, here string) string {
	if len(s.Hosts()) == 1 {
		return ""
	}
	return cmp.Or(host, here, "here")
}

// tells says whether a row holds a figure of this host.
func (t hostTable) tells(row int) bool {
	return slices.ContainsFunc(t.Rows[row].Cells, func(c experiment.Cell) bool { return c.Track != nil })
}

// used lists the columns that hold at least one figure.
func used(tables []hostTable) []int {
	var cols []int
	for c := range tables[0].Quantities {
		told := func(r experiment.Row) bool { return r.Cells[c].Track != nil }
		if slices.ContainsFunc(tables, func(t hostTable) bool { return slices.ContainsFunc(t.Rows, told) }) {
			cols = append(cols, c)
		}
	}
	return cols
}

func columns(t experiment.Table, cols []int) int {
	n := 3 * len(cols)
	for _, c := range cols {
		if t.Quantities[c] == experiment.PingRTT {
			n += 2
		}
	}
	return n
}

func row(b *strings.Builder, t hostTable, i int, cols []int) {
	r := t.Rows[i]
	if t.host != "" {
		fmt.Fprintf(b, "| %s ", t.host)
	}
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
			if cell.Runs < r.Runs && cell.Sum.N > 0 {
				n += fmt.Sprintf(" (runs: %d)", cell.Runs)
			}
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
			fmt.Fprintf(b, " %s | %d |", spread, r.Lost)
		}
		fmt.Fprintf(b, " %s | %s |", n, delta)
	}
	b.WriteByte('\n')
}

// footnotes say what the figures are: who told them, what was left out, and the
// means of the whole runs.
func footnotes(b *strings.Builder, tables []hostTable, cols []int, settle time.Duration) {
	fmt.Fprintf(b, "\nMeans without the first %s after a turn and of a run, and without link gaps; n counts readings; delta is to the first row of the same load state, not tested.\n", settle)
	for _, c := range cols {
		for _, t := range tables {
			footnote(b, t, c)
		}
	}
	if left := tables[0].Left; left > 0 {
		fmt.Fprintf(b, "- the first %d phases of this session are left out: there were too many.\n", left)
	}
}

func footnote(b *strings.Builder, t hostTable, c int) {
	q := t.Quantities[c]
	var who, whole []string
	for _, r := range t.Rows {
		cell := r.Cells[c]
		if cell.Track == nil {
			continue
		}
		o := origin(cell.Track)
		if q == experiment.Goodput && !strings.HasPrefix(o, "iperf") { // a load of several connections moves more
			o += " (of the one connection that moves most)"
		}
		if !slices.Contains(who, o) {
			who = append(who, o)
		}
		if v, ok := cell.Whole.Mean(q.Metric().Agg); ok && r.Loaded {
			whole = append(whole, fmt.Sprintf("%s %s (n %d)", r.Label, scales[q].text(v), cell.Whole.N))
		}
	}
	if len(who) == 0 {
		return
	}
	b.WriteString("- ")
	if t.host != "" {
		b.WriteString(t.host + " ")
	}
	fmt.Fprintf(b, "%s: from %s", q.Name, strings.Join(who, ", "))
	if len(whole) > 0 {
		fmt.Fprintf(b, "; whole-run means (%s): %s", scales[q].unit, strings.Join(whole, ", "))
	}
	b.WriteByte('\n')
}
