package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"netwatch/experiment/recording"
	"netwatch/experiment/report"
	"netwatch/parsers/iperf"
	"netwatch/parsers/ping"
	"netwatch/parsers/siftr"
	"netwatch/sources"
	sourceiperf "netwatch/sources/iperf"
)

// num writes a figure that may be missing.
func num[T int64 | uint64 | uint32 | uint16 | float64](v *T, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func str(v *string) string {
	if v == nil {
		return "-"
	}
	return *v
}

// siftrText is what review_siftr2_log tells, for every cycle and flow, unrounded
// populations, and the means of either direction beside it.
func siftrText(w io.Writer, r siftr.Report) {
	fmt.Fprintf(w, "%s: siftr %s, %d cycles, %d bad lines\n", r.File, str(r.Version), len(r.Cycles), r.BadLines)
	for i, c := range r.Cycles {
		from := "no header"
		if c.EnableSecs != nil {
			from = time.Unix(*c.EnableSecs, *c.EnableUsecs*1000).Format("2006-01-02 15:04:05.000")
		}
		length := "no footer: still running, or cut"
		if c.Duration != nil {
			length = fmt.Sprintf("%.3f s", *c.Duration)
		}
		fmt.Fprintf(w, "\ncycle %d: %s, %s, %s, %d records", i+1, c.Variant, from, length, c.Records)
		if c.RingDrops != nil && *c.RingDrops > 0 {
			fmt.Fprintf(w, ", %d lost in the kernel's ring: sums are too low", *c.RingDrops)
		}
		fmt.Fprintln(w)
		if c.Refused != nil {
			fmt.Fprintf(w, "  not read: %s\n", *c.Refused)
			continue
		}
		flowsText(w, c.Flows)
	}
}

func flowsText(w io.Writer, flows []siftr.FlowReport) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "flow\trecords out\tin\tdata pkts\tavg payload\tout avg\tin avg\tmin\tmax\tfragments\tavg srtt us\tmin\tmax\tavg cwnd\tmin\tmax\tavg inflight\t")
	for _, f := range flows {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n",
			flowName(f), f.RecordsOut, f.RecordsIn, num(f.Packets, "%d"), num(f.Avg, "%.2f"), num(f.OutAvg, "%.2f"), num(f.InAvg, "%.2f"),
			num(f.Min, "%d"), num(f.Max, "%d"), num(f.Fragments, "%d"), num(f.AvgSRTT, "%.1f"), num(f.MinSRTT, "%.1f"), num(f.MaxSRTT, "%.1f"),
			num(f.AvgCwnd, "%.0f"), num(f.MinCwnd, "%d"), num(f.MaxCwnd, "%d"), num(f.AvgInflight, "%.0f"))
	}
	t.Flush()
	for _, f := range flows {
		if f.Laddr != nil && f.FlowID != nil {
			fmt.Fprintf(w, "  %s  %s:%d -> %s:%d  mss %s  %s/%s\n", *f.FlowID, *f.Laddr, *f.Lport, *f.Faddr, *f.Fport, num(f.MSS, "%d"), str(f.Stack), str(f.CC))
		}
	}
}

func flowName(f siftr.FlowReport) string {
	if f.FlowID != nil {
		return *f.FlowID
	}
	if f.Laddr != nil {
		return fmt.Sprintf("%s:%d>%s:%d", *f.Laddr, *f.Lport, *f.Faddr, *f.Fport)
	}
	return "?"
}

func iperfText(w io.Writer, v *iperf.Review) {
	version := "version not told"
	if v.Version != nil {
		version = *v.Version
	}
	fmt.Fprintf(w, "%s: %s %s, %d runs, %d interval rows", v.File, v.Tool, version, v.Tests, v.Intervals)
	if v.Retransmits != nil {
		fmt.Fprintf(w, ", %d retransmits", *v.Retransmits)
	}
	fmt.Fprintln(w)
	for _, id := range slices.Sorted(maps.Keys(v.WeightedBPS)) {
		fmt.Fprintf(w, "  mean of the intervals %-6s %s\n", id, sourceiperf.Rate(v.WeightedBPS[id]))
	}
	for _, f := range v.Finals {
		fmt.Fprintf(w, "  the tool's own        %-6s %s %s%s\n", f.ID, sourceiperf.Rate(f.BPS), f.Role, f.Side)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(w, "  it said: %s\n", m)
	}
	if v.BadCount > 0 {
		fmt.Fprintf(w, "  %d lines could not be read, the first: line %d: %s\n", v.BadCount, v.BadLines[0].Line, v.BadLines[0].Reason)
	}
}

func pingText(w io.Writer, v *ping.Review) {
	fmt.Fprintf(w, "%s: %s, %d replies, %d duplicates\n", v.File, v.Tool, v.Replies, v.Duplicates)
	if n := len(v.RTTs); n > 0 {
		sum := 0.0
		for _, r := range v.RTTs {
			sum += r
		}
		fmt.Fprintf(w, "  min/avg/max of the lines  %.3f/%.3f/%.3f ms\n", slices.Min(v.RTTs), sum/float64(n), slices.Max(v.RTTs))
	}
	if r := v.RTT; r != nil {
		fmt.Fprintf(w, "  the tool's own            %s/%s/%s/%s ms\n", num(r.Min, "%.3f"), num(r.Avg, "%.3f"), num(r.Max, "%.3f"), num(r.Dev, "%.3f"))
	}
	if s := v.Stats; s != nil {
		fmt.Fprintf(w, "  %d sent, %d received, loss %s %%\n", s.Transmitted, s.Received, num(s.LossPct, "%g"))
	}
	if n := len(v.MissingSeqs); n > 0 {
		fmt.Fprintf(w, "  no reply to %d probes\n", n)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(w, "  it said: %s\n", m)
	}
}

// recording sums a recording up: its table, or the recording's own header as JSON.
func (r *reviewer) recording(in io.Reader, name string) error {
	rd, err := recording.NewReader(in, name)
	if err != nil {
		return err
	}
	s := (&showing{header: rd.Header}).session(0, nil)
	batches := 0
	if err := rd.Copy(func(b sources.Batch) error { batches++; s.Apply(b); return nil }); err != nil {
		return err
	}
	s.Finish()
	if rd.NBad > 0 {
		fmt.Fprintf(r.cmd.ErrOrStderr(), "netwatch: %d damaged lines left out, the first: %v\n", rd.NBad, rd.Bad[0])
	}
	var table strings.Builder
	if err := report.Markdown(&table, s, cmp.Or(rd.Header.Here, called(rd.Header))); err != nil {
		return err
	}
	return r.say(struct {
		File    string `json:"file"`
		Kind    string `json:"kind"`
		Batches int    `json:"batches"`
		recording.Header
		Table string `json:"table"`
	}{name, "recording", batches, rd.Header, table.String()}, func(w io.Writer) { io.WriteString(w, table.String()) })
}

// series prints the records of one flow as CSV.
func (r *reviewer) series(in io.Reader) error {
	w := bufio.NewWriter(r.cmd.OutOrStdout())
	h := &seriesHandler{want: strings.ToLower(r.flow), csv: csv.NewWriter(w)}
	h.csv.Write([]string{"direction", "seconds", "cwnd", "ssthresh", "srtt_us", "payload"})
	d := siftr.NewDecoder(h)
	if err := copyChunks(d, in); err != nil {
		return err
	}
	d.Close()
	h.csv.Flush()
	if err := w.Flush(); err != nil {
		return err
	}
	if h.n == 0 {
		return fmt.Errorf("no flow %s in it; there are: %s", r.flow, strings.Join(slices.Sorted(maps.Keys(h.seen)), " "))
	}
	return nil
}

// A seriesHandler writes the records of the flow that is wanted.
type seriesHandler struct {
	want  string
	csv   *csv.Writer
	cycle *siftr.Cycle
	names map[*siftr.Flow]string
	seen  map[string]bool
	n     int64
}

func (h *seriesHandler) Begin(c *siftr.Cycle) {
	h.cycle, h.names = c, map[*siftr.Flow]string{}
	if h.seen == nil {
		h.seen = map[string]bool{}
	}
}

func (h *seriesHandler) End(*siftr.Cycle) {}
func (h *seriesHandler) Bad(siftr.Bad)    {}

func (h *seriesHandler) Record(rec *siftr.Record) {
	name, known := h.names[rec.Flow]
	if !known {
		if rec.Flow.Local.IsValid() {
			name = rec.Flow.Local.String() + ">" + rec.Flow.Remote.String()
		} else {
			name = fmt.Sprintf("%08x", rec.Flow.ID)
		}
		h.names[rec.Flow] = name
		h.seen[name] = true
	}
	if name != h.want && (!rec.Flow.HasID || fmt.Sprintf("%08x", rec.Flow.ID) != h.want) {
		return
	}
	h.n++
	seconds, srtt, payload, ssthresh := "", "", "", ""
	if rec.Has(siftr.FieldTime) && h.cycle.HasHeader {
		seconds = strconv.FormatFloat(float64(rec.Time-h.cycle.Header.Time)/1e6, 'f', 6, 64)
	}
	if rec.Has(siftr.FieldSRTT) {
		srtt = strconv.FormatFloat(rec.SRTT, 'f', -1, 64)
	}
	if rec.Has(siftr.FieldPayload) {
		payload = strconv.FormatUint(uint64(rec.Payload), 10)
	}
	if rec.SsthreshSet() {
		ssthresh = strconv.FormatUint(uint64(rec.Ssthresh), 10)
	}
	h.csv.Write([]string{rec.Dir.String(), seconds, strconv.FormatUint(uint64(rec.Cwnd), 10), ssthresh, srtt, payload})
}
