package iperf

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// review reads a file of testdata the way `netwatch review` does.
func review(t *testing.T, name string) *Review {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	v := NewReview(name)
	p := NewParser(v.Add)
	p.Write(b)
	p.Close()
	v.Done()
	return v
}

// want is the contract of a .review.json.
type want struct {
	File        string             `json:"file"`
	Tool        Tool               `json:"tool"`
	Version     *string            `json:"version"`
	Tests       int                `json:"tests"`
	Intervals   int                `json:"intervals"`
	MeanBPS     map[string]float64 `json:"mean_bps"`
	Last        *ReviewRow         `json:"last"`
	Retransmits *int64             `json:"retransmits"`
	Errors      int                `json:"errors"`
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// near allows what three printed digits allow.
func near(got, want float64) bool { return math.Abs(got-want) <= 0.005*math.Abs(want) }

func nearPtr(got, want *float64) bool {
	if got == nil || want == nil {
		return got == want
	}
	return near(*got, *want)
}

func TestReviewContract(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.review.json")
	if len(cases) < 40 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		var w want
		readJSON(t, c, &w)
		names := []string{w.File}
		if collapsed := strings.TrimSuffix(w.File, ".txt") + ".collapsed.txt"; exists(collapsed) {
			names = append(names, collapsed)
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) { checkReview(t, review(t, name), w) })
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join("testdata", name))
	return err == nil
}

func checkReview(t *testing.T, v *Review, w want) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got want
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"file", "tool", "version", "tests", "intervals", "mean_bps", "last", "retransmits", "errors"} {
		if !strings.Contains(string(b), `"`+key+`":`) {
			t.Errorf("no key %q in %s", key, b)
		}
	}
	if got.Tool != w.Tool || got.Tests != w.Tests || got.Intervals != w.Intervals || got.Errors != w.Errors {
		t.Errorf("got %s, %d tests, %d intervals, %d errors; want %s, %d, %d, %d",
			got.Tool, got.Tests, got.Intervals, got.Errors, w.Tool, w.Tests, w.Intervals, w.Errors)
	}
	checkVersion(t, got, w.Version)
	gotKeys, wantKeys := slices.Sorted(maps.Keys(got.MeanBPS)), slices.Sorted(maps.Keys(w.MeanBPS))
	if !slices.Equal(gotKeys, wantKeys) {
		t.Errorf("means of %q, want %q", gotKeys, wantKeys)
	}
	for k, v := range w.MeanBPS {
		if !near(got.MeanBPS[k], v) {
			t.Errorf("mean of %s is %g, want %g", k, got.MeanBPS[k], v)
		}
	}
	if (got.Retransmits == nil) != (w.Retransmits == nil) || w.Retransmits != nil && *got.Retransmits != *w.Retransmits {
		t.Errorf("retransmits %s, want %s", show(got.Retransmits), show(w.Retransmits))
	}
	if (got.Last == nil) != (w.Last == nil) {
		t.Fatalf("last row %+v, want %+v", got.Last, w.Last)
	}
	if g, l := got.Last, w.Last; l != nil && (g.ID != l.ID || g.Start != l.Start || g.End != l.End || !near(g.Bytes, l.Bytes) ||
		!near(g.BPS, l.BPS) || !nearPtr(g.Retr, l.Retr) || !nearPtr(g.Cwnd, l.Cwnd) || !nearPtr(g.RTT, l.RTT)) {
		t.Errorf("last row %+v, want %+v", *g, *l)
	}
	if v.BadCount != 0 {
		t.Errorf("bad lines: %v", v.BadLines)
	}
}

// checkVersion: the cases name the version that was run; most text does not tell
// it, and then the review must not invent it.
func checkVersion(t *testing.T, got want, ran *string) {
	t.Helper()
	if got.Version == nil {
		b, _ := os.ReadFile(filepath.Join("testdata", got.File))
		if ran != nil && strings.Contains(string(b), "iperf "+*ran) {
			t.Errorf("the input tells version %s, the review does not", *ran)
		}
		return
	}
	if ran == nil || *got.Version != *ran {
		t.Errorf("version %s, want %s", *got.Version, show(ran))
	}
}

func show[T any](p *T) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}
