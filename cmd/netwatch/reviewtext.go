package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"netwatch/experiment/recording"
	"netwatch/experiment/report"
	"netwatch/parsers/ping"
	"netwatch/sources"
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

// many counts things: "1 run", "2 runs", "3 replies".
func many[T int | int64](n T, noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return "1 " + noun
	case y:
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// aligned prints rows of fields in columns, without blanks at their ends.
func aligned(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, field := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(field))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, field := range row {
			if widths[i] > 0 {
				fmt.Fprintf(&line, "%-*s  ", widths[i], field)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// pingText says what each ping, or fping of each of its targets, tells.
func pingText(w io.Writer, v *ping.Review) {
	indent := "  "
	switch {
	case len(v.Pings) == 1:
		fmt.Fprintf(w, "%s: %s\n", v.File, joined(", ", v.Tool, v.Pings[0].Target, repliesWords(v.Pings[0])))
		pingLines(w, indent, v.Tool, v.Pings[0])
	case len(v.Pings) > 1 && v.Tool == "fping":
		fmt.Fprintf(w, "%s: %s, %s\n", v.File, v.Tool, many(len(v.Pings), "host"))
	default:
		fmt.Fprintf(w, "%s: %s, %s\n", v.File, v.Tool, many(len(v.Pings), "run"))
	}
	if len(v.Pings) > 1 {
		for _, p := range v.Pings {
			fmt.Fprintf(w, "%s%s\n", indent, joined(", ", cmp.Or(p.Target, "a host that is not told"), repliesWords(p)))
			pingLines(w, indent+indent, v.Tool, p)
		}
	}
	for _, m := range v.Messages {
		fmt.Fprintf(w, "  it said: %s\n", m)
	}
}

// joined joins what there is to say.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// repliesWords counts the lines of replies. A quiet ping writes none, which is no loss.
func repliesWords(p *ping.Ping) string {
	if p.Replies+p.Duplicates == 0 {
		if p.Stats != nil && p.Stats.Received > 0 {
			return "its counts only"
		}
		return "no reply"
	}
	return many(p.Replies, "reply") + ", " + many(p.Duplicates, "duplicate")
}

func pingLines(w io.Writer, indent, tool string, p *ping.Ping) {
	var rows [][]string
	say := func(what, format string, a ...any) {
		rows = append(rows, []string{indent + what, fmt.Sprintf(format, a...)})
	}
	if p.Lines != nil {
		say("min/avg/max of the lines", "%s/%s/%s ms", millis(*p.Lines.Min), millis(*p.Lines.Avg), millis(*p.Lines.Max))
	}
	if r := p.RTT; r != nil {
		names, values := "min/avg/max", num(r.Min, "%g")+"/"+num(r.Avg, "%g")+"/"+num(r.Max, "%g")
		if r.Avg == nil {
			names, values = "min/max", num(r.Min, "%g")+"/"+num(r.Max, "%g")
		}
		if r.Dev != nil {
			names, values = names+"/deviation", values+num(r.Dev, "/%g")
		}
		say(names+" by "+tool, "%s ms", values)
	}
	switch s := p.Stats; {
	case s == nil:
	case p.Reports > 0:
		say(fmt.Sprintf("in %s by %s", many(p.Reports, "report"), tool), "%d sent, %d received; no count of the whole run: it was cut off", s.Transmitted, s.Received)
	case s.LossPct == nil:
		say("counts by "+tool, "%d sent, %d received", s.Transmitted, s.Received)
	default:
		say("counts by "+tool, "%d sent, %d received, loss %g %%", s.Transmitted, s.Received, *s.LossPct)
	}
	if p.Timeouts > 0 {
		say("timed out", "%s", many(p.Timeouts, "probe"))
	}
	if p.Missing > 0 {
		say("no reply to", "%s", many(p.Missing, "probe"))
	}
	aligned(w, rows)
}

// millis writes a round trip with about as many figures as a ping prints.
func millis(ms float64) string {
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.1f", ms)
	case ms >= 10:
		return fmt.Sprintf("%.2f", ms)
	}
	return fmt.Sprintf("%.3f", ms)
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
