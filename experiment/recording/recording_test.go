package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netwatch/sources"
)

var (
	start = time.Date(2024, 10, 24, 9, 3, 0, 0, time.UTC)
	tx    = &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}
	cwnd  = &sources.Series{Host: "r1", Source: "siftr2", Subject: "dd7fc950", Metric: sources.Cwnd}
)

func batches() []sources.Batch {
	at := func(i int) time.Time { return start.Add(time.Duration(i) * 100 * time.Millisecond) }
	return []sources.Batch{
		{At: at(0)},
		{At: at(1), Samples: []sources.Sample{sources.Amount(tx, at(1).Add(-3*time.Millisecond), 100*time.Millisecond, 11_742_500)}},
		{At: at(2), Shed: 4, Samples: []sources.Sample{
			sources.Amount(tx, at(2), 100*time.Millisecond, 1.5),
			{Series: cwnd, At: at(2), Span: 100 * time.Millisecond, N: 6612, Sum: 4_961_233_981, Min: 14480, Max: 1 << 31, Last: 750_592},
		}, Events: []sources.Event{
			{At: at(2).Add(-time.Millisecond), Span: 9 * time.Millisecond, Kind: sources.KnobTurned, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2"},
			{At: at(2), Kind: sources.FlowSeen, Host: "r1", Source: "siftr2", Subject: "dd7fc950",
				Flow: &sources.Flow{ID: "dd7fc950", Local: netip.MustParseAddrPort("10.1.1.2:54321"), Remote: netip.MustParseAddrPort("[fd00::3]:5201"), CC: "cubic", MSS: 1448}},
			{At: at(2), Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim", Values: []string{"0", "1", "2"}, Disruption: sources.LinkReset}},
		}},
	}
}

func record(t *testing.T) []byte { return recordAt(t, "") }

// recordAt records with a name for this host.
func recordAt(t *testing.T, here string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Header{Version: "test", Host: "s1", Here: here, OS: "freebsd", Start: start})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches() {
		if err := w.WriteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func readAll(r io.Reader) (*Reader, []sources.Batch, error) {
	rd, err := NewReader(r, "x.nwr")
	if err != nil {
		return nil, nil, err
	}
	var out []sources.Batch
	err = rd.Copy(func(b sources.Batch) error { out = append(out, b); return nil })
	return rd, out, err
}

func TestRoundTrip(t *testing.T) {
	rd, got, err := readAll(bytes.NewReader(record(t)))
	if err != nil {
		t.Fatal(err)
	}
	opts := cmp.Options{cmpopts.EquateApproxTime(0), cmpopts.EquateComparable(netip.AddrPort{}), cmpopts.EquateEmpty()}
	if d := cmp.Diff(batches(), got, opts); d != "" {
		t.Error(d)
	}
	if rd.Header.Host != "s1" || rd.Header.Schema != 1 || !rd.Header.Start.Equal(start) {
		t.Errorf("header %+v", rd.Header)
	}
	if got[1].Samples[0].Series != got[2].Samples[0].Series {
		t.Error("one series came back as two pointers")
	}
}

// Every line has its host where the header says what this one is called, and what comes
// back is as without: this host is "".
func TestEveryLineHasItsHost(t *testing.T) {
	all := recordAt(t, "s1")
	hosts := map[string]int{}
	for line := range bytes.Lines(all) {
		var l struct {
			Host   string
			Events []struct{ Host string } `json:"e"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		hosts[l.Host]++
		for _, e := range l.Events {
			hosts["event "+e.Host]++
		}
	}
	// the header, three Batches and tx here, cwnd on r1; two events here, one there
	if d := cmp.Diff(map[string]int{"s1": 5, "r1": 1, "event s1": 2, "event r1": 1}, hosts); d != "" {
		t.Errorf("%s\n%s", d, all)
	}
	_, got, err := readAll(bytes.NewReader(all))
	opts := cmp.Options{cmpopts.EquateApproxTime(0), cmpopts.EquateComparable(netip.AddrPort{}), cmpopts.EquateEmpty()}
	if d := cmp.Diff(batches(), got, opts); d != "" || err != nil {
		t.Error(d, err)
	}
}

// A recording that does not say what its lines call this host is an older one, or an
// agent's: there a host that is named is another one, whatever the header calls this one.
func TestLinesWithoutAHost(t *testing.T) {
	in := `{"netwatch":1,"host":"s1"}` + "\n" + `{"series":0,"source":"nic","subject":"em4","metric":"rx"}` + "\n" +
		`{"series":1,"host":"s1","source":"nic","subject":"em4","metric":"rx"}` + "\n" +
		`{"at":5,"s":[[0,0,0,1,1,1,1,1],[1,0,0,1,1,1,1,1]],"e":[{"at":0,"kind":"mark"},{"at":0,"kind":"mark","host":"s1"}]}` + "\n"
	rd, got, err := readAll(strings.NewReader(in))
	if err != nil || rd.NBad != 0 || len(got) != 1 {
		t.Fatalf("%v, %v, bad %v", got, err, rd.Bad)
	}
	b := got[0]
	hosts := []string{b.Samples[0].Series.Host, b.Samples[1].Series.Host, b.Events[0].Host, b.Events[1].Host}
	if d := cmp.Diff([]string{"", "s1", "", "s1"}, hosts); d != "" {
		t.Error(d)
	}
}

// A recording that was cut at any byte is good up to its last whole line.
func TestCutAnywhere(t *testing.T) {
	all := record(t)
	header := bytes.IndexByte(all, '\n') + 1
	for n := header; n < len(all); n++ {
		rd, got, err := readAll(bytes.NewReader(all[:n]))
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		whole := bytes.Count(all[:n], []byte("\n{\"at\":"))
		if tail := all[bytes.LastIndexByte(all[:n], '\n')+1 : n]; len(tail) > 0 && bytes.HasPrefix(tail, []byte(`{"at":`)) && len(got) == whole-1 {
			whole--
		}
		if len(got) != whole || rd.NBad > 1 {
			t.Fatalf("cut at %d: %d batches and %d bad lines, want %d batches", n, len(got), rd.NBad, whole)
		}
	}
}

func TestDamage(t *testing.T) {
	head := `{"netwatch":1,"host":"s1"}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "x.nwr:1: empty: no netwatch recording"},
		{"a siftr log", "enable_time_secs=1\tsiftrver=2.5\n", "x.nwr:1: no netwatch recording"},
		{"another schema", `{"netwatch":2}` + "\n", "x.nwr:1: recorded in schema 2, this netwatch reads schema 1"},
		{"garbage line", head + "garbage\n" + `{"at":5}` + "\n", "x.nwr:2: not JSON"},
		{"undefined series", head + `{"at":5,"s":[[9,0,0,1,1,1,1,1]]}` + "\n", "x.nwr:2: series 9 is not defined"},
		{"unknown metric", head + `{"series":0,"source":"nic","metric":"warp"}` + "\n", `x.nwr:2: unknown metric "warp"`},
		{"short sample", head + `{"at":5,"s":[[0,1]]}` + "\n", "x.nwr:2: a sample needs eight numbers"},
		{"null in a sample", head + `{"series":0,"source":"nic","metric":"rx"}` + "\n" + `{"at":5,"s":[[0,0,0,1,null,1,1,1]]}` + "\n", "x.nwr:3: a sample holds null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rd, _, err := readAll(strings.NewReader(c.in))
			if err == nil {
				if rd.NBad != 1 {
					t.Fatalf("%d bad lines, want 1", rd.NBad)
				}
				err = rd.Bad[0]
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %q, want %q", err, c.want)
			}
		})
	}
}

func TestUnknownKindsAreSkipped(t *testing.T) {
	rd, got, err := readAll(strings.NewReader(`{"netwatch":1}` + "\n" + `{"turn":{"knob":"aim"}}` + "\n" + `{"at":7,"new":[1]}` + "\n"))
	if err != nil || rd.NBad != 0 || len(got) != 1 || got[0].At.UnixMicro() != 7 {
		t.Errorf("got %v, %v, bad %v", got, err, rd.Bad)
	}
}

type slowFile struct {
	bytes.Buffer
	gate   chan struct{}
	closed bool
}

func (f *slowFile) Write(p []byte) (int, error) { <-f.gate; return f.Buffer.Write(p) }
func (f *slowFile) Close() error                { f.closed = true; return nil }

func TestRecorderNeverBlocks(t *testing.T) {
	f := &slowFile{gate: make(chan struct{}, 1)}
	f.gate <- struct{}{} // the header
	r, err := NewRecorder(f, Header{})
	if err != nil {
		t.Fatal(err)
	}
	big := sources.Batch{At: start}
	for range 2_000 {
		big.Samples = append(big.Samples, sources.Amount(tx, start, time.Second, 123456789))
	}
	var lost int
	for range waiting + 50 {
		if errors.Is(r.Record(big), ErrTooSlow) {
			lost++
		}
	}
	if lost == 0 {
		t.Error("a disk that takes nothing was not noticed")
	}
	close(f.gate)
	if err := r.Close(); err != nil || !f.closed {
		t.Errorf("close: %v, file closed %v", err, f.closed)
	}
	_, got, err := readAll(&f.Buffer)
	if err != nil || len(got) != waiting+50-lost {
		t.Errorf("%d batches were kept, want %d (%v)", len(got), waiting+50-lost, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"netwatch":1}` + "\n" + `{"series":0,"source":"nic","metric":"rx"}` + "\n" + `{"at":5,"s":[[0,0,1,1,1,1,1,1]],"e":[{"at":1,"kind":"mark"}]}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, got, err := readAll(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, b := range got {
			for _, s := range b.Samples {
				if s.Series == nil {
					t.Fatal("a sample without a series")
				}
			}
		}
	})
}
