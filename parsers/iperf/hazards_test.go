package iperf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netwatch/parsers/lines"
)

const iperf3Head = `Connecting to host r1, port 5201
[  5] local 10.1.1.2 port 41407 connected to 10.1.1.3 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
`

// row1 is the row all hazards are held against: 216 MBytes in 2 s.
const row1 = "[  5]   0.00-2.00   sec   216 MBytes   906 Mbits/sec    0    327 KBytes       "

func wantRow1(t *testing.T, recs []Record) {
	t.Helper()
	rows := only[Row](recs)
	if len(rows) != 1 || rows[0].Bytes != 216<<20 || rows[0].Bits != 906e6 || rows[0].TCP.Cwnd != num(327<<10) || rows[0].TCP.Retrans != num(0) {
		t.Errorf("rows %+v", rows)
	}
}

// TestDirtyLines: what terminals, stamps and mixed outputs do to a line.
func TestDirtyLines(t *testing.T) {
	tests := []struct{ name, line string }{
		{"clean", row1 + "\n"},
		{"CR LF of a terminal", row1 + "\r\n"},
		{"wiped by CR", "working...\r" + row1 + "\n"},
		{"ANSI", "\x1b[1;32m" + row1 + "\x1b[0m\n"},
		{"ANSI inside", strings.Replace(row1, "216", "\x1b[31m216\x1b[m", 1) + "\n"},
		{"BEL", "\a" + row1 + "\a\n"},
		{"OSC title", "\x1b]0;title\a" + row1 + "\n"},
		{"--timestamps", "Mon Nov 30 10:54:31 2026 " + row1 + "\n"},
		{"stamp in brackets", "[10:54:31] " + row1 + "\n"},
		{"-T title", "run one:  " + row1 + "\n"},
		{"collapsed blanks", strings.Join(strings.Fields(row1), " ") + "\n"},
		{"tabs", strings.ReplaceAll(row1, "   ", "\t") + "\n"},
		{"no newline at the end", row1},
		{"decimal commas", strings.ReplaceAll(row1, ".", ",") + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recs := parse(iperf3Head, tt.line)
			wantRow1(t, recs)
			if n := len(only[Bad](recs)); n != 0 {
				t.Errorf("bad lines %v", only[Bad](recs))
			}
		})
	}
}

func TestDecimalComma(t *testing.T) {
	rows := only[Row](parse(iperf3Head, "[  5]   0.00-1.00   sec  12,6 MBytes   105 Mbits/sec  434    44,7 KBytes\n"))
	if len(rows) != 1 || rows[0].Bytes != 12.6*(1<<20) || rows[0].TCP.Cwnd != num(44.7*1024) {
		t.Errorf("rows %+v", rows)
	}
}

// TestGluedError: stderr glued behind a row; both are kept.
func TestGluedError(t *testing.T) {
	recs := parse(iperf3Head, row1+"iperf3: error - control socket has closed unexpectedly\n")
	wantRow1(t, recs)
	m := only[Message](recs)
	if len(m) != 1 || m[0].Text != "iperf3: error - control socket has closed unexpectedly" || m[0].Hint == "" {
		t.Errorf("messages %+v", m)
	}
}

// TestStderrApart: a row in two pieces with an error between them on the other pipe.
func TestStderrApart(t *testing.T) {
	var recs []Record
	p := NewParser(func(r Record) { recs = append(recs, r) })
	p.Write([]byte(iperf3Head + row1[:20]))
	p.WriteErr([]byte("iperf3: error - unable to receive control message\n"))
	p.Write([]byte(row1[20:] + "\n"))
	p.Close()
	wantRow1(t, recs)
	if m := only[Message](recs); len(m) != 1 || !m[0].Error {
		t.Errorf("messages %+v", m)
	}
}

// TestCutLastLine: "22" may have been "226".
func TestCutLastLine(t *testing.T) {
	recs := parse(iperf3Head, "[  5]   5.00-6.00   sec  11.2 MBytes  94.4 Mbits/sec  22")
	if len(only[Row](recs)) != 0 || len(only[Bad](recs)) != 1 {
		t.Errorf("%+v", recs)
	}
}

// TestBadRows: a row that cannot be believed is named; the rows around it stay.
func TestBadRows(t *testing.T) {
	tests := []struct{ name, line, reason string }{
		{"no length", "[  5]   2.00-2.00   sec  0.00 Bytes  0.00 bits/sec    0    327 KBytes", "without length"},
		{"backwards", "[  5]   4.00-2.00   sec  1.00 MBytes  8.39 Mbits/sec    0    327 KBytes", "ends before"},
		{"nan", "[  5]   2.00-4.00   sec  -nan MBytes  nan Mbits/sec    0    327 KBytes", "no number"},
		{"inf", "[  5]   2.00-4.00   sec  1.00 MBytes  inf Mbits/sec", "no number"},
		{"negative", "[  5]   2.00-4.00   sec  -1.00 MBytes  8.39 Mbits/sec", "no number"},
		{"cut", "[  5]   2.00-4.00   sec  1.00 MB", "without transfer"},
		{"repeated", "[  5]   0.00-2.00   sec   216 MBytes   906 Mbits/sec    0    327 KBytes", "came again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recs := parse(iperf3Head, row1, "\n", tt.line, "\n[  5]   2.00-4.00   sec   213 MBytes   894 Mbits/sec    0    327 KBytes\n")
			bad := only[Bad](recs)
			if len(bad) != 1 || bad[0].Line != 5 || !strings.Contains(bad[0].Reason, tt.reason) {
				t.Errorf("bad lines %+v", bad)
			}
			if rows := only[Row](recs); len(rows) != 2 || rows[1].Bits != 894e6 {
				t.Errorf("rows %+v", rows)
			}
		})
	}
}

// TestZeroRow: nothing moved. That is a result.
func TestZeroRow(t *testing.T) {
	rows := only[Row](parse(iperf3Head, "[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1   1.41 KBytes\n"))
	if len(rows) != 1 || rows[0].Bits != 0 || rows[0].Octets() != 0 || rows[0].TCP.Retrans != num(1) {
		t.Errorf("rows %+v", rows)
	}
}

// TestUnits: bytes are 1024, bits 1000, and a rate with too few digits is made
// from the bytes.
func TestUnits(t *testing.T) {
	tests := []struct {
		text string
		bits float64
	}{
		{"12.6 MBytes   105 Mbits/sec", 105e6},
		{"12.4 MBytes  12654 KBytes/sec", 12654 * 1024 * 8},
		{"12.4 MBytes  12.4 MBytes/sec", 12.4 * 1048576 * 8},
		{"9.54 MBytes  0.08 Gbits/sec", 9.54 * 1048576 * 8},
		{"9.54 MBytes  80000 Kbits/sec", 80e6},
		{"1.10 GBytes  9.45 Gbits/sec", 9.45e9},
		{"128 KBytes   889 Kbits/sec", 889e3},
	}
	for _, tt := range tests {
		rows := only[Row](parse(iperf3Head, "[  5]   0.00-1.00   sec  "+tt.text+"\n"))
		if len(rows) != 1 || !near(rows[0].Bits, tt.bits) || rows[0].Octets() != rows[0].Bits/8 {
			t.Errorf("%s: %+v, want %g", tt.text, rows, tt.bits)
		}
	}
}

// TestLongTimes: no blank follows the time of a run of more than 100000 s.
func TestLongTimes(t *testing.T) {
	rows := only[Row](parse(iperf3Head, "[  5] 100000.00-100001.00sec  12.6 MBytes   105 Mbits/sec    0    327 KBytes\n"))
	if len(rows) != 1 || rows[0].Start != 100000 || rows[0].End != 100001 {
		t.Errorf("rows %+v", rows)
	}
}

// TestForeignRows: the other side's table is not drawn as ours.
func TestForeignRows(t *testing.T) {
	recs := parse(iperf3Head, row1, `
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   216 MBytes   906 Mbits/sec    0             sender
[  5]   0.00-2.01   sec   216 MBytes   903 Mbits/sec                  receiver

Server output:
-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
`)
	if n := len(only[End](recs)); n != 1 {
		t.Errorf("%d ends", n)
	}
	recs = parse(iperf3Head, row1, `
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   216 MBytes   906 Mbits/sec    0             sender

Server output:
Accepted connection from 10.1.1.2, port 41406
[  5] local 10.1.1.3 port 5201 connected to 10.1.1.2 port 41407
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec   106 MBytes   889 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-2.01   sec   216 MBytes   903 Mbits/sec                  receiver

iperf Done.
`)
	if s, n := len(only[Start](recs)), len(rowsOf(recs, func(r Row) bool { return r.Scope == Interval })); s != 1 || n != 1 {
		t.Errorf("%d runs and %d intervals, want one each: %+v", s, n, recs)
	}
	if e := only[End](recs); len(e) != 1 || len(e[0].Totals) != 1 {
		t.Errorf("ends %+v", e)
	}
}

// TestOutOfOrderLine looks like a row and is none.
func TestOutOfOrderLine(t *testing.T) {
	recs := parse(iperf3Head, row1, "\n[SUM]  0.0- 2.0 sec  31 datagrams received out-of-order\n")
	wantRow1(t, recs)
	if n := len(only[Bad](recs)); n != 0 {
		t.Errorf("bad lines %v", only[Bad](recs))
	}
}

// TestRestartedClock: rows of two runs with nothing between them.
func TestRestartedClock(t *testing.T) {
	recs := parse(iperf3Head, row1, "\n", strings.Replace(row1, "0.00-2.00", "2.00-4.00", 1), "\n", row1, "\n")
	if s, n := len(only[Start](recs)), len(only[Row](recs)); s != 2 || n != 3 {
		t.Errorf("%d runs and %d rows, want 2 and 3", s, n)
	}
}

func TestNotErrors(t *testing.T) {
	for _, line := range []string{
		"iperf3: interrupt - the client has terminated",
		"iperf3: interrupt - the client has terminated by signal Interrupt(2)",
		"iperf3: the client has terminated",
		"warning: this system does not support SO_MAX_PACING_RATE",
		"WARNING: TCP window size set to 16384 bytes.",
	} {
		m := only[Message](parse("[  5]   0.00-1.00   sec  12.6 MBytes   105 Mbits/sec\n", line+"\n"))
		if len(m) != 1 || m[0].Error || m[0].Text != line {
			t.Errorf("%q gives %+v", line, m)
		}
	}
}

// TestErrors: the text as the tool said it, and what to do.
func TestErrors(t *testing.T) {
	tests := []struct{ line, hint string }{
		{"iperf3: error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: Connection refused", "iperf3 -s"},
		{"iperf3: error - unable to connect to server: No route to host", "route"},
		{"iperf3: error - the server is busy running a test. try again later", "wait"},
		{"iperf3: error - control socket has closed unexpectedly", "other end"},
		{"iperf3: unrecognized option '--json-stream'", "version"},
		{"iperf3: parameter error - test duration too long (maximum = 86400 seconds)", "options"},
		{"tcp connect failed: Connection refused", "iperf -s"},
		{"connect failed: Connection refused", "iperf -s"},
		{"bind failed: Address already in use", "port"},
		{"[  3] WARNING: ack of last datagram failed.", "final figure"},
		{"iperf: unrecognized option '--trip-times'", "version"},
	}
	for _, tt := range tests {
		m := only[Message](parse(tt.line + "\x1b[0m\a\n"))
		if len(m) != 1 || !m[0].Error || m[0].Text != tt.line || !strings.Contains(m[0].Hint, tt.hint) {
			t.Errorf("%q gives %+v", tt.line, m)
		}
	}
}

// TestCommonWords: lines any program might print are iperf2's only when iperf2 speaks.
func TestCommonWords(t *testing.T) {
	for _, line := range []string{"error: something", "unable to see", "no-such-host: Unknown host"} {
		if recs := parse(line + "\n"); len(only[Message](recs)) != 0 {
			t.Errorf("%q is a message of nobody: %+v", line, recs)
		}
		var m []Message
		p := NewParser(func(r Record) { m = append(m, only[Message]([]Record{r})...) })
		p.Expect(Iperf2)
		p.WriteErr([]byte(line + "\n"))
		if len(m) != 1 || !m[0].Error || m[0].Text != line {
			t.Errorf("%q gives %+v", line, m)
		}
	}
}

// TestMixedTranscript: a session with pings and iperf2 runs in it. The pings are
// nothing to this parser, and the three runs have five intervals each.
func TestMixedTranscript(t *testing.T) {
	v := review(t, "siftr2-transcript.txt")
	if v.Tool != Iperf2 || v.Tests != 3 || v.Intervals != 15 || v.Errors != 0 || v.BadCount != 0 || len(v.Finals) != 3 {
		t.Errorf("%+v", v)
	}
	for i, file := range []string{"siftr2-iperf2-none.txt", "siftr2-iperf2-siftr.txt", "siftr2-iperf2-siftr2.txt"} {
		if alone := review(t, file); i < len(v.Finals) && v.Finals[i].BPS != alone.Finals[0].BPS {
			t.Errorf("run %d: %+v, want %+v", i, v.Finals[i], alone.Finals[0])
		}
	}
}

func TestJSONHazards(t *testing.T) {
	stream := func(fields string) string {
		return `{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"seconds":1,"bytes":125000000,"bits_per_second":1e9,` + fields + `"omitted":false,"sender":true}]}}` + "\n"
	}
	tests := []struct {
		name, text string
		rows, bad  int
	}{
		{"text before it", "warning: something\n" + stream(""), 1, 0},
		{"prefix on the line", "client:  " + stream(""), 1, 0},
		{"unknown keys", stream(`"new_in_4_0":{"a":[1,2]},`), 1, 0},
		{"unknown event", `{"event":"weather","data":{"rain":true}}` + "\n" + stream(""), 1, 0},
		{"bare nan", stream(`"jitter_ms":-nan,"rttvar":nan,`), 1, 0},
		{"torn", stream("")[:100] + "\n" + stream(""), 1, 1},
		{"no bytes", strings.Replace(stream(""), `"bytes":125000000,`, "", 1), 0, 1},
		{"no length", strings.Replace(stream(""), `"end":1,`, `"end":0,`, 1), 0, 1},
		{"50 kB and more", stream(`"pad":"` + strings.Repeat("x", 200000) + `",`), 1, 0},
		{"absent values", stream(`"retransmits":-1,"snd_cwnd":0,"rtt":-1,"rttvar":0,`), 1, 0},
		{"cut document", "{\n\"start\": {\n", 0, 1},
		{"cut document, then another run", "{\n\"start\": {\n" + stream(""), 1, 1},
		{"document of another program", "{\n\"foo\": 1\n}\n", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recs := parse(tt.text)
			rows := only[Row](recs)
			if len(rows) != tt.rows || len(only[Bad](recs)) != tt.bad {
				t.Fatalf("%d rows, bad %+v", len(rows), only[Bad](recs))
			}
			for _, r := range rows {
				if r.Bits != 1e9 || r.UDP.Jitter.OK || r.TCP != (TCP{}) {
					t.Errorf("row %+v", r)
				}
			}
		})
	}
}

// TestFullOutput: --json-stream-full-output repeats everything as a document.
func TestFullOutput(t *testing.T) {
	text := `{"event":"start","data":{"cookie":"abc","test_start":{"protocol":"TCP"}}}
{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"bytes":1000,"sender":true}]}}
{"event":"end","data":{"sum_sent":{"start":0,"end":1,"bytes":1000}}}
{
	"start": {"cookie": "abc", "test_start": {"protocol": "TCP"}},
	"intervals": [{"streams": [{"socket": 5, "start": 0, "end": 1, "bytes": 1000, "sender": true}]}],
	"end": {"sum_sent": {"start": 0, "end": 1, "bytes": 1000}}
}
`
	recs := parse(text)
	if s, r, e := len(only[Start](recs)), len(rowsOf(recs, func(r Row) bool { return r.Scope == Interval })), len(only[End](recs)); s != 1 || r != 1 || e != 1 {
		t.Errorf("%d starts, %d rows, %d ends; want one each", s, r, e)
	}
}

// TestBidirJSON: old versions write "sum" twice; the direction is in the streams.
func TestBidirJSON(t *testing.T) {
	recs := parse(`{"event":"start","data":{"version":"iperf 3.7","connecting_to":{"host":"r1","port":5201},"test_start":{"protocol":"TCP","bidir":1}}}
{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"bytes":100,"sender":true},{"socket":7,"start":0,"end":1,"bytes":200,"sender":true},{"socket":9,"start":0,"end":1,"bytes":30,"sender":false},{"socket":11,"start":0,"end":1,"bytes":40,"sender":false}],"sum":{"bytes":300,"sender":true},"sum":{"bytes":70,"sender":false}}}
`)
	got := map[string]float64{}
	for _, r := range only[Row](recs) {
		got[r.ID+r.Role+fmt.Sprint(r.Dir)] = r.Bytes
	}
	want := map[string]float64{"5TX-C1": 100, "7TX-C1": 200, "9RX-C2": 30, "11RX-C2": 40, "SUMTX-C1": 300, "SUMRX-C2": 70}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestCuts: wherever a chunk ends, the records are the same.
func TestCuts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*")
	for _, name := range files {
		if strings.HasSuffix(name, ".expect.json") || strings.HasSuffix(name, ".review.json") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := parse(string(b))
		step := 1
		if testing.Short() || len(b) > 1500 {
			step = 37
		}
		for cut := 0; cut <= len(b); cut += step {
			if got := parse(string(b[:cut]), string(b[cut:])); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s cut at %d: %s", name, cut, cmp.Diff(want, got))
			}
		}
		if got := parse(strings.Split(string(b), "")...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s byte by byte differs", name)
		}
	}
}

// TestNoControlCharacters: nothing a terminal would act on gets through.
func TestNoControlCharacters(t *testing.T) {
	evil := "\x1b]0;pwned\a\x1b[2J\x9b31m\u202e\x00"
	recs := parse("iperf3: error - "+evil+"bad\n", evil+"line\n", "Connecting to host "+evil+"r1, port 5201\n",
		`{"event":"error","data":"\u001b[2Jboo\u0007"}`+"\n", `{"event":"start","data":{"version":"iperf 3.\u001b[2J","connecting_to":{"host":"\u001b[2J"}}}`+"\n")
	text := fmt.Sprintf("%+v", recs)
	if strings.ContainsFunc(text, lines.IsControl) || strings.Contains(text, "[2J") {
		t.Errorf("%q", text)
	}
}

// TestHugeLines: no line, however made, takes time that grows with the square of its
// length. A test that hangs here fails by go test's own limit.
func TestHugeLines(t *testing.T) {
	for _, unit := range []string{"[", "[ ", "[5]", "/ ", "/", " ", "\x1b[", "\x1b]", "{", "\r", ",", "[  5] 0.00-1.00 sec "} {
		long := strings.Repeat(unit, (1<<20)/len(unit))
		for _, text := range []string{long, "[  5]   0.00-1.00   sec  1.00 MBytes  8.39 Mbits/sec " + long, "[" + long + "]", "/" + long} {
			parse(text + "\n")
		}
	}
	if bad := only[Bad](parse(strings.Repeat("x", maxLine+1)+"\n", row1+"\n")); len(bad) != 1 || bad[0].Line != 1 {
		t.Errorf("bad lines %+v", bad)
	}
}

func FuzzParser(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil && len(b) < 4000 && !strings.Contains(name, ".expect.") && !strings.Contains(name, ".review.") {
			f.Add(b, len(b)/2)
		}
	}
	f.Add([]byte("20261130105642,10.77.1.1,49814,10.77.1.2,5001,2,0.0-1.0,6029372,48234976\n"), 5)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		v := NewReview("x")
		var whole []Record
		p := NewParser(func(r Record) { whole = append(whole, r); v.Add(r) })
		p.Write(b)
		p.Close()
		v.Done()
		cut = max(0, min(cut, len(b)))
		if got := parse(string(b[:cut]), string(b[cut:])); !reflect.DeepEqual(got, whole) {
			t.Fatalf("cut at %d: %s", cut, cmp.Diff(whole, got))
		}
		for _, rec := range whole {
			if r, ok := rec.(Row); ok && (r.End <= r.Start || r.Bits < 0 || r.Bytes < 0 || r.Octets() != r.Octets()) {
				t.Fatalf("row %+v", r)
			}
			if strings.ContainsFunc(fmt.Sprintf("%+v", rec), lines.IsControl) {
				t.Fatalf("control characters in %+q", fmt.Sprintf("%+v", rec))
			}
		}
	})
}

// BenchmarkText is 128 streams of iperf3 text; the live rate of -P 128 -i 0.1 is
// 100 kB/s.
func BenchmarkText(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(iperf3Head)
	for i := range 1280 {
		fmt.Fprintf(&text, "[%3d]   %.2f-%.2f   sec  1.31 MBytes   109 Mbits/sec    1    447 KBytes       \n", 5+2*(i%128), float64(i/128)/10, float64(i/128+1)/10)
	}
	bench(b, text.Bytes())
}

// BenchmarkJSONStream is one interval of 128 streams, 50 kB.
func BenchmarkJSONStream(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`{"event":"interval","data":{"streams":[`)
	for i := range 128 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"socket":%d,"start":4.500723,"end":5.003136,"seconds":0.502412974834442,"bytes":6291456,"bits_per_second":100179833.16729739,"retransmits":76,"snd_cwnd":344624,"snd_wnd":6742016,"rtt":20002,"rttvar":348,"pmtu":1500,"reorder":0,"omitted":false,"sender":true}`, 5+2*i)
	}
	text.WriteString("]}}\n")
	bench(b, text.Bytes())
}

func bench(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		p := NewParser(func(r Record) {
			if _, ok := r.(Row); ok {
				rows++
			}
		})
		p.Write(text)
		p.Close()
		if rows < 128 {
			b.Fatalf("%d rows", rows)
		}
	}
}
