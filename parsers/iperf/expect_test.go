package iperf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// records parses a file of testdata, in one piece.
func records(t *testing.T, name string) []Record {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(string(b))
}

func parse(pieces ...string) (got []Record) {
	p := NewParser(func(r Record) { got = append(got, r) })
	for _, s := range pieces {
		p.Write([]byte(s))
	}
	p.Close()
	return got
}

func only[T Record](recs []Record) (got []T) {
	for _, r := range recs {
		if v, ok := r.(T); ok {
			got = append(got, v)
		}
	}
	return got
}

func rowsOf(recs []Record, keep func(Row) bool) []Row {
	return slices.DeleteFunc(only[Row](recs), func(r Row) bool { return !keep(r) })
}

// An expectRow is a row in an .expect.json. A key that is not there is nil.
type expectRow struct {
	ID                       string
	Role, Side               string
	Start, End, Bytes        float64
	BPS                      float64 `json:"bps"`
	Retr, Cwnd, Writes, Errs *float64
	RTT                      *float64 `json:"rtt_us"`
	RTTVar                   *float64 `json:"rttvar_us"`
	NetPwr, Lost, Packets    *float64
	Jitter                   *float64  `json:"jitter_ms"`
	InP                      *float64  `json:"inp_bytes"`
	Burst                    []float64 `json:"burst_latency_ms"`
	Latency                  []float64 `json:"latency_ms"`
}

type expect struct {
	File      string
	Kind      string
	StreamIDs []string `json:"stream_ids"`
	Counts    *struct {
		Streams int `json:"stream_intervals"`
		Sums    int `json:"sum_intervals"`
		Omitted int `json:"omitted"`
		Summary int `json:"summary_rows"`
	}
	Tests  int
	First  *expectRow                       `json:"first_interval"`
	Last   *expectRow                       `json:"last_interval"`
	Cwnd   map[string]float64               `json:"last_cwnd_bytes"`
	RTT    map[string]float64               `json:"last_rtt_us"`
	Retr   *float64                         `json:"retr_total_from_intervals"`
	UDP    *struct{ Lost, Packets float64 } `json:"udp_intervals"`
	Totals []expectRow                      `json:"summary"`
	Report []expectRow                      `json:"server_report"`
	Errors []string
	End    map[string]struct {
		Bytes   float64
		BPS     float64 `json:"bits_per_second"`
		Retrans *float64
	}
}

func (e expectRow) check(t *testing.T, what string, r Row) {
	t.Helper()
	if r.ID != e.ID || r.Role != e.Role || r.Side != e.Side || r.Start != e.Start || r.End != e.End || !near(r.Bytes, e.Bytes) || !near(r.Bits, e.BPS) {
		t.Errorf("%s: %+v, want %+v", what, r, e)
	}
	for _, v := range []struct {
		name string
		got  Num
		want *float64
	}{
		{"retr", r.TCP.Retrans, e.Retr}, {"cwnd", r.TCP.Cwnd, e.Cwnd}, {"rtt", r.TCP.RTT, e.RTT}, {"rttvar", r.TCP.RTTVar, e.RTTVar},
		{"writes", r.App.Writes, e.Writes}, {"errs", r.App.WriteErrs, e.Errs}, {"lost", r.UDP.Lost, e.Lost}, {"packets", r.UDP.Datagrams, e.Packets},
		{"jitter", r.UDP.Jitter.scaled(1e-3), e.Jitter}, {"inp", r.App.InP, e.InP},
	} {
		if !nearPtr(v.got.ptr(), v.want) {
			t.Errorf("%s: %s is %v, want %s", what, v.name, v.got, show(v.want))
		}
	}
	if e.NetPwr != nil && r.App.NetPower != num(*e.NetPwr) {
		t.Errorf("%s: netpwr is %v, want %g", what, r.App.NetPower, *e.NetPwr)
	}
	for i, ms := range append(e.Burst, e.Latency...) {
		l := r.App.Latency
		if got := []Num{l.Avg, l.Min, l.Max, l.SD}[i]; !got.OK || !near(got.V, ms*1000) {
			t.Errorf("%s: latency %d is %v us, want %g ms", what, i, got, ms)
		}
	}
}

// TestExpect holds the facts of every .expect.json of text.
func TestExpect(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.expect.json")
	if len(cases) < 50 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		var e expect
		b, err := os.ReadFile(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &e); err != nil && !strings.Contains(string(b), `"kind": "json`) {
			t.Fatalf("%s: %v", c, err)
		}
		if e.Counts == nil || e.Kind != "text" {
			continue
		}
		t.Run(e.File, func(t *testing.T) { e.check(t, records(t, e.File)) })
	}
}

func (e expect) check(t *testing.T, recs []Record) {
	t.Helper()
	interval := rowsOf(recs, func(r Row) bool { return r.Scope == Interval })
	streams := rowsOf(recs, func(r Row) bool { return r.Scope == Interval && !r.IsSum() })
	totals := rowsOf(recs, func(r Row) bool { return r.Scope == Total })
	if e.Counts.Streams == 0 { // no -i: the parser cannot know yet that the only row is the total
		totals, streams, interval = append(totals, interval...), nil, nil
	}
	omitted := len(rowsOf(recs, func(r Row) bool { return r.Scope == Omitted }))
	sums := len(slices.DeleteFunc(slices.Clone(interval), func(r Row) bool { return !strings.HasPrefix(r.ID, "SUM") }))
	if got := []int{len(streams) + omitted, sums, omitted, len(totals)}; !slices.Equal(got, []int{e.Counts.Streams, e.Counts.Sums, e.Counts.Omitted, e.Counts.Summary}) {
		t.Errorf("stream rows, sums, omitted, totals are %v, want %+v", got, *e.Counts)
	}
	if e.First != nil {
		e.First.check(t, "first", streams[0])
		last := streams[len(streams)-1]
		if e.Last.ID == "FD1" {
			last = interval[len(interval)-1]
		}
		e.Last.check(t, "last", last)
	}
	for i, want := range e.Totals {
		if i < len(totals) {
			want.check(t, "total", totals[i])
		}
	}
	for i, want := range e.Report {
		want.check(t, "server report", rowsOf(recs, func(r Row) bool { return r.Scope == Foreign })[i])
	}
	cwnd, retr, lost, packets := map[string]float64{}, 0.0, 0.0, 0.0
	for _, r := range streams {
		if r.TCP.Cwnd.OK {
			cwnd[r.ID] = r.TCP.Cwnd.V
		}
		retr += r.TCP.Retrans.V
		lost += r.UDP.Lost.V
		packets += r.UDP.Datagrams.V
	}
	for id, want := range e.Cwnd {
		if !near(cwnd[id], want) {
			t.Errorf("last cwnd of %s is %g, want %g", id, cwnd[id], want)
		}
	}
	if e.Retr != nil && retr != *e.Retr {
		t.Errorf("%g retransmits, want %g", retr, *e.Retr)
	}
	if e.UDP != nil && (lost != e.UDP.Lost || packets != e.UDP.Packets) {
		t.Errorf("%g of %g datagrams lost, want %+v", lost, packets, *e.UDP)
	}
	var errors []string
	for _, m := range only[Message](recs) {
		if m.Error {
			errors = append(errors, strings.TrimPrefix(strings.Join(strings.Fields(m.Text), " "), "iperf3: "))
		}
	}
	for i, want := range e.Errors {
		if i >= len(errors) || errors[i] != strings.Join(strings.Fields(want), " ") {
			t.Errorf("errors %q, want %q", errors, e.Errors)
			break
		}
	}
	if n := len(only[Bad](recs)); n != 0 {
		t.Errorf("%d bad lines: %v", n, only[Bad](recs))
	}
}

// TestJSON holds the facts of the JSON cases: the numbers are exact there.
func TestJSON(t *testing.T) {
	for _, name := range []string{"i3-json-stream.ndjson", "i3-json-stream-P3-R.ndjson", "i3-tcp-json.json"} {
		t.Run(name, func(t *testing.T) {
			var e expect
			b, _ := os.ReadFile("testdata/" + strings.TrimSuffix(strings.TrimSuffix(name, ".ndjson"), ".json") + ".expect.json")
			_ = json.Unmarshal(b, &e) // mean_bps and others have another form here
			recs := records(t, name)
			cwnd, rtt := map[string]float64{}, map[string]float64{}
			for _, r := range rowsOf(recs, func(r Row) bool { return r.Scope == Interval && !r.IsSum() }) {
				if r.TCP.Cwnd.OK {
					cwnd[r.ID], rtt[r.ID] = r.TCP.Cwnd.V, r.TCP.RTT.V
				}
				if !r.Exact || r.Octets() != r.Bytes {
					t.Errorf("row %+v is not exact", r)
				}
			}
			for id, want := range e.Cwnd {
				if cwnd[id] != want || rtt[id] != e.RTT[id] {
					t.Errorf("cwnd and rtt of %s are %g and %g, want %g and %g", id, cwnd[id], rtt[id], want, e.RTT[id])
				}
			}
			totals := only[End](recs)[0].Totals
			if len(totals) != 2 || totals[0].Bytes != e.End["sum_sent"].Bytes || totals[1].Bytes != e.End["sum_received"].Bytes ||
				!near(totals[0].Bits, e.End["sum_sent"].BPS) {
				t.Errorf("totals %+v, want %+v", totals, e.End)
			}
			if len(only[Bad](recs)) != 0 {
				t.Error(only[Bad](recs))
			}
		})
	}
}

func TestJSONErrors(t *testing.T) {
	tests := []struct{ file, text, hint string }{
		{"i3-err-busy-json-stream.ndjson", "iperf3: error - the server is busy running a test. try again later", "second server"},
		{"i3-err-refused-json.json", "iperf3: error - unable to connect to server: Connection refused", "iperf3 -s"},
	}
	for _, tt := range tests {
		recs := records(t, tt.file)
		m := only[Message](recs)
		if len(m) != 1 || m[0].Text != tt.text || !strings.Contains(m[0].Hint, tt.hint) || !m[0].Error || len(only[Start](recs)) != 0 {
			t.Errorf("%s: %+v", tt.file, recs)
		}
	}
	if v := review(t, "i3-err-refused-json.json"); v.Version == nil || *v.Version != "3.12" {
		t.Errorf("version %s, want 3.12", show(v.Version))
	}
}

// TestTranscripts: terminal sessions of three runs, in both forms of the page.
func TestTranscripts(t *testing.T) {
	for _, aim := range []string{"aim0", "aim1", "aim2"} {
		var e expect
		readJSON(t, "testdata/d46768-iperf3-"+aim+".transcript.expect.json", &e)
		for _, form := range []string{".transcript.txt", ".transcript-collapsed.txt"} {
			recs := records(t, "d46768-iperf3-"+aim+form)
			totals := rowsOf(recs, func(r Row) bool { return r.Scope == Total })
			if s, n := len(only[Start](recs)), len(only[End](recs)); s != e.Tests || n != e.Tests || len(totals) != len(e.Totals) {
				t.Errorf("%s%s: %d starts, %d ends, %d totals; want %d and %d", aim, form, s, n, len(totals), e.Tests, len(e.Totals))
				continue
			}
			for i, want := range e.Totals {
				want.check(t, aim+form, totals[i])
			}
		}
	}
}

// TestNearCongestion: the figures of the testers' note.
func TestNearCongestion(t *testing.T) {
	tests := []struct {
		file            string
		netpwr, latency float64 // latency in ms
	}{
		{"iperf2-near-congestion-nc0-client", 8512, 0},
		{"iperf2-near-congestion-nc0.4-client", 34322, 0},
		{"iperf2-near-congestion-nc0-server", 3922, 30.005},
		{"iperf2-near-congestion-nc0.4-server", 32644, 3.576},
	}
	for _, tt := range tests {
		for _, form := range []string{".txt", ".collapsed.txt"} {
			totals := rowsOf(records(t, tt.file+form), func(r Row) bool { return r.Scope == Total })
			if len(totals) != 1 || totals[0].App.NetPower != num(tt.netpwr) || !near(totals[0].App.Latency.Avg.V, tt.latency*1000) {
				t.Errorf("%s%s: %+v", tt.file, form, totals)
			}
		}
	}
}
