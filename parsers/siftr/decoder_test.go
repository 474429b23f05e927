package siftr_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netwatch/parsers/siftr"
	"netwatch/parsers/siftr/siftrgen"
)

// A trace writes down everything a Decoder says.
type trace struct{ w io.Writer }

func (t trace) Begin(c *siftr.Cycle) { fmt.Fprintf(t.w, "begin %v %+v\n", c.Variant, c.Header) }
func (t trace) Record(r *siftr.Record) {
	c := *r
	c.Flow = nil
	fmt.Fprintf(t.w, "%08x %v %v %+v\n", r.Flow.ID, r.Flow.Local, r.Flow.Remote, c)
}

func (t trace) End(c *siftr.Cycle) {
	fmt.Fprintf(t.w, "end %v %v %+v %v %q\n", c.HasHeader, c.HasFooter, c.Footer, c.Records, c.Refused)
	for _, f := range c.Flows {
		fmt.Fprintf(t.w, "%08x %v %v %v %v %v %+v\n", f.ID, f.Local, f.Remote, f.MSS, f.Counts, f.Listed, f.Entry)
	}
}
func (t trace) Bad(b siftr.Bad) { fmt.Fprintf(t.w, "bad %+v\n", b) }

// traced is what a Decoder says when log comes in pieces whose lengths cut gives.
func traced(log []byte, cut func() int) string {
	var b strings.Builder
	feed(siftr.NewDecoder(trace{&b}), log, cut)
	return b.String()
}

// tracedPlain is traced without vector instructions.
func tracedPlain(log []byte, cut func() int) string {
	var b strings.Builder
	feed(siftr.NewDecoder(trace{&b}).WithoutVector(), log, cut)
	return b.String()
}

func feed(d *siftr.Decoder, log []byte, cut func() int) {
	for len(log) > 0 {
		n := min(len(log), cut())
		d.Write(bytes.Clone(log[:n])) // a copy, so that what the Decoder keeps shows
		log = log[n:]
	}
	d.Close()
}

// sum is traced in a few bytes.
func sum(log []byte, cut func() int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(traced(log, cut)))
	return h.Sum64()
}

func whole() int { return 1 << 30 }

// TestCuts: where the input is cut makes no difference.
func TestCuts(t *testing.T) {
	for _, dir := range []string{"generated", "real"} {
		for _, name := range logNames(t, dir) {
			log := readLog(t, name)
			if len(log) > 60_000 {
				log = append(log[:30_000:30_000], log[len(log)-30_000:]...) // the seam is a bad line
			}
			want := sum(log, whole)
			if sum(log, func() int { return 1 }) != want {
				t.Errorf("%s: byte by byte reads otherwise", name)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			if sum(log, func() int { return 1 + rng.IntN(200) }) != want {
				t.Errorf("%s: random pieces read otherwise", name)
			}
		}
	}
}

// TestEveryCut cuts small logs in two at every byte.
func TestEveryCut(t *testing.T) {
	logs := map[string][]byte{
		"binary":     readLog(t, "real/siftr2-2.5__bin-empty.log.gz"),
		"stock":      readLog(t, "real/siftr-1.2.4__append.log.gz"),
		"bad things": badThings(t),
	}
	for name, log := range logs {
		want := traced(log, whole)
		for i := range log {
			sizes := []int{max(1, i), whole()}
			k := 0
			got := traced(log, func() int { k++; return sizes[min(k, 2)-1] })
			if got != want {
				t.Fatalf("%s: cut at %d: %s", name, i, difference(got, want))
			}
		}
	}
}

// parts of small real logs for the tests of bad input.
func parts(t testing.TB, name string) (header []byte, records [][]byte, footer []byte) {
	t.Helper()
	lines := bytes.SplitAfter(readLog(t, name), []byte("\n"))
	return lines[0], lines[1 : len(lines)-2], lines[len(lines)-2]
}

func binaryParts(t testing.TB) (header []byte, records [][]byte, footer []byte) {
	t.Helper()
	log := readLog(t, "real/siftr2-2.5__bin-ppl10.log.gz")
	nl := bytes.IndexByte(log, '\n') + 1
	end := bytes.Index(log, []byte("\ndisable_time_secs="))
	header, footer = log[:nl], log[end:]
	for log = log[nl:end]; len(log) > 0; log = log[siftr.RecordSize:] {
		records = append(records, log[:siftr.RecordSize])
	}
	return header, records, footer
}

func cat(pieces ...[]byte) []byte { return bytes.Join(pieces, nil) }

func flat(records [][]byte) []byte { return bytes.Join(records, nil) }

// badThings is a binary log with most kinds of damage in it.
func badThings(t testing.TB) []byte {
	h, r, f := binaryParts(t)
	return cat(h, flat(r[:3]), []byte("0123456789"), flat(r[3:6]), r[6][:50], flat(r[7:10]),
		make([]byte, 100), flat(r[10:12]), []byte("\x00\x01\n\ngarbage\n"), flat(r[12:14]), f)
}

// TestBadInput: what is good is kept, what is bad is counted and named.
func TestBadInput(t *testing.T) {
	h, r, f := parts(t, "real/siftr2-2.5__txt-ppl10.log.gz")
	bh, br, bf := binaryParts(t)
	sh, sr, sf := parts(t, "real/siftr-1.3.0__siftr-unloaded-while-on.log.gz")
	oh, or, of := parts(t, "real/siftr-1.2.4__loopback.log.gz")
	blanks := bytes.ReplaceAll(flat(r), []byte(","), []byte(", "))
	ffff := []byte("f893d8ba" + ",o" + strings.Repeat(",ffffffff", 16) + "\n")
	old := bytes.ReplaceAll(flat(sr), []byte(",1796037568."), []byte(",1796030000."))
	tests := []struct {
		name    string
		log     []byte
		records int // of all cycles
		cycles  int
		bad     []string // the reasons, in order
	}{
		{"sound text", cat(h, flat(r), f), len(r), 1, nil},
		{"sound binary", cat(bh, flat(br), bf), len(br), 1, nil},
		{"empty", nil, 0, 0, nil},
		{"header and footer only", cat(h, f), 0, 1, nil},
		{"no footer", cat(h, flat(r)), len(r), 1, nil},
		{"footer cut", cat(h, flat(r), f[:40]), len(r), 1, []string{siftr.ReasonCut}},
		{"footer without its newline", cat(h, flat(r), f[:len(f)-1]), len(r), 1, nil},
		{"last record cut", cat(h, flat(r[:3]), r[3][:30]), 3, 1, []string{siftr.ReasonCut}},
		{"last binary record cut", cat(bh, flat(br[:3]), br[3][:71]), 3, 1, []string{siftr.ReasonCut}},
		{"CRLF", bytes.ReplaceAll(cat(h, flat(r), f), []byte("\n"), []byte("\r\n")), len(r), 1, nil},
		{"blanks after commas", cat(h, blanks, f), len(r), 1, nil},
		{"blank lines", bytes.ReplaceAll(cat(h, flat(r), f), []byte("\n"), []byte("\n\n")), len(r), 1, nil},
		{"all ones", cat(h, r[0], ffff, r[1], f), 3, 1, nil},
		{"a garbage line", cat(h, r[0], []byte("hello, world\n"), r[1], f), 2, 1, []string{"2 fields where siftr2 2.3 to 2.5 has 18"}},
		{"a field too many", cat(h, r[0], []byte("0,"), r[1], f), 1, 1, []string{"19 fields where siftr2 2.3 to 2.5 has 18"}},
		{"a letter in a number", cat(h, bytes.Replace(r[0], []byte(",3fffc000,"), []byte(",3fffg000,"), 1), r[1], f), 1, 1,
			[]string{"a field is not what siftr2 2.3 to 2.5 writes"}},
		{"a line of 70 kB", cat(h, r[0], bytes.Repeat([]byte("y"), 70_000), []byte("\n"), r[1], f), 2, 1, []string{"line too long"}},
		{"a hole between lines", cat(h, r[0], make([]byte, 5000), r[1], f), 2, 1, []string{"5000 NUL bytes (a hole in the file)"}},
		{"a hole in a line", cat(h, r[0][:20], make([]byte, 50), r[1], f), 1, 1,
			[]string{"the start of a line that was never finished", "50 NUL bytes (a hole in the file)"}},
		{"a hole at the end", cat(h, flat(r), f, make([]byte, 9)), len(r), 1, []string{"9 NUL bytes (a hole in the file)"}},
		{"header glued to a cut record", cat(h, flat(r), r[0][:30], h, flat(r), f), 2 * len(r), 2,
			[]string{"the start of a line that was never finished"}},
		{"footer glued to a cut record", cat(h, flat(r), r[0][:30], f), len(r), 1, []string{"the start of a line that was never finished"}},
		{"binary: bytes between records", cat(bh, flat(br[:5]), []byte("0123456789"), flat(br[5:]), bf), len(br), 1,
			[]string{"10 bytes that are no record"}},
		{"binary: bytes within a record", cat(bh, flat(br[:5]), br[5][:33], []byte("0123456789"), br[5][33:], flat(br[6:]), bf), len(br) - 1, 1,
			[]string{"82 bytes that are no record"}},
		{"binary: bytes lost", cat(bh, flat(br[:5]), br[5][:33], flat(br[6:]), bf), len(br) - 1, 1,
			[]string{"33 bytes that are no record"}},
		{"binary: a hole", cat(bh, flat(br[:5]), make([]byte, 5000), flat(br[5:]), bf), len(br), 1,
			[]string{"5000 bytes that are no record"}},
		{"binary: the tail of the header cycle is text", cat(bh, flat(br), flat(r), f), len(br) + len(r), 1, nil},
		{"two cycles", cat(h, flat(r), f, bh, flat(br), bf), len(r) + len(br), 2, nil},
		{"stock: record before the header", cat(sr[0], sr[1], sh, flat(sr[2:]), sf), len(sr), 1, nil},
		{"stock 1.2.4: record before the header", cat(or[0], oh, flat(or[1:]), of), len(or), 1, nil},
		{"stock: the rest of an older cycle before the header", cat(old, sh, flat(sr), sf), 2 * len(sr), 2, nil},
		{"stock: no header", cat(flat(sr), sf), len(sr), 1, nil},
		{"stock: no header, no footer", flat(sr), len(sr), 1, nil},
		{"stock 1.2.4: no header", cat(flat(or), of), len(or), 1, nil},
		{"siftr2: no header", cat(flat(r), f), len(r), 1, nil},
		{"siftr2 binary: no header", cat(flat(br), bf), len(br), 1, nil},
		{"no siftr log", []byte("Nov 30 12:00:00 host syslogd: restart\nmore\n"), 0, 0, []string{"not a siftr log line", "not a siftr log line"}},
		{"26 fields that call themselves 1.2.4", cat(oh, bytes.ReplaceAll(or[0], []byte(",0,0,0\n"), []byte(",0\n")), flat(or[1:]), of), len(or) - 1, 1,
			[]string{"not a record of siftr 1.2.4"}},
		{"an unknown version", cat(bytes.Replace(h, []byte("2.5"), []byte("2.6"), 1), flat(r), f), 0, 1,
			[]string{"siftr version 2.6 is not known to netwatch"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, report := summarise(tt.log)
			if n := totalRecords(report); n != int64(tt.records) || len(report.Cycles) != tt.cycles {
				t.Errorf("%d records in %d cycles, want %d in %d", n, len(report.Cycles), tt.records, tt.cycles)
			}
			var reasons []string
			for _, b := range s.Bads {
				reasons = append(reasons, b.Reason)
			}
			if fmt.Sprint(reasons) != fmt.Sprint(tt.bad) {
				t.Errorf("bad: %+v\nwant %q", s.Bads, tt.bad)
			}
		})
	}
}

// TestWhereItIsBad: a bad line is named by its number and offset.
func TestWhereItIsBad(t *testing.T) {
	h, r, f := parts(t, "real/siftr2-2.5__txt-ppl10.log.gz")
	s, _ := summarise(cat(h, flat(r[:5]), []byte("bad\x1b[2J\n"), flat(r[5:]), f))
	want := siftr.Bad{Line: 7, Offset: int64(len(h) + len(flat(r[:5]))), Reason: "1 fields where siftr2 2.3 to 2.5 has 18", Text: "bad.[2J"}
	if len(s.Bads) != 1 || s.Bads[0] != want {
		t.Errorf("got %+v, want %+v", s.Bads, want)
	}
}

// TestOldUnits: the srtt of 1.2.x is in ticks/32, its rto in ticks. The first record
// of this log is the SYN (srtt 0, rto 100, at hz=100), the third has 32 and 23.
func TestOldUnits(t *testing.T) {
	var got []siftr.Record
	d := siftr.NewDecoder(keep{&got})
	d.Write(readLog(t, "real/siftr-1.2.4__ppl1-to-linux-peer.log.gz"))
	d.Close()
	for _, tt := range []struct {
		i         int
		srtt, rto float64
		running   bool
	}{{0, 0, 1_000_000, false}, {2, 10_000, 230_000, true}} {
		r := got[tt.i]
		if r.SRTT != tt.srtt || r.RTO != tt.rto || r.Established() != tt.running {
			t.Errorf("record %d: srtt %v rto %v established %v, want %v %v %v", tt.i, r.SRTT, r.RTO, r.Established(), tt.srtt, tt.rto, tt.running)
		}
	}
	// 1.2.x without its header has ticks of an unknown length.
	_, r, _ := parts(t, "real/siftr-1.2.4__loopback.log.gz")
	_, report := summarise(flat(r))
	if f := report.Cycles[0].Flows[0]; f.AvgSRTT != nil || f.AvgCwnd == nil {
		t.Errorf("srtt %v, cwnd %v without a header; want null and a value", f.AvgSRTT, f.AvgCwnd)
	}
}

// TestEnhancedRTT: TEACUP's patched siftr 1.2.x has two fields more than 1.2.3, one of
// them anywhere behind srtt. Up to there it is read as 1.2.3 is; nothing else is.
func TestEnhancedRTT(t *testing.T) {
	h, r, f := parts(t, "real/siftr-1.2.4__ppl1-to-linux-peer.log.gz")
	var old, patched [][]byte
	for i, line := range r {
		p := bytes.Split(bytes.TrimSpace(line), []byte(","))
		old = append(old, append(bytes.Join(p[:25], []byte(",")), '\n'))
		own := fmt.Appendf(nil, "%d", 1<<40-i) // nobody knows what numbers these are
		p = append(slices.Insert(p[:25:25], 19, own), fmt.Appendf(nil, "%d\n", -i))
		patched = append(patched, bytes.Join(p, []byte(",")))
	}
	_, want := summarise(cat(h, flat(old), f))
	s, got := summarise(cat(h, flat(patched), f))
	if n := totalRecords(got); n != int64(len(r)) || len(s.Bads) > 0 {
		t.Fatalf("%d records of %d, bad %+v", n, len(r), s.Bads)
	}
	for i, w := range want.Cycles[0].Flows {
		w.AvgInflight, w.MinInflight, w.MaxInflight, w.InRecovery = nil, nil, nil, nil
		if d := cmp.Diff(w, got.Cycles[0].Flows[i]); d != "" {
			t.Error(d)
		}
	}
	if v := got.Cycles[0].Variant; v != "siftr 1.2.x with the enhanced RTT" {
		t.Error(v)
	}
}

// keep collects the records.
type keep struct{ records *[]siftr.Record }

func (k keep) Begin(*siftr.Cycle)     {}
func (k keep) Record(r *siftr.Record) { *k.records = append(*k.records, *r) }
func (k keep) End(*siftr.Cycle)       {}
func (k keep) Bad(siftr.Bad)          {}

// A rewriter writes down again what it reads.
type rewriter struct {
	out   []byte
	cycle *siftr.Cycle
	stock bool
}

func (w *rewriter) Begin(c *siftr.Cycle) {
	w.cycle = c
	if w.stock = c.Module == "siftr"; w.stock {
		w.out = siftr.AppendHeader130(w.out, &c.Header)
	} else {
		w.out = siftr.AppendHeader25(w.out, &c.Header)
	}
}

func (w *rewriter) Record(r *siftr.Record) {
	switch {
	case w.stock:
		w.out = siftr.AppendRecord130(w.out, r)
	case w.cycle.Header.Binary:
		w.out = siftr.AppendBinary25(w.out, r, w.cycle.Header.Time)
	default:
		w.out = siftr.AppendRecord25(w.out, r, w.cycle.Header.Time)
	}
}

func (w *rewriter) End(c *siftr.Cycle) {
	if w.stock {
		w.out = siftr.AppendFooter130(w.out, c)
	} else {
		w.out = siftr.AppendFooter25(w.out, c)
	}
}
func (w *rewriter) Bad(siftr.Bad) {}

// TestAppendWritesWhatTheKernelWrote decodes real logs and writes them again. Some
// numbers are in no Record (max_str_size, why a packet was skipped, the order of the
// flow list; in stock records sack and the scales): they are left out of the
// comparison.
func TestAppendWritesWhatTheKernelWrote(t *testing.T) {
	for _, name := range []string{"siftr2-2.5__txt-1flow", "siftr2-2.5__txt-ipv6-1flow", "siftr2-2.5__bin-1flow", "siftr2-2.5__bin-empty", "siftr-1.3.0__siftr-port-filter"} {
		t.Run(name, func(t *testing.T) {
			log := readLog(t, "real/"+name+".log.gz")
			w := new(rewriter)
			d := siftr.NewDecoder(w)
			d.Write(log)
			d.Close()
			got, want := w.out, log
			if w.stock {
				got, want = withoutColumns(got), withoutColumns(want)
			}
			k := bytes.LastIndex(want, []byte("disable_time_secs="))
			if n := bytes.LastIndex(got, []byte("disable_time_secs=")); n != k || !bytes.Equal(got[:n], want[:k]) {
				t.Fatalf("records or header differ:\n%.300q\n%.300q", got, want)
			}
			_, again := summarise(w.out)
			_, first := summarise(log)
			if a, b := again.Cycles[0], first.Cycles[0]; *a.DisableUsecs != *b.DisableUsecs || len(a.Flows) != len(b.Flows) {
				t.Errorf("footer %+v, want %+v", a, b)
			}
			if a, b := keysOf(got[k:]), keysOf(want[k:]); a != b {
				t.Errorf("footer keys\n%s\nwant\n%s", a, b)
			}
		})
	}
}

// withoutColumns drops snd_scale, rcv_scale and sack from 1.3.0 records.
func withoutColumns(log []byte) []byte {
	var out [][]byte
	for _, line := range bytes.Split(log, []byte("\n")) {
		p := bytes.Split(line, []byte(","))
		if len(p) == 27 {
			p = append(append(p[:11:11], p[13:16]...), p[17:]...)
		}
		out = append(out, bytes.Join(p, []byte(",")))
	}
	return bytes.Join(out, []byte("\n"))
}

func keysOf(footer []byte) string {
	var keys []string
	for _, p := range strings.Split(string(footer), "\t") {
		k, _, _ := strings.Cut(p, "=")
		keys = append(keys, k)
	}
	return strings.Join(keys, " ")
}

// TestGenerator reads generated logs of every format whole, and the same Config
// gives the same bytes.
func TestGenerator(t *testing.T) {
	for _, f := range []siftrgen.Format{siftrgen.Text25, siftrgen.Binary25, siftrgen.Stock130} {
		c := siftrgen.Config{Format: f, Records: 5000, Flows: 3, Seed: 7, Start: 1_796_040_000_123_456}
		var a, b bytes.Buffer
		if err := siftrgen.Write(&a, c); err != nil {
			t.Fatal(err)
		}
		if err := siftrgen.Write(&b, c); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("format %d: another log from the same Config (%v)", f, err)
		}
		s, report := summarise(a.Bytes())
		if err := s.Err(); err != nil || report.BadLines != 0 || totalRecords(report) != 5000 || len(report.Cycles[0].Flows) != 3 {
			t.Errorf("format %d: %v, %d bad, %d records", f, err, report.BadLines, totalRecords(report))
		}
		checkCycle(t, "", report.Cycles[0])
	}
}

func FuzzDecoder(f *testing.F) {
	for _, dir := range []string{"generated", "real"} {
		for _, name := range logNames(f, dir) {
			if log := readLog(f, name); len(log) > 0 {
				f.Add(log[:min(len(log), 2000)], uint64(1))
			}
		}
	}
	f.Add(badThings(f), uint64(2))
	f.Fuzz(func(t *testing.T, log []byte, seed uint64) {
		want := traced(log, whole)
		rng := rand.New(rand.NewPCG(seed, 0))
		if got := traced(log, func() int { return 1 + rng.IntN(100) }); got != want {
			t.Error(difference(got, want))
		}
		if got := tracedPlain(log, whole); got != want {
			t.Error("without vector instructions: " + difference(got, want))
		}
	})
}

// difference is the first line that two traces do not share.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
