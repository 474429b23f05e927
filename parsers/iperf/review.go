package iperf

import (
	"maps"
	"slices"
)

// A Review is what one file says, summed up. Its JSON is the object that
// `netwatch review --json` prints; what the input does not carry is null.
type Review struct {
	File      string  `json:"file"`
	Tool      Tool    `json:"tool"`    // of the first line that tells
	Version   *string `json:"version"` // null when no line tells
	Tests     int     `json:"tests"`
	Intervals int     `json:"intervals"` // rows of streams: no sums and no totals, but the Omitted ones
	Omitted   int     `json:"omitted"`   // rows that iperf3 was told to leave out; no mean has them
	// MeanBPS is the mean of the run: per id, of the sum where there is one, or per
	// role. Text and iperf3 JSON are weighted by time; rows of iperf2 CSV count
	// alike, and WeightedBPS has their mean weighted by time. Both are null with
	// several runs, which have their own in Runs: runs that differ have no mean.
	MeanBPS     map[string]float64 `json:"mean_bps"`
	WeightedBPS map[string]float64 `json:"weighted_bps"`
	Last        *ReviewRow         `json:"last"`
	// Retransmits is the sum over the interval rows: null in text without that
	// column, 0 in JSON without it. What the tool itself counted is in Runs.
	Retransmits *int64 `json:"retransmits"`
	Errors      int    `json:"errors"`
	Details
	Runs []*ReviewRun `json:"runs"`

	working
}

// working is what a Review keeps until Done.
type working struct {
	first map[string]Row // iperf2: rows that may yet turn out to be totals
	tally tally
	exact bool // the input is iperf3 JSON
}

// Details are what a Review tells besides the contract.
type Details struct {
	Began    *float64    `json:"began"`        // Unix seconds at which the first run began, by the tool's clock
	CC       string      `json:"cc,omitempty"` // the sender's congestion control in the last run
	Messages []string    `json:"messages"`     // errors and remarks as the tool said them
	Finals   []ReviewRow `json:"finals"`       // the tool's own final rows, of all runs
	BadLines []ReviewBad `json:"bad_lines"`
	BadCount int         `json:"bad_count"` // BadLines holds the first 100
}

// A ReviewRow is one row in a Review.
type ReviewRow struct {
	ID      string   `json:"id"`
	Role    string   `json:"role,omitempty"`
	Side    string   `json:"side,omitempty"`
	Start   float64  `json:"start"`
	End     float64  `json:"end"`
	Bytes   float64  `json:"bytes"`
	BPS     float64  `json:"bps"`
	Retr    *float64 `json:"retr"`
	Cwnd    *float64 `json:"cwnd"`
	RTT     *float64 `json:"rtt_us"`
	NetPwr  *float64 `json:"netpwr"`
	Latency *float64 `json:"latency_us"` // mean
	// Of UDP. What iperf3 prints of a sender's jitter and loss is always 0: left out.
	Jitter    *float64 `json:"jitter_us,omitempty"`
	Lost      *float64 `json:"lost,omitempty"`
	Datagrams *float64 `json:"datagrams,omitempty"`
	line      int
}

// A ReviewBad is a line that could not be read.
type ReviewBad struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// NewReview returns an empty Review of the file of that name. Its Add takes the
// records of a Parser, its Done finishes it.
func NewReview(file string) *Review {
	return &Review{
		File: file, Runs: []*ReviewRun{},
		working: working{first: map[string]Row{}, tally: newTally()},
		Details: Details{BadLines: []ReviewBad{}, Messages: []string{}, Finals: []ReviewRow{}},
	}
}

// Found tells whether iperf spoke at all.
func (v *Review) Found() bool { return v.Tests > 0 || v.Errors > 0 || v.Intervals > 0 }

// Add takes the next record.
func (v *Review) Add(rec Record) {
	switch r := rec.(type) {
	case Start:
		v.told(r.Tool, r.Version)
		if v.Tests++; v.Began == nil {
			v.Began = r.Began.ptr()
		}
		v.Runs = append(v.Runs, newReviewRun(r))
	case Row:
		v.row(r)
	case End:
		v.told(r.Run.Tool, r.Run.Version)
		v.CC = r.CC
		v.endRun()
		v.run().know(r)
	case Message:
		v.told(r.Tool, r.Version)
		if r.Error {
			v.Errors++
		}
		v.Messages = append(v.Messages, r.Text)
	case Bad:
		if v.BadCount++; v.BadCount <= 100 {
			v.BadLines = append(v.BadLines, ReviewBad{Line: r.Line, Reason: r.Reason, Text: r.Text})
		}
	}
}

func (v *Review) told(t Tool, version string) {
	if v.Tool == "" {
		v.Tool = t
	}
	if v.Version == nil && version != "" {
		v.Version = &version
	}
}

// run is the run under way, or the last one.
func (v *Review) run() *ReviewRun {
	if len(v.Runs) == 0 {
		v.Runs = append(v.Runs, newReviewRun(Start{}))
	}
	return v.Runs[len(v.Runs)-1]
}

func (v *Review) row(r Row) {
	v.exact = v.exact || r.Exact && r.Tool == Iperf3
	switch r.Scope {
	case Total:
		if first, held := v.first[r.ID]; held {
			v.count(first)
			delete(v.first, r.ID)
		}
		v.run().total(r)
	case Foreign:
		v.run().report(r)
	case Omitted:
		if !r.IsSum() {
			v.Intervals++
			v.Omitted++
			v.run().Intervals++
		}
	case Interval:
		first, held := v.first[r.ID]
		switch {
		case held:
			v.count(first)
			delete(v.first, r.ID)
			v.count(r)
		case r.Tool == Iperf2 && r.Start == 0:
			v.first[r.ID] = r // without -i the first row is the total
		default:
			v.count(r)
		}
	}
}

// endRun turns rows that stayed alone into the totals they are.
func (v *Review) endRun() {
	rows := slices.SortedFunc(maps.Values(v.first), func(a, b Row) int { return a.Line - b.Line })
	for _, r := range rows {
		v.run().total(r)
	}
	clear(v.first)
}

// count takes a row that stands for an interval.
func (v *Review) count(r Row) {
	if r.IsSum() && r.ID[0] == 'F' {
		v.Last = nil // both directions in one: it is of no stream
		return
	}
	v.tally.add(r)
	v.run().count(r)
	if r.IsSum() {
		return
	}
	v.Intervals++
	if last := reviewRow(r); v.Last == nil || v.Last.line < r.Line || r.Exact {
		v.Last = &last
	}
	if r.TCP.Retrans.OK {
		if v.Retransmits == nil {
			v.Retransmits = new(int64)
		}
		*v.Retransmits += int64(r.TCP.Retrans.V)
	}
}

// Done finishes the Review after the last record.
func (v *Review) Done() {
	v.endRun()
	for _, run := range v.Runs {
		run.done()
		v.Finals = append(v.Finals, run.Finals...)
	}
	if len(v.Runs) <= 1 {
		v.MeanBPS, v.WeightedBPS = v.tally.bps()
	}
	if v.exact && v.Retransmits == nil {
		v.Retransmits = new(int64)
	}
}

func reviewRow(r Row) ReviewRow {
	if r.Side == "sender" {
		r.UDP.Jitter, r.UDP.Lost = Num{}, Num{}
	}
	return ReviewRow{
		ID: r.ID, Role: r.Role, Side: r.Side, Start: r.Start, End: r.End, Bytes: r.Bytes, BPS: r.Bits, line: r.Line,
		Retr: r.TCP.Retrans.ptr(), Cwnd: r.TCP.Cwnd.ptr(), RTT: r.TCP.RTT.ptr(), NetPwr: r.App.NetPower.ptr(), Latency: r.App.Latency.Avg.ptr(),
		Jitter: r.UDP.Jitter.ptr(), Lost: r.UDP.Lost.ptr(), Datagrams: r.UDP.Datagrams.ptr(),
	}
}

func (n Num) ptr() *float64 {
	if !n.OK {
		return nil
	}
	return &n.V
}
