package cpu

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// script is a kernel that answers one table after the other and then fails.
type script struct{ answers [][]coreTime }

var errEnd = errors.New("end of script")

func (s *script) read(dst []coreTime) ([]coreTime, error) {
	if len(s.answers) == 0 {
		return dst, errEnd
	}
	dst = append(dst, s.answers[0]...)
	s.answers = s.answers[1:]
	return dst, nil
}

func (s *script) close() error { return nil }

type log struct {
	mu      sync.Mutex
	samples []sources.Sample
}

func (l *log) Sample(s sources.Sample) { l.mu.Lock(); l.samples = append(l.samples, s); l.mu.Unlock() }
func (l *log) Event(sources.Event)     {}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers [][]coreTime
		want    map[string]float64 // share of the last second
	}{
		{"half and idle", [][]coreTime{{{0, 100, 1000}, {1, 5, 1000}}, {{0, 150, 1100}, {1, 5, 1100}}},
			map[string]float64{"cpu0": 0.5, "cpu1": 0, "all": 0.25}},
		// A virtual machine got 50 of 100 ticks: the share is of the time there was.
		{"fewer ticks than time", [][]coreTime{{{0, 0, 0}}, {{0, 40, 50}}}, map[string]float64{"cpu0": 0.8, "all": 0.8}},
		{"a core went back", [][]coreTime{{{0, 100, 1000}, {1, 0, 0}}, {{0, 50, 900}, {1, 100, 100}}},
			map[string]float64{"cpu1": 1, "all": 1}},
		{"a core arrives", [][]coreTime{{{0, 0, 0}}, {{0, 10, 100}, {7, 10, 100}}}, map[string]float64{"cpu0": 0.1, "all": 0.1}},
		{"no ticks", [][]coreTime{{{0, 1, 1}}, {{0, 1, 1}}}, map[string]float64{}},
		{"more busy than total", [][]coreTime{{{0, 0, 0}}, {{0, 20, 10}}}, map[string]float64{}},
		{"the first reading is no rate", [][]coreTime{{{0, 50, 100}}}, map[string]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			synctest.Test(t, func(t *testing.T) {
				s := &Source{every: pollEvery, open: func() (kernel, error) { return &script{c.answers}, nil }}
				if err := s.Run(t.Context(), l); !errors.Is(err, errEnd) {
					t.Error(err)
				}
			})
			got := map[string]float64{}
			for _, s := range l.samples {
				mean, ok := s.Mean()
				if !ok || s.Span != time.Second || s.Series.Metric != sources.CPUBusy || s.Series.Source != "cpu" {
					t.Errorf("%+v", s)
				}
				got[s.Series.Subject] = mean
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for subject, want := range c.want {
				if math.Abs(got[subject]-want) > 1e-9 {
					t.Errorf("%s: %v, want %v", subject, got[subject], want)
				}
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	for every, want := range map[time.Duration]int{100 * time.Millisecond: 3, time.Second: 3, 3 * time.Second: 1} {
		t.Run(every.String(), func(t *testing.T) { runFor(t, every, want) })
	}
}

func runFor(t *testing.T, every time.Duration, want int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer stop()
		answers := make([][]coreTime, 10)
		for i := range answers {
			answers[i] = []coreTime{{0, uint64(i) * 10, uint64(i) * 100}}
		}
		l := &log{}
		src := New(every)
		src.open = func() (kernel, error) { return &script{answers}, nil }
		if err := src.Run(ctx, l); err != nil {
			t.Error(err)
		}
		if len(l.samples) != want*2 { // cpu0 and all
			t.Errorf("%d samples", len(l.samples))
		}
	})
}

// The kernel of this machine answers, and time goes on.
func TestThisKernel(t *testing.T) {
	k, err := openKernel()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	first, err := k.read(nil)
	if err != nil || len(first) == 0 {
		t.Fatal(first, err)
	}
	again, err := k.read(nil)
	if err != nil || len(again) != len(first) || again[0].total < first[0].total || first[0].total == 0 {
		t.Errorf("%v then %v, %v", first, again, err)
	}
}

func BenchmarkRead(b *testing.B) {
	k, err := openKernel()
	if err != nil {
		b.Skip(err)
	}
	defer k.close()
	var times []coreTime
	b.ReportAllocs()
	for b.Loop() {
		if times, err = k.read(times[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
