package chart

import (
	"math"
	"testing"
	"time"
)

var (
	plain = []Unit{{Label: "x", Factor: 1}}
	share = []Unit{{Label: "%", Factor: 100, Most: 100}}
	bits  = []Unit{{Label: "bit/s", Factor: 8}, {Label: "kbit/s", Factor: 8e-3, From: 1}, {Label: "Mbit/s", Factor: 8e-6, From: 1}, {Label: "Gbit/s", Factor: 8e-9, From: 10}}
	t0    = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
)

func TestFreshScale(t *testing.T) {
	tests := []struct {
		name         string
		lo, hi       float64
		zero         bool
		units        []Unit
		wantLo, want float64
		tick         float64
		label        string
	}{
		{"from zero when asked", 900, 941, true, plain, 0, 1000, 200, "x"},
		{"from zero when low values are there", 20, 941, false, plain, 0, 1000, 200, "x"},
		{"fitted", 880, 941, false, plain, 860, 960, 20, "x"},
		{"noise is not blown up: a tenth of the value at least", 1448, 1448, false, plain, 1350, 1550, 50, "x"},
		{"nothing but zero", 0, 0, false, plain, 0, 1, 0.2, "x"},
		{"small", 0.129, 0.203, false, plain, 0.12, 0.22, 0.02, "x"},
		{"gigabit in Mbit/s", 0, 125e6, true, bits, 0, 1000, 200, "Mbit/s"},
		{"ten gigabit in Gbit/s", 0, 1.25e9, true, bits, 0, 10, 2, "Gbit/s"},
		{"idle in kbit/s", 0, 2000, true, bits, 0, 20, 5, "kbit/s"},
		{"a core that is busier than it can be", 0, 1.004, true, share, 0, 100, 20, "%"},
		{"a core that is always busy", 0.99, 1.004, false, share, 90, 100, 2, "%"},
		{"a whole tick is not rounded up", 0, 20, true, plain, 0, 20, 5, "x"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			s := Scale{}.Fit(c.lo, c.hi, c.zero, c.units, t0)
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
			if !near(s.Lo, c.wantLo) || !near(s.Hi, c.want) || !near(s.Tick, c.tick) || s.Unit.Label != c.label {
				t.Errorf("got %v..%v by %v %s, want %v..%v by %v %s", s.Lo, s.Hi, s.Tick, s.Unit.Label, c.wantLo, c.want, c.tick, c.label)
			}
		})
	}
}

// TestScaleMoves widens at once and narrows after two seconds, and not when a
// wide value came between.
func TestScaleMoves(t *testing.T) {
	at := func(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }
	s := Scale{}.Fit(0, 900, true, plain, at(0))
	steps := []struct {
		at, hi, want float64
	}{
		{0.25, 1500, 1500}, // up at once
		{1, 400, 1500},     // down not yet
		{2.75, 400, 1500},
		{2.9, 1400, 1500}, // it was needed
		{3, 400, 1500},
		{4.9, 400, 1500},
		{5, 400, 400},
	}
	for _, c := range steps {
		if s = s.Fit(0, c.hi, true, plain, at(c.at)); s.Hi != c.want {
			t.Errorf("at %v s with values to %v: top %v, want %v", c.at, c.hi, s.Hi, c.want)
		}
	}
	if z := s.Fit(300, 400, false, plain, at(6)); z.Lo == 0 {
		t.Error("a key press does not wait")
	}
}

// TestTicksAreRound tries many ranges: the tick is 1, 2 or 5 times a power of
// ten, the range is covered, and there are at most five steps.
func TestTicksAreRound(t *testing.T) {
	for lo := 0.0; lo < 2000; lo = lo*1.7 + 0.013 {
		for hi := lo + 0.001; hi < 1e6; hi *= 1.31 {
			s := Scale{}.Fit(lo, hi, false, plain, t0)
			m := s.Tick / math.Pow(10, math.Floor(math.Log10(s.Tick)+1e-9))
			if math.Abs(m-1) > 1e-6 && math.Abs(m-2) > 1e-6 && math.Abs(m-5) > 1e-6 {
				t.Fatalf("%v..%v: tick %v", lo, hi, s.Tick)
			}
			if n := (s.Hi - s.Lo) / s.Tick; n > maxTicks+1e-6 || s.Lo > lo+1e-9 || s.Hi < hi-1e-6 {
				t.Fatalf("%v..%v: %v..%v by %v", lo, hi, s.Lo, s.Hi, s.Tick)
			}
		}
	}
}
