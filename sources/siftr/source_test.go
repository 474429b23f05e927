package siftr_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/siftr"
)

// A sink keeps what a Source says.
type sink struct {
	samples []sources.Sample
	events  []sources.Event
}

func (s *sink) Sample(v sources.Sample) { s.samples = append(s.samples, v) }
func (s *sink) Event(e sources.Event)   { s.events = append(s.events, e) }

// texts are the Texts of the events of a kind.
func (s *sink) texts(kind sources.EventKind) (out []string) {
	for _, e := range s.events {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

// total adds up the samples of a metric and subject.
func (s *sink) total(subject string, m sources.Metric) (t sources.Sample) {
	t.Min = math.Inf(1)
	for _, v := range s.samples {
		if v.Series.Metric == m && v.Series.Subject == subject {
			t.Series = v.Series
			t.Sum += v.Sum
			t.N += v.N
			t.Span += v.Span
			t.Min, t.Max, t.Last, t.At = min(t.Min, v.Min), max(t.Max, v.Max), v.Last, v.At
		}
	}
	return t
}

func readLog(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A truth is what the generator of a log wrote beside it.
type truth struct {
	Cycles []struct {
		DisableSecs  int64 `json:"disable_time_secs"`
		DisableUsecs int64 `json:"disable_time_usecs"`
		Flows        []struct {
			ID         string   `json:"flowid"`
			Laddr      string   `json:"laddr"`
			Lport      int      `json:"lport"`
			Faddr      string   `json:"faddr"`
			Fport      int      `json:"fport"`
			MSS        int      `json:"mss"`
			Out        int64    `json:"records_out"`
			In         int64    `json:"records_in"`
			DataOut    *int64   `json:"out_data_pkt_cnt"`
			BytesOut   *float64 `json:"out_data_bytes"`
			Bytes      *float64 `json:"data_bytes"`
			SRTT       float64  `json:"avg_srtt_us"`
			MaxSRTT    float64  `json:"max_srtt_us"`
			CwndSum    float64  `json:"cwnd_sum"`
			MinCwnd    float64  `json:"min_cwnd"`
			MaxCwnd    float64  `json:"max_cwnd"`
			LastCwnd   float64  `json:"last_cwnd"`
			Inflight   float64  `json:"avg_inflight"`
			InRecovery float64  `json:"records_in_recovery"`
			FirstTime  float64  `json:"first_time_s"`
		}
	}
}

func readTruth(t *testing.T, name string) (v truth) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSamplesAreWholeRunSums reads whole logs through a pipe: what the samples add
// up to is what the generator put into the log.
func TestSamplesAreWholeRunSums(t *testing.T) {
	for _, name := range []string{"siftr2-2.5-text-5flows-loss-rttstep", "siftr2-2.5-binary-2flows", "stock-1.3.0-ipv4-3flows-loss"} {
		t.Run(name, func(t *testing.T) {
			s := new(sink)
			src := siftr.FromReader(name, bytes.NewReader(readLog(t, name)))
			if err := src.Run(t.Context(), s); !errors.Is(err, io.EOF) {
				t.Fatalf("Run: %v, want io.EOF", err)
			}
			stock := strings.HasPrefix(name, "stock")
			if want := map[bool]string{true: "siftr", false: "siftr2"}[stock]; src.Name() != want {
				t.Errorf("Name() = %q, want %q", src.Name(), want)
			}
			for _, f := range readTruth(t, name).Cycles[0].Flows {
				id := f.ID
				if stock {
					id = fmt.Sprintf("%s:%d>%s:%d", f.Laddr, f.Lport, f.Faddr, f.Fport)
				}
				n := f.Out + f.In
				want := map[sources.Metric]float64{
					sources.Records: float64(n), sources.Cwnd: f.CwndSum, sources.SRTT: f.SRTT * float64(n),
					sources.Inflight: f.Inflight * float64(n), sources.Recovery: f.InRecovery,
				}
				if f.Bytes != nil {
					want[sources.Goodput], want[sources.RxGood] = *f.BytesOut, *f.Bytes-*f.BytesOut
					want[sources.Segment] = *f.BytesOut
				}
				for m, sum := range want {
					if got := s.total(id, m).Sum; math.Abs(got-sum) > 1e-6*max(1, sum) {
						t.Errorf("%s: sum of %s = %v, want %v", id, m.Name, got, sum)
					}
				}
				if c := s.total(id, sources.Cwnd); c.N != n || c.Min != f.MinCwnd || c.Max != f.MaxCwnd || c.Last != f.LastCwnd {
					t.Errorf("%s: cwnd n %d min %v max %v last %v, want %d %v %v %v", id, c.N, c.Min, c.Max, c.Last, n, f.MinCwnd, f.MaxCwnd, f.LastCwnd)
				}
				if f.Bytes == nil && s.total(id, sources.Goodput).Series != nil {
					t.Errorf("%s: goodput from a log without payload", id)
				}
			}
		})
	}
}

// TestBinsAreWholeTenths: every sample covers a whole number of tenths, those of a
// series do not overlap, and amounts leave no hole.
func TestBinsAreWholeTenths(t *testing.T) {
	s := new(sink)
	siftr.FromReader("log", bytes.NewReader(readLog(t, "siftr2-2.5-text-5flows-loss-rttstep"))).Run(t.Context(), s)
	last := make(map[*sources.Series]time.Time)
	for _, v := range s.samples {
		if v.Span <= 0 || v.Span%(100*time.Millisecond) != 0 || v.At.UnixMicro()%100_000 != 0 {
			t.Fatalf("%+v: not a whole bin", v)
		}
		start := v.At.Add(-v.Span)
		if end, ok := last[v.Series]; ok && (start.Before(end) || v.Series.Metric.Agg == sources.PerTime && start.After(end)) {
			t.Errorf("%s %s: sample from %v after one to %v", v.Series.Subject, v.Series.Metric.Name, start, end)
		}
		last[v.Series] = v.At
	}
}

func TestEventsOfACycle(t *testing.T) {
	name := "siftr2-2.5-text-5flows-loss-rttstep"
	s := new(sink)
	siftr.FromReader("run.log", bytes.NewReader(readLog(t, name))).Run(t.Context(), s)
	cycle := readTruth(t, name).Cycles[0]
	if got := s.texts(sources.SourceUp); len(got) != 1 || got[0] != "run.log: siftr2 2.5" {
		t.Errorf("SourceUp: %q", got)
	}
	flows := make(map[string]*sources.Flow)
	ended := make(map[string]time.Time)
	for _, e := range s.events {
		switch e.Kind {
		case sources.FlowSeen:
			flows[e.Subject] = e.Flow
		case sources.FlowEnded:
			ended[e.Subject] = e.At
		}
		if e.Source != "siftr2" {
			t.Errorf("event from %q", e.Source)
		}
	}
	disabled := time.UnixMicro(cycle.DisableSecs*1e6 + cycle.DisableUsecs)
	for _, want := range cycle.Flows {
		f := flows[want.ID]
		if f == nil {
			t.Errorf("flow %s not seen", want.ID)
			continue
		}
		if f.Local.String() != fmt.Sprintf("%s:%d", want.Laddr, want.Lport) || f.MSS != want.MSS {
			t.Errorf("flow %+v, want %+v", f, want)
		}
		if !ended[want.ID].Equal(disabled) {
			t.Errorf("flow %s ended at %v, want %v", want.ID, ended[want.ID], disabled)
		}
	}
	if got := s.texts(sources.SourceNote); len(got) != 1 || got[0] != "run.log: ended, 1300 records, 5 flows" {
		t.Errorf("notes: %q", got)
	}
}

// TestSilentFlowsGiveWay: 64 connections of an earlier run do not keep those of the
// next run out.
func TestSilentFlowsGiveWay(t *testing.T) {
	var b strings.Builder
	b.WriteString(header(0))
	for i := range 64 {
		b.WriteString(strings.Repeat(strings.Replace(record("o", 10), "dd7fc950", fmt.Sprintf("%08x", i+1), 1), 5))
	}
	b.WriteString(strings.Repeat(record("o", 20_000), 3))
	s := new(sink)
	siftr.FromReader("log", strings.NewReader(b.String())).Run(t.Context(), s)
	if got := s.total("dd7fc950", sources.Records).Sum; got != 3 {
		t.Errorf("%v records of the new connection, want 3", got)
	}
}
