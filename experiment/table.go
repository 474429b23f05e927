package experiment

import (
	"slices"

	"netwatch/sources"
)

// TableQuantities are the columns of the table of settings. Where no log tells the
// segment, the mean size of the packets at the interface stands in for it.
func TableQuantities() []*Quantity {
	return []*Quantity{Goodput, PingRTT, SRTT, Cwnd, Segment, TxSize, RxSize, Irqs, CPU, Sampled, Recovery, SndLimited}
}

// A Cell is one Quantity under one setting, told by one origin.
type Cell struct {
	Track *Track // whose figures, nil when there are none
	Sum   Sum    // without settle times, link gaps and stale stretches
	Whole Sum    // everything
	Runs  int    // how many runs have a reading in Sum
}

// A Row is one setting in one load state.
type Row struct {
	Label   string // "aim=2 tso=on"
	Setting Setting
	Loaded  bool // under load, else idle
	Runs    int  // how many runs have a settled reading of any of the Cells
	Seconds float64
	Lost    int64 // pings without an answer, of the settled time
	Current bool  // this is how it stands now
	Cells   []Cell
}

// A Table is what the experiment shows so far: one row per setting and load
// state in the order of their first appearance.
type Table struct {
	Quantities []*Quantity
	Rows       []Row
	Left       int // phases that no longer count, because there were too many
}

// Table sums up the phases for one host's figures.
func (s *Session) Table(host string) Table { return s.TableOf(host, TableQuantities()) }

// TableOf is Table with other columns.
func (s *Session) TableOf(host string, quantities []*Quantity) Table {
	t := Table{Quantities: quantities, Left: s.left}
	index := map[string]int{}
	pools := []map[*Track]*sums{}
	last := []int{} // the newest of the Runs of a row
	cur := s.Phase()
	for _, p := range s.phases {
		if len(p.sums) == 0 && p != cur {
			continue
		}
		key := p.key
		if p.Run > 0 {
			key += "load"
		}
		i, known := index[key]
		if !known {
			i = len(t.Rows)
			index[key] = i
			t.Rows = append(t.Rows, Row{Label: s.knobs.label(p.Setting), Setting: p.Setting, Loaded: p.Run > 0})
			pools = append(pools, map[*Track]*sums{})
			last = append(last, 0)
		}
		if p.Run > last[i] && p.tells(host, quantities) {
			last[i] = p.Run
			t.Rows[i].Runs++
		}
		t.Rows[i].Current = t.Rows[i].Current || p == cur
		end := p.End
		if end.IsZero() {
			end = s.now
		}
		if d := end.Sub(p.Settled).Seconds(); d > 0 {
			t.Rows[i].Seconds += d
		}
		pool(pools[i], p)
	}
	for i := range t.Rows {
		for tr, a := range pools[i] {
			if tr.Quantity == PingLost && tr.Host == host {
				t.Rows[i].Lost += int64(a.settled.Sum)
			}
		}
		for _, q := range t.Quantities {
			t.Rows[i].Cells = append(t.Rows[i].Cells, s.cell(q, host, pools[i]))
		}
	}
	for q := range seldom {
		if !t.tells(q) {
			t.clear(q)
		}
	}
	good := s.Find(Goodput, host)
	in := good != nil && good.Origin.Metric == sources.RxGood
	for q, idle := range map[*Quantity]bool{TxSize: in, RxSize: !in} {
		if idle || t.tells(Segment) {
			t.clear(q)
		}
	}
	return t
}

// tells says whether any row has more than zero of a Quantity.
func (t Table) tells(q *Quantity) bool {
	j := slices.Index(t.Quantities, q)
	return j >= 0 && slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[j].Whole.Sum > 0 })
}

// clear empties a column.
func (t Table) clear(q *Quantity) {
	if j := slices.Index(t.Quantities, q); j >= 0 {
		for _, r := range t.Rows {
			r.Cells[j] = Cell{}
		}
	}
}

// Pick returns the Table with other columns of those it has.
func (t Table) Pick(quantities []*Quantity) Table {
	out := Table{Quantities: quantities, Rows: slices.Clone(t.Rows), Left: t.Left}
	for i, r := range t.Rows {
		cells := make([]Cell, len(quantities))
		for j, q := range quantities {
			if k := slices.Index(t.Quantities, q); k >= 0 {
				cells[j] = r.Cells[k]
			}
		}
		out.Rows[i].Cells = cells
	}
	return out
}

// tells says whether a phase has a settled reading of any of some quantities.
func (p *Phase) tells(host string, quantities []*Quantity) bool {
	for tr, a := range p.sums {
		if tr.Host == host && a.settled.N > 0 && slices.Contains(quantities, tr.Quantity) {
			return true
		}
	}
	return false
}

// pool adds the figures of a phase to those of earlier ones.
func pool(into map[*Track]*sums, p *Phase) {
	for tr, a := range p.sums {
		b := into[tr]
		if b == nil {
			b = &sums{}
			into[tr] = b
		}
		if a.settled.N > 0 && p.Run > b.run {
			b.run = p.Run
			b.runs++
		}
		b.settled.merge(a.settled)
		b.whole.merge(a.whole)
	}
}

// cell takes the best source that told anything under this setting, and of its
// two directions the one that is the load, as direction does.
func (s *Session) cell(q *Quantity, host string, from map[*Track]*sums) Cell {
	var best Cell
	for _, tr := range s.order {
		a := from[tr]
		if tr.Quantity != q || tr.Host != host || a == nil || a.whole.N == 0 {
			continue
		}
		other := best.Track != nil && best.Track.Origin.Source != tr.Origin.Source
		if other || best.Track != nil && a.whole.Sum <= 10*best.Whole.Sum {
			continue
		}
		best = Cell{Track: tr, Sum: a.settled, Whole: a.whole, Runs: a.runs}
	}
	return best
}

// Delta is how far a row's settled mean lies from the first row of the same load
// state, as a share of it (0.027 is +2.7 %). ok is false for that first row
// itself, where either has nothing, or where they come from different origins.
func (t Table) Delta(row, col int) (v float64, ok bool) {
	r := t.Rows[row]
	base := slices.IndexFunc(t.Rows, func(b Row) bool { return b.Loaded == r.Loaded })
	if base == row {
		return 0, false
	}
	a, b := t.Rows[base].Cells[col], r.Cells[col]
	if a.Track == nil || b.Track == nil || a.Track != b.Track {
		return 0, false
	}
	agg := a.Track.Origin.Metric.Agg
	x, okx := a.Sum.Mean(agg)
	y, oky := b.Sum.Mean(agg)
	if !okx || !oky || x == 0 {
		return 0, false
	}
	return y/x - 1, true
}
