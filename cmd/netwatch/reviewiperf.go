package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"netwatch/parsers/iperf"
	sourceiperf "netwatch/sources/iperf"
)

// lineWidth is how wide a line of a review may get before it is folded.
const lineWidth = 120

func iperfText(w io.Writer, v *iperf.Review) {
	version := ", version not told"
	if v.Version != nil {
		version = " " + *v.Version
	}
	fmt.Fprintf(w, "%s: %s%s, %s, %s\n", v.File, v.Tool, version, many(v.Tests, "run"), many(v.Intervals, "interval row"))
	if len(v.Runs) == 1 {
		runText(w, "  ", v.Runs[0])
	} else {
		runsText(w, v.Runs)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(w, "  it said: %s\n", m)
	}
	if v.BadCount > 0 {
		fmt.Fprintf(w, "  %s could not be read, the first: line %d: %s\n", many(v.BadCount, "line"), v.BadLines[0].Line, v.BadLines[0].Reason)
	}
}

// runsText has a line for each run, so that they can be compared. There is no mean
// over runs: their settings may differ.
func runsText(w io.Writer, runs []*iperf.ReviewRun) {
	for i, r := range runs {
		head := fmt.Sprintf("  run %d%s: %s", i+1, peerWords(r), many(r.Intervals, "row"))
		if line := head + shortly(r); len(line) <= lineWidth {
			fmt.Fprintln(w, line)
			continue
		}
		fmt.Fprintln(w, head)
		runText(w, "    ", r)
	}
}

func peerWords(r *iperf.ReviewRun) string {
	switch {
	case r.Peer == "":
		return ""
	case r.Server:
		return " from " + r.Peer
	}
	return " to " + r.Peer
}

// shortly is a run in the rest of a line.
func shortly(r *iperf.ReviewRun) string {
	var b strings.Builder
	for _, id := range idsOf(r.BPS) {
		fmt.Fprintf(&b, ", mean%s %s", named(id, len(r.BPS) > 1), sourceiperf.Rate(r.BPS[id]))
	}
	finals := r.Finals
	if sums := slices.DeleteFunc(slices.Clone(finals), func(f iperf.ReviewRow) bool { return f.ID != "SUM" }); len(sums) > 0 {
		finals = sums
	}
	for i, f := range finals {
		own := fmt.Sprintf(", %s's own", r.Tool)
		if i > 0 {
			own = ","
		}
		fmt.Fprintf(&b, "%s %s", own, joined(" ", rateWords(r, f), f.Role, f.Side))
	}
	for _, d := range r.Directions {
		if words := directionWords(r, d); words != "" {
			way := d.Dir + " "
			if len(r.Directions) == 1 {
				way = ""
			}
			fmt.Fprintf(&b, "; %s%s", way, words)
		}
	}
	return b.String()
}

// idsOf are the ids of streams or the roles, what is sent before what is received.
func idsOf(means map[string]float64) []string {
	received := func(id string) int {
		if strings.HasPrefix(id, "RX") || strings.HasPrefix(id, "*") {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(means), func(a, b string) int {
		return cmp.Or(received(a)-received(b), len(a)-len(b), strings.Compare(a, b))
	})
}

func named(id string, several bool) string {
	if !several {
		return ""
	}
	return " " + id
}

// runText says what the tool itself counted each way, then the rates.
func runText(w io.Writer, indent string, r *iperf.ReviewRun) {
	var ways, rates [][]string
	for _, d := range r.Directions {
		if words := directionWords(r, d); words != "" {
			ways = append(ways, []string{indent + joined(" ", d.Dir, d.Role), words})
		}
	}
	aligned(w, ways)
	for _, id := range idsOf(r.BPS) {
		rates = append(rates, []string{indent + "mean of the intervals", id, "", sourceiperf.Rate(r.BPS[id])})
	}
	for _, f := range r.Finals {
		whose := joined(" ", f.Role, f.Side)
		if strings.HasPrefix(f.ID, "FD") {
			whose = "both directions"
		}
		rates = append(rates, []string{indent + string(r.Tool) + "'s own", f.ID, whose, finalWords(r, f)})
	}
	for _, f := range r.Reports {
		rates = append(rates, []string{indent + "the receiver's report", f.ID, "", finalWords(r, f)})
	}
	aligned(w, rates)
}

// directionWords is what a run lost one way, and by whose count; "" when nobody told.
func directionWords(r *iperf.ReviewRun, d iperf.Direction) string {
	none := "its final rows do not tell"
	if len(r.Finals) == 0 {
		none = "no final row: the run was cut off"
	}
	retrans, loss := "", ""
	switch own, rows := d.Retransmits, d.IntervalRetransmits; {
	case own != nil && rows == nil:
		retrans = fmt.Sprintf("%s by %s's own total; the interval rows do not tell them", many(*own, "retransmit"), r.Tool)
	case own != nil && *own != *rows:
		retrans = fmt.Sprintf("%s by %s's own total, %d in the interval rows", many(*own, "retransmit"), r.Tool, *rows)
	case own != nil:
		retrans = many(*own, "retransmit")
	case rows != nil:
		retrans = fmt.Sprintf("%s in the interval rows; %s", many(*rows, "retransmit"), none)
	}
	if d.Lost != nil {
		loss = lossWords(float64(*d.Lost), float64(*d.Datagrams))
		if d.Jitter != nil {
			loss += fmt.Sprintf(", jitter %.3f ms", *d.Jitter/1000)
		}
		switch d.LossBy {
		case iperf.ByReport:
			loss += " by the receiver's report"
		case iperf.ByIntervals:
			loss += " in the interval rows; " + none
		}
	}
	return joined("; ", retrans, loss)
}

func lossWords(lost, datagrams float64) string {
	s := fmt.Sprintf("%.0f of %.0f datagrams lost", lost, datagrams)
	if datagrams > 0 {
		s += fmt.Sprintf(" (%.2g %%)", lost/datagrams*100)
	}
	return s
}

// rateWords is the rate of a final row. An iperf3 that was interrupted prints zeros
// for what the other side would have told.
func rateWords(r *iperf.ReviewRun, f iperf.ReviewRow) string {
	moved := 0.0
	for _, bps := range r.BPS {
		moved += bps
	}
	if f.Bytes == 0 && moved > 0 {
		return "not told: the run was interrupted"
	}
	return sourceiperf.Rate(f.BPS)
}

func finalWords(r *iperf.ReviewRun, f iperf.ReviewRow) string {
	s := rateWords(r, f)
	if f.Bytes == 0 {
		return s
	}
	if f.Retr != nil {
		s += ", " + many(int64(*f.Retr), "retransmit")
	}
	switch {
	case f.Datagrams == nil:
	case f.Lost != nil:
		s += ", " + lossWords(*f.Lost, *f.Datagrams)
	default:
		s += ", " + many(int64(*f.Datagrams), "datagram")
	}
	if f.Jitter != nil {
		s += fmt.Sprintf(", jitter %.3f ms", *f.Jitter/1000)
	}
	return s
}
