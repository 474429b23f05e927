package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment"
	"netwatch/sources"
)

// Records of before the start are drawn where they belong, in no line of the present.
func TestLinesWithoutALogsPast(t *testing.T) {
	var out bytes.Buffer
	l := NewCSV(&out, time.Second, "")
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
	log := func(at time.Time, v float64) sources.Sample {
		return sources.Reading(&sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Segment}, at, 100*time.Millisecond, v)
	}
	for i, samples := range [][]sources.Sample{nil, {log(t0.Add(-time.Hour), 7613), log(t0, 7613)}, {log(t0.Add(-time.Second), 9000), log(t0.Add(1900*time.Millisecond), 1448)}} {
		s.Apply(sources.Batch{At: t0.Add(time.Duration(i) * time.Second), Samples: samples})
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	segment := slices.Index(rows[0], "segment bytes")
	if rows[1][segment] != "-" || rows[2][segment] != "1448" {
		t.Errorf("segment %q, then %q; want -, then 1448", rows[1][segment], rows[2][segment])
	}
}

// A line whose time holds a part of a run is of that run, at its beginning and at its end.
func TestLinesNameTheRunOfTheirTime(t *testing.T) {
	var out bytes.Buffer
	l := NewCSV(&out, time.Second, "")
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
	events := map[int]sources.EventKind{15: sources.RunStarted, 32: sources.RunEnded, 51: sources.RunStarted, 58: sources.RunEnded}
	for i := range 81 { // tenths of a second
		b := sources.Batch{At: t0.Add(time.Duration(i) * 100 * time.Millisecond)}
		if kind := events[i]; kind != "" {
			b.Events = []sources.Event{{At: b.At, Kind: kind, Source: "iperf3", Subject: "iperf3 #1"}}
		}
		s.Apply(b)
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows[1:] {
		if r[len(r)-1] == "" {
			got = append(got, r[2])
		}
	}
	want := []string{"idle", "run 1", "run 1", "run 1", "idle", "run 2", "idle", "idle"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Sixteen readings of run 1 and none of run 2, which had the same setting for a second:
// one run was measured, though the ping was in both.
func TestRunsWithoutAReadingDoNotCount(t *testing.T) {
	p := &script{experiment.New(experiment.Options{Start: t0, Interface: "em4"}), t0, func(*experiment.Session) {}}
	run := func(kind sources.EventKind, subject string) {
		p.apply(sources.Batch{Events: []sources.Event{{Kind: kind, Source: "iperf3", Subject: subject}}})
	}
	turn := func(from, to string) {
		p.apply(sources.Batch{Events: []sources.Event{{Kind: sources.KnobTurned, Subject: "aim", Old: from, Asked: to, New: to}}})
	}
	seconds := func(n int, samples ...*sources.Series) {
		for range n {
			p.at = p.at.Add(time.Second)
			var b sources.Batch
			for _, sr := range samples {
				b.Samples = append(b.Samples, sources.Sample{Series: sr, At: p.at, Span: time.Second, N: 1, Sum: 1e8, Min: 1e8, Max: 1e8, Last: 1e8})
			}
			p.apply(b)
		}
	}
	p.apply(sources.Batch{Events: []sources.Event{{Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}}}})
	run(sources.RunStarted, "iperf3 #1")
	seconds(18, goodput, ping)
	run(sources.RunEnded, "iperf3 #1")
	seconds(4)
	run(sources.RunStarted, "iperf3 #2")
	seconds(1, goodput, ping)
	turn("1", "2")
	seconds(8, goodput, ping)
	turn("2", "1")
	seconds(4, ping)
	p.s.Finish()
	var out bytes.Buffer
	if err := Markdown(&out, p.s, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| aim=1 | run | 2 | 18 | 800.0 | 16 (runs: 1) | - |", "| 0 | 18 | - |\n", "| aim=2 | run | 1 | 6 | 800.0 | 6 | 0.0 % |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{0.027: "+2.7 %", -0.2: "-20.0 %", -0.0004: "0.0 %", 0.0004: "0.0 %", 0: "0.0 %"} {
		if got := percent(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
