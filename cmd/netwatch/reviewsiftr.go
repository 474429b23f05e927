package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"netwatch/parsers/siftr"
)

// siftrText is what review_siftr2_log tells, for every cycle and flow, unrounded
// populations, and the means of either direction beside it.
func siftrText(w io.Writer, r siftr.Report) {
	variant := ""
	if len(r.Cycles) > 0 && !slices.ContainsFunc(r.Cycles, func(c siftr.CycleReport) bool { return c.Variant != r.Cycles[0].Variant }) {
		variant = r.Cycles[0].Variant
	}
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.File, cmp.Or(variant, "siftr"), many(len(r.Cycles), "cycle"), many(r.BadLines, "bad line"))
	for i, c := range r.Cycles {
		from := "no header"
		if c.EnableSecs != nil {
			from = time.Unix(*c.EnableSecs, *c.EnableUsecs*1000).Format("2006-01-02 15:04:05.000")
		}
		length := "no footer: still running, or cut"
		switch {
		case c.Duration != nil:
			length = fmt.Sprintf("%.3f s", *c.Duration)
		case c.DisableSecs != nil:
			length = "until " + time.Unix(*c.DisableSecs, *c.DisableUsecs*1000).Format("2006-01-02 15:04:05.000")
		}
		records := ""
		if c.Records >= 0 {
			records = many(int64(c.Records), "record")
		}
		own := ""
		if variant == "" {
			own = c.Variant
		}
		fmt.Fprintf(w, "\ncycle %d: %s\n", i+1, joined(", ", own, from, length, records))
		if c.Refused != nil {
			fmt.Fprintf(w, "  not read: %s\n", *c.Refused)
			continue
		}
		cycleSampled(w, c)
		flowsText(w, c)
	}
}

// cycleSampled says which packets the log of a cycle lacks; of siftr2 each flow says
// what ppl and filters left out.
func cycleSampled(w io.Writer, c siftr.CycleReport) {
	if n, ok := c.Packets(); ok && n > int64(c.Records) {
		fmt.Fprintf(w, "  %s have a record here: ppl, a filter, or a log that was switched\n", sampledWords(int64(c.Records), n))
	}
	if c.RingDrops != nil && *c.RingDrops > 0 {
		fmt.Fprintf(w, "  sampled: %s lost in the kernel's ring: sums are too low\n", many(*c.RingDrops, "packet"))
	}
	if c.Sampled == nil && c.Records > 0 {
		fmt.Fprintln(w, "  whether it has all packets is not told")
	}
}

// sampledWords says which share of the packets was logged: as 1 of n where keeping
// each n-th gives just that many, and no other n does.
func sampledWords(records, packets int64) string {
	each := func(n int64) bool { return n > 1 && (records == packets/n || records == (packets+n-1)/n) }
	n := int64(math.Round(float64(packets) / float64(max(records, 1))))
	if each(n) && !each(n-1) && !each(n+1) {
		return fmt.Sprintf("sampled: 1 of %d packets (%d of %d)", n, records, packets)
	}
	return fmt.Sprintf("sampled: %d of %d packets (%.3g %%)", records, packets, float64(records)/float64(packets)*100)
}

// flowsText names the connections, then has their figures in two tables that keep
// within a page.
func flowsText(w io.Writer, c siftr.CycleReport) {
	if len(c.Flows) == 0 {
		fmt.Fprintln(w, "  no flow")
		return
	}
	for i, f := range c.Flows {
		flowLine(w, flowName(i, f), f)
	}
	records := []column{{name: "flow"}, {"records", "out", nil}, {"records", "in", nil}, {"records", "with data", nil}, {"records", "fragments", nil}}
	const sizes = "payload in bytes, of those with data"
	payload := []column{{sizes, "avg", nil}, {sizes, "min", nil}, {sizes, "max", nil}, {sizes, "avg out", nil}, {sizes, "avg in", nil}}
	state := []column{{name: "flow"}}
	for _, group := range []string{"sRTT in us", "cwnd in bytes", "inflight in bytes"} {
		state = append(state, column{group, "avg", nil}, column{group, "min", nil}, column{group, "max", nil})
	}
	for i, f := range c.Flows {
		name := flowName(i, f)
		fill(records, name, strconv.FormatInt(int64(f.RecordsOut), 10), strconv.FormatInt(int64(f.RecordsIn), 10), num(f.Packets, "%d"), num(f.Fragments, "%d"))
		fill(payload, num(f.Avg, "%.2f"), num(f.Min, "%d"), num(f.Max, "%d"), meanOf(f.OutPackets, f.OutAvg), meanOf(f.InPackets, f.InAvg))
		fill(state, name, num(f.AvgSRTT, "%.1f"), num(f.MinSRTT, "%.1f"), num(f.MaxSRTT, "%.1f"), num(f.AvgCwnd, "%.0f"), num(f.MinCwnd, "%d"),
			num(f.MaxCwnd, "%d"), num(f.AvgInflight, "%.0f"), num(f.MinInflight, "%d"), num(f.MaxInflight, "%d"))
	}
	if !slices.ContainsFunc(c.Flows, func(f siftr.FlowReport) bool { return f.Packets != nil }) {
		fmt.Fprintln(w, "  no sizes of packets: this version does not log them")
	}
	fmt.Fprintln(w)
	grid(w, append(records, payload...))
	fmt.Fprintln(w)
	grid(w, state)
}

// flowName is the flow's id, or its place in a log that has none.
func flowName(i int, f siftr.FlowReport) string {
	if f.FlowID != nil {
		return *f.FlowID
	}
	return fmt.Sprintf("#%d", i+1)
}

func flowLine(w io.Writer, name string, f siftr.FlowReport) {
	ends := "addresses not told: the footer has them"
	if f.Laddr != nil {
		ends = endpoint(*f.Laddr, *f.Lport) + " -> " + endpoint(*f.Faddr, *f.Fport)
	}
	facts := ""
	if f.MSS != nil {
		facts = fmt.Sprintf("mss %d bytes", *f.MSS)
	}
	if f.Stack != nil {
		facts = joined(", ", facts, "stack "+*f.Stack)
	}
	if f.CC != nil {
		facts = joined(", ", facts, "cc "+*f.CC)
	}
	line := fmt.Sprintf("  %-8s  %s", name, ends)
	if len(line)+len(facts)+2 > lineWidth {
		fmt.Fprintf(w, "%s\n            %s\n", line, facts)
	} else {
		fmt.Fprintln(w, joined("  ", line, facts))
	}
	if f.Sampled != nil && *f.Sampled {
		fmt.Fprintf(w, "            %s: sums are too low\n", sampledWords(*f.FooterRecords, *f.FooterPackets))
	}
}

func endpoint(addr string, port uint16) string {
	return net.JoinHostPort(addr, strconv.Itoa(int(port)))
}

// meanOf is the mean of n packets; of none there is none.
func meanOf(n *int64, avg *float64) string {
	if n == nil || *n == 0 {
		return "-"
	}
	return num(avg, "%.2f")
}

// A column of a table; those of a group stand together below its name.
type column struct {
	group, name string
	cells       []string
}

func fill(cols []column, cells ...string) {
	for i, cell := range cells {
		cols[i].cells = append(cols[i].cells, cell)
	}
}

// grid prints columns, but for those in which no cell has anything.
func grid(w io.Writer, cols []column) {
	cols = slices.DeleteFunc(cols, func(c column) bool {
		return !slices.ContainsFunc(c.cells, func(s string) bool { return s != "-" })
	})
	lines := make([]strings.Builder, 2+len(cols[0].cells))
	for i := 0; i < len(cols); {
		n := 1
		for i+n < len(cols) && cols[i+n].group == cols[i].group {
			n++
		}
		block := blockOf(cols[i : i+n])
		for j := range lines {
			lines[j].WriteString(block[j])
		}
		i += n
	}
	for j := range lines {
		if line := strings.TrimRight(lines[j].String(), " "); line != "" {
			fmt.Fprintln(w, line)
		}
	}
}

// blockOf is a group of columns: its name over them all, theirs, and the rows.
func blockOf(cols []column) []string {
	lines := make([]string, 2+len(cols[0].cells))
	for _, c := range cols {
		width := len(c.name)
		for _, cell := range c.cells {
			width = max(width, len(cell))
		}
		lines[1] += fmt.Sprintf("  %*s", width, c.name)
		for j, cell := range c.cells {
			lines[2+j] += fmt.Sprintf("  %*s", width, cell)
		}
	}
	if group := cols[0].group; group != "" {
		rest := max(0, len(lines[1])-len(group)-4)
		lines[0] = "  " + strings.Repeat("-", rest/2) + " " + group + " " + strings.Repeat("-", rest-rest/2)
	}
	width := max(len(lines[0]), len(lines[1]))
	for j := range lines {
		lines[j] = fmt.Sprintf("%*s  ", width, lines[j])
	}
	return lines
}
