package ping

import (
	"encoding/json"
	"strings"
)

// A Ping is what one ping says, or fping of one target. Round trips in milliseconds.
type Ping struct {
	Target     string        `json:"target,omitempty"`
	Replies    int           `json:"reply_lines"` // without duplicates
	Duplicates int           `json:"duplicates"`
	Timeouts   int           `json:"timeouts"`
	Lines      *ReviewRTTs   `json:"rtt_of_lines"` // of the replies, duplicates included; null without any
	Missing    int           `json:"missing"`      // probes before the last reply that had none
	Stats      *ReviewCounts `json:"stats"`        // the tool's own counts
	RTT        *ReviewRTTs   `json:"rtt"`          // and its own summary
	// Reports is how many reports of fping -Q the Stats add up to, 0 where they are of
	// the whole run. A report counts what was lost after it as neither.
	Reports int `json:"reports,omitempty"`

	sum   float64
	n     int
	fping bool
}

// MarshalJSON leaves out what fping does not tell: with -Q it counts replies and
// writes none.
func (v *Review) MarshalJSON() ([]byte, error) {
	type plain Review
	if v.Tool != "fping" || v.Replies+v.Duplicates+len(v.Timeouts) > 0 {
		return json.Marshal((*plain)(v))
	}
	return json.Marshal(struct {
		*plain
		Replies    *int `json:"replies"`
		Duplicates *int `json:"duplicates"`
	}{plain: (*plain)(v)})
}

// pings files a record under its ping.
func (v *Review) pings(rec Record) {
	switch r := rec.(type) {
	case Start:
		if r.Flavour != Fping || v.of(r.Target) == nil {
			v.Pings = append(v.Pings, &Ping{Target: r.Target, fping: r.Flavour == Fping})
		}
	case Reply:
		v.under(r.From).reply(r)
	case NoAnswer:
		if r.Timeout {
			v.under(r.From).Timeouts++
		}
	case Counts:
		v.under("").Stats = &ReviewCounts{r.Transmitted, r.Received, r.LossPct.ptr(), r.Duplicates.ptr(), r.Errors.ptr(), r.TimeMS.ptr()}
	case RTTs:
		v.under("").RTT = &ReviewRTTs{r.Min.ptr(), r.Avg.ptr(), r.Max.ptr(), r.Dev.ptr(), r.Pipe.ptr(), r.IPG.ptr(), r.EWMA.ptr()}
	case Report:
		v.report(r)
	case Other:
		if isClock(r.Text) {
			v.reported = map[string]bool{}
		}
	}
}

// of is fping's target of that name, nil if there is none.
func (v *Review) of(target string) *Ping {
	for _, p := range v.Pings {
		if p.fping && p.Target == target {
			return p
		}
	}
	return nil
}

// under is the Ping that a line belongs to: of ping the newest, whoever replied.
func (v *Review) under(from string) *Ping {
	if p := v.of(from); p != nil {
		return p
	}
	if len(v.Pings) == 0 {
		v.Pings = append(v.Pings, &Ping{})
	}
	return v.Pings[len(v.Pings)-1]
}

func (p *Ping) reply(r Reply) {
	if r.Dup {
		p.Duplicates++
	} else {
		p.Replies++
	}
	if !r.RTT.OK {
		return
	}
	ms := r.RTT.V / 1000
	p.sum += ms
	p.n++
	if p.Lines == nil {
		p.Lines = &ReviewRTTs{Min: new(ms), Avg: new(ms), Max: new(ms)}
	}
	*p.Lines.Min, *p.Lines.Max, *p.Lines.Avg = min(*p.Lines.Min, ms), max(*p.Lines.Max, ms), p.sum/float64(p.n)
}

// isClock tells the line above a block of fping -Q, "[11:00:50]".
func isClock(s string) bool {
	h, rest, ok1 := strings.Cut(strings.TrimPrefix(s, "["), ":")
	m, sec, ok2 := strings.Cut(strings.TrimSuffix(rest, "]"), ":")
	return len(s) == len("[11:00:50]") && ok1 && ok2 && len(h) == 2 && len(m) == 2 && strings.Trim(h+m+sec, "0123456789") == ""
}

// report takes a report of fping. Those of -Q are of the time since the one before,
// each target once below a clock; the last of all, without a clock of its own, is
// of the whole run.
func (v *Review) report(r Report) {
	p := v.under(r.Target)
	stats := &ReviewCounts{Transmitted: r.Xmt, Received: r.Rcv, LossPct: r.LossPct.ptr()}
	if v.reported == nil || v.reported[r.Target] {
		p.Stats, p.Reports = stats, 0
		p.RTT = nil
		if r.Min.OK {
			p.RTT = &ReviewRTTs{Min: r.Min.ptr(), Avg: r.Avg.ptr(), Max: r.Max.ptr()}
		}
		return
	}
	v.reported[r.Target] = true
	if p.Stats != nil && p.Reports > 0 {
		stats.Transmitted += p.Stats.Transmitted
		stats.Received += p.Stats.Received
	}
	stats.LossPct = nil
	if p.Reports == 0 {
		p.RTT = nil
	}
	p.Stats, p.Reports = stats, p.Reports+1
	p.widen(r)
}

// widen takes the round trips of a report. Its mean is not added to others: how many
// replies it is of is not told.
func (p *Ping) widen(r Report) {
	if !r.Min.OK || !r.Max.OK {
		return
	}
	if p.RTT == nil {
		p.RTT = &ReviewRTTs{Min: r.Min.ptr(), Max: r.Max.ptr()}
		return
	}
	*p.RTT.Min, *p.RTT.Max = min(*p.RTT.Min, r.Min.V), max(*p.RTT.Max, r.Max.V)
}
