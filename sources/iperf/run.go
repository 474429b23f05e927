package iperf

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netwatch/parsers/iperf"
)

// A run is what the feed must remember of the run under way.
type run struct {
	iperf.Start
	name     string // "iperf3 #2"
	past     bool   // it ended before netwatch began to look: nothing of it is drawn
	epoch    time.Time
	anchored bool
	late     bool // the note about blocks was said

	streams map[string]*member
	groups  []*group // intervals whose streams are not all in, oldest first
}

// A member is one stream of the run.
type member struct {
	dir iperf.Dir
	end float64 // of its total row; infinite while it goes on
}

// A group gathers the rows of one interval in one direction.
type group struct {
	sum  iperf.Row
	ids  map[string]bool
	done bool
}

func newRun(st iperf.Start) *run { return &run{Start: st, streams: map[string]*member{}} }

func (r *run) know(id string, dir iperf.Dir) {
	r.streams[id] = &member{dir: dir, end: math.Inf(1)}
}

func (r *run) streamEnded(t iperf.Row) {
	if m := r.streams[t.ID]; m != nil {
		m.end = t.End
	}
}

// place finds where the clock of the run stands. The first row ends when it
// arrives, unless later rows of its run came together with it: then the last of
// them does. A row from the future shows that the rows before came late; then
// place moves the clock and returns true, once in a run.
func (r *run) place(row iperf.Row, rest []iperf.Record, at time.Time) (late bool) {
	if !r.anchored {
		last := row.End
		for _, rec := range rest {
			if next, ok := rec.(iperf.Row); ok && next.Scope == iperf.Interval && !next.IsSum() {
				last = max(last, next.End)
			} else if _, over := rec.(iperf.Start); over {
				break
			}
		}
		r.epoch, r.anchored = at.Add(-seconds(last)), true
		return false
	}
	early := r.epoch.Add(seconds(row.End)).Sub(at)
	if early <= max(100*time.Millisecond, seconds(row.End-row.Start)/2) {
		return false
	}
	r.epoch = at.Add(-seconds(row.End))
	late, r.late = !r.late, true
	return late
}

// expected is how many streams must report an interval that begins at start. With
// iperf3 --bidir half of the streams go each way, and which ones is not told before
// their first rows. With iperf2 --full-duplex every stream goes both ways. Zero: netwatch
// came in the middle.
func (r *run) expected(row iperf.Row) int {
	n := map[iperf.Dir]int{}
	all := 0
	for _, m := range r.streams {
		if m.end > row.Start+1e-6 {
			n[m.dir]++
			all++
		}
	}
	switch {
	case row.Role != "":
		return all / 2
	case n[row.Dir] > 0:
		return n[row.Dir]
	}
	return all
}

// add puts a row into the group of its interval and returns their sum when the
// last stream is in. An interval that one stream does not report has no sum.
func (r *run) add(row iperf.Row) (sum iperf.Row, ok bool) {
	g := r.group(row)
	if g.done || g.ids[row.ID] {
		return sum, false
	}
	g.ids[row.ID] = true
	if len(g.ids) == 1 {
		g.sum = row
	} else {
		g.sum.Bytes += row.Octets()
		g.sum.Bits += row.Bits
		g.sum.TCP.Retrans = both(g.sum.TCP.Retrans, row.TCP.Retrans)
		g.sum.UDP.Datagrams = both(g.sum.UDP.Datagrams, row.UDP.Datagrams)
		g.sum.UDP.Lost = both(g.sum.UDP.Lost, row.UDP.Lost)
	}
	n := r.expected(row)
	if len(r.streams) == 0 {
		n = r.before(g)
	}
	if n == 0 || len(g.ids) != n {
		return sum, false
	}
	g.done = true
	return g.sum, true
}

// group finds the group of a row's interval: the streams of an interval begin it
// within a fraction of its length. Only the last groups are kept.
func (r *run) group(row iperf.Row) *group {
	for _, g := range r.groups {
		if g.sum.Dir == row.Dir && math.Abs(g.sum.Start-row.Start) < (row.End-row.Start)/4 {
			return g
		}
	}
	g := &group{sum: row, ids: map[string]bool{}}
	if r.groups = append(r.groups, g); len(r.groups) > 8 {
		r.groups = r.groups[1:]
	}
	return g
}

// before is how many streams reported the interval before that of g, for a run
// whose connections netwatch did not hear of.
func (r *run) before(g *group) (n int) {
	for _, old := range r.groups {
		if old == g {
			break
		}
		if old.sum.Dir == g.sum.Dir {
			n = len(old.ids)
		}
	}
	return n
}

func both(a, b iperf.Num) iperf.Num { return iperf.Num{V: a.V + b.V, OK: a.OK && b.OK} }

// summary says the tool's own final figure in words.
func summary(totals []iperf.Row) string {
	rows := totals
	if sums := onlySums(totals); len(sums) > 0 {
		rows = sums
	}
	var parts []string
	long := 0.0
	for _, t := range rows {
		if len(parts) == 4 {
			break
		}
		long = max(long, t.End-t.Start)
		parts = append(parts, part(t, len(rows) > 1))
	}
	if len(parts) == 0 {
		return "no final figure"
	}
	return fmt.Sprintf("%s in %.1f s", strings.Join(parts, ", "), long)
}

func onlySums(totals []iperf.Row) (sums []iperf.Row) {
	for _, t := range totals {
		if strings.HasPrefix(t.ID, "SUM") {
			sums = append(sums, t)
		}
	}
	return sums
}

// part is one final row: "938 Mbit/s sent (0 retransmits)".
func part(t iperf.Row, several bool) string {
	s := Rate(t.Bits)
	switch {
	case t.Role != "":
		s += " " + t.Role + " " + t.Side
	case t.Side == "sender":
		s += " sent"
	case t.Side == "receiver":
		s += " received"
	case several:
		s += " by " + t.ID
	}
	if t.TCP.Retrans.OK {
		s += fmt.Sprintf(" (%.0f retransmits)", t.TCP.Retrans.V)
	}
	if t.UDP.Lost.OK && t.UDP.Datagrams.OK && t.Side != "sender" {
		s += fmt.Sprintf(" (%.0f of %.0f lost)", t.UDP.Lost.V, t.UDP.Datagrams.V)
	}
	return s
}

// Rate writes bit/s with three figures and a unit of the SI: "938 Mbit/s".
func Rate(bits float64) string {
	unit := 0
	for bits >= 999.5 && unit < 4 {
		bits /= 1000
		unit++
	}
	digits := 0
	if unit > 0 && bits < 99.95 {
		digits = 1
	}
	if unit > 0 && bits < 9.995 {
		digits = 2
	}
	return fmt.Sprintf("%.*f %sbit/s", digits, bits, []string{"", "k", "M", "G", "T"}[unit])
}
