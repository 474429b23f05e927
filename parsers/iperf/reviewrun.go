package iperf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A ReviewRun is what one run of the file says.
type ReviewRun struct {
	Tool       Tool               `json:"tool"`
	Server     bool               `json:"server"`
	Peer       string             `json:"peer,omitempty"`
	Protocol   string             `json:"protocol,omitempty"` // "TCP" or "UDP", where it is told
	Began      *float64           `json:"began"`              // Unix seconds, by the tool's clock
	Intervals  int                `json:"intervals"`
	BPS        map[string]float64 `json:"mean_bps"`   // as Review.WeightedBPS
	Directions []Direction        `json:"directions"` // sent, received: those that had rows
	Finals     []ReviewRow        `json:"finals"`     // the tool's own final rows
	Reports    []ReviewRow        `json:"reports"`    // final rows of a UDP receiver, which the sender repeats

	tally   tally
	totals  []Row
	reports []Row
	ways    [In + 1]way // by Dir
}

// way is what the interval rows of the streams of one direction add up to.
type way struct {
	role    string
	streams map[string]bool
	bytes   float64
	retrans Num
	udp     UDP
}

// Known by what. A total is final; a sum of intervals lacks what came after the
// last of them.
const (
	ByTotal     = "total"     // the tool's own final row
	ByReport    = "report"    // what the receiver of a UDP run told the sender
	ByIntervals = "intervals" // the sum of the interval rows: the run was cut off
)

// A Direction is what went one way in a run. Null is what nobody told.
type Direction struct {
	Dir         string `json:"direction"` // "sent" or "received", seen from the host of the tool
	Role        string `json:"role,omitempty"`
	Retransmits *int64 `json:"retransmits"` // the tool's own total, null when the run was cut off
	// IntervalRetransmits is null where the intervals do not tell: the sender counts.
	IntervalRetransmits *int64   `json:"retransmits_of_intervals"`
	Lost                *int64   `json:"lost"` // datagrams
	Datagrams           *int64   `json:"datagrams"`
	Jitter              *float64 `json:"jitter_us"`
	LossBy              string   `json:"loss_by,omitempty"` // one of the By words
}

func newReviewRun(st Start) *ReviewRun {
	return &ReviewRun{
		Tool: st.Tool, Server: st.Server, Peer: st.Peer, Protocol: st.Protocol, Began: st.Began.ptr(), tally: newTally(),
		Directions: []Direction{}, Finals: []ReviewRow{}, Reports: []ReviewRow{},
	}
}

// know takes what became known of the run only later.
func (v *ReviewRun) know(e End) {
	v.Tool, v.Peer = cmp.Or(v.Tool, e.Run.Tool), cmp.Or(e.Run.Peer, v.Peer)
	v.Server, v.Protocol = e.Run.Server, cmp.Or(e.Run.Protocol, v.Protocol)
}

func (v *ReviewRun) total(r Row) { v.totals = append(v.totals, r) }

// report takes a row of the other side: a UDP sender's output ends with one, and
// only that tells what was lost.
func (v *ReviewRun) report(r Row) {
	if r.Tool == Iperf2 && r.Start == 0 && r.UDP.Datagrams.OK {
		v.reports = append(v.reports, r)
	}
}

func (v *ReviewRun) count(r Row) {
	v.tally.add(r)
	if r.IsSum() {
		return
	}
	v.Intervals++
	w := &v.ways[r.Dir]
	if w.streams == nil {
		w.streams = map[string]bool{}
	}
	w.streams[r.ID] = true
	w.bytes += r.Bytes
	w.role = cmp.Or(w.role, r.Role)
	w.retrans.plus(r.TCP.Retrans)
	if r.UDP.Lost.OK {
		w.udp.Lost.plus(r.UDP.Lost)
		w.udp.Datagrams.plus(r.UDP.Datagrams)
	}
}

// plus adds a number that may be absent.
func (n *Num) plus(o Num) {
	if o.OK {
		n.V, n.OK = n.V+o.V, true
	}
}

func (v *ReviewRun) done() {
	_, v.BPS = v.tally.bps()
	v.settleSums()
	slices.SortStableFunc(v.totals, order)
	for _, r := range v.totals {
		v.Finals = append(v.Finals, reviewRow(r))
	}
	for _, r := range v.reports {
		v.Reports = append(v.Reports, reviewRow(r))
	}
	for _, dir := range []Dir{Out, In} {
		d, any := v.direction(dir)
		if any {
			v.Directions = append(v.Directions, d)
		}
	}
}

// settleSums gives sums of iperf2, which carry no direction, that of the streams
// where those have but one.
func (v *ReviewRun) settleSums() {
	dir := Unknown
	for _, rows := range [][]Row{v.totals, v.reports} {
		for _, r := range rows {
			if !r.IsSum() && dir != Unknown && dir != r.Dir {
				return
			}
			if !r.IsSum() {
				dir = r.Dir
			}
		}
	}
	for i, r := range v.totals {
		if r.IsSum() && r.Dir == Unknown {
			v.totals[i].Dir = dir
		}
	}
}

// order is by direction, then by stream, the sum behind them, and the sender's
// row before the receiver's. iperf2 prints totals as the streams end.
func order(a, b Row) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(number64(a.ID), number64(b.ID)), -strings.Compare(a.Side, b.Side))
}

func rank(r Row) int {
	switch {
	case strings.HasPrefix(r.ID, "FD"), r.Dir == Unknown:
		return 4
	case r.IsSum():
		return 2*int(r.Dir) - 1
	}
	return 2*int(r.Dir) - 2
}

func number64(id string) int {
	n, _ := strconv.Atoi(strings.Trim(id, "*SUMFD-"))
	return n
}

// direction sums one way up.
func (v *ReviewRun) direction(dir Dir) (d Direction, any bool) {
	w := &v.ways[dir]
	d = Direction{Dir: map[Dir]string{Out: "sent", In: "received"}[dir], Role: w.role, IntervalRetransmits: w.retrans.count()}
	totals := v.of(v.totals, dir)
	retrans := w.own(totals, func(r Row) Num { return r.TCP.Retrans })
	d.Retransmits = retrans.count()
	d.LossBy = ByTotal
	udp := w.ownUDP(totals)
	if !udp.Lost.OK {
		udp, d.LossBy = w.ownUDP(v.of(v.reports, dir)), ByReport
	}
	if !udp.Lost.OK {
		udp, d.LossBy = w.udp, ByIntervals
	}
	if !udp.Lost.OK || !udp.Datagrams.OK {
		udp, d.LossBy = UDP{}, ""
	}
	d.Lost, d.Datagrams, d.Jitter = udp.Lost.count(), udp.Datagrams.count(), udp.Jitter.ptr()
	return d, len(w.streams) > 0 || len(totals) > 0
}

// of are the rows of a direction. Both directions in one are of none.
func (v *ReviewRun) of(rows []Row, dir Dir) (out []Row) {
	for _, r := range rows {
		if r.Dir == dir && !strings.HasPrefix(r.ID, "FD") {
			out = append(out, r)
		}
	}
	return out
}

// own is the tool's own total: that of its sum, or what those of all streams add
// up to. It is absent while the total of a stream is: the run was cut off there. An
// iperf3 that is interrupted never hears from the other side, and prints zeros for it.
func (w *way) own(totals []Row, what func(Row) Num) (n Num) {
	told := map[string]bool{}
	for _, r := range totals {
		v := what(r)
		if r.Bytes == 0 && w.bytes > 0 {
			continue
		}
		if r.IsSum() && v.OK {
			return v
		}
		if v.OK {
			told[r.ID] = true
		}
		n.plus(v)
	}
	if len(told) < len(w.streams) {
		return Num{}
	}
	return n
}

// ownUDP is what the receiver's totals tell. The jitter of several streams is that
// of their sum, or none.
func (w *way) ownUDP(totals []Row) (u UDP) {
	var rows []Row
	for _, r := range totals {
		if r.Side != "sender" && r.UDP.Lost.OK && r.UDP.Datagrams.OK {
			rows = append(rows, r)
		}
	}
	u.Lost = w.own(rows, func(r Row) Num { return r.UDP.Lost })
	u.Datagrams = w.own(rows, func(r Row) Num { return r.UDP.Datagrams })
	for _, r := range rows {
		if r.IsSum() || len(rows) == 1 {
			u.Jitter = r.UDP.Jitter
		}
	}
	return u
}

// count is the number as an integer, nil when it is absent.
func (n Num) count() *int64 {
	if !n.OK {
		return nil
	}
	return new(int64(n.V))
}
