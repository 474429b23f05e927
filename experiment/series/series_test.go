package series

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netwatch/sources"
)

var (
	t0   = time.Date(2024, 10, 24, 9, 0, 0, 0, time.UTC)
	rate = &sources.Series{Metric: sources.TxOctets}
	srtt = &sources.Series{Metric: sources.SRTT}
)

const ms = time.Millisecond

func TestAmountIsSharedByOverlap(t *testing.T) {
	r := New(sources.PerTime)
	r.Add(sources.Amount(rate, t0.Add(250*ms), 200*ms, 1000)) // (50, 250]
	var got [4]Bin
	r.Window(got[:], t0, 100*ms)
	for i, want := range []struct{ sum, span float64 }{{250, 0.05}, {500, 0.1}, {250, 0.05}, {0, 0}} {
		if math.Abs(got[i].Sum-want.sum) > 1e-9 || math.Abs(float64(got[i].Span)-want.span) > 1e-6 {
			t.Errorf("bin %d: sum %v span %v, want %v", i, got[i].Sum, got[i].Span, want)
		}
		if mean, ok := got[i].Mean(sources.PerTime); ok != (want.span > 0) || ok && math.Abs(mean-5000) > 1e-2 {
			t.Errorf("bin %d: mean %v %v, want 5000 a second", i, mean, ok)
		}
	}
}

func TestReadingStaysInItsBinAndCoversItsSpan(t *testing.T) {
	r := New(sources.PerReading)
	r.Add(sources.Reading(srtt, t0.Add(1000*ms), time.Second, 311))
	r.Add(sources.Reading(srtt, t0.Add(2000*ms), time.Second, 250))
	got := make([]Bin, 25)
	r.Window(got, t0, 100*ms)
	for i, b := range got {
		switch mean, ok := b.Mean(sources.PerReading); {
		case i == 9 && mean != 311, i == 19 && mean != 250:
			t.Errorf("bin %d: mean %v", i, mean)
		case i != 9 && i != 19 && ok:
			t.Errorf("bin %d has a reading", i)
		case b.Covered() != (i < 20):
			t.Errorf("bin %d: covered %v", i, b.Covered())
		}
	}
}

func TestAGapStaysAGap(t *testing.T) {
	r := New(sources.PerTime)
	for i := 1; i <= 600; i++ { // a minute of polls, none between 20 s and 23 s
		if at := t0.Add(time.Duration(i) * 100 * ms); i <= 200 || i > 230 {
			r.Add(sources.Amount(rate, at, 100*ms, 10))
		}
	}
	for _, step := range []time.Duration{100 * ms, 200 * ms, 500 * ms, time.Second} {
		got := make([]Bin, int(time.Minute/step))
		r.Window(got, t0, step)
		for i, b := range got {
			in := time.Duration(i)*step >= 20*time.Second && time.Duration(i+1)*step <= 23*time.Second
			if b.Covered() == in {
				t.Fatalf("step %v: column %d covered %v", step, i, b.Covered())
			}
		}
	}
}

func TestFineColumnsOfCoarseBinsAndOutside(t *testing.T) {
	r := New(sources.PerReading)
	r.Add(sources.Reading(srtt, t0.Add(50*ms), 0, 7))
	got := make([]Bin, 8)
	r.Window(got, t0.Add(-100*ms), 50*ms)
	for i, b := range got {
		if want := i == 2 || i == 3; (b.N == 1) != want {
			t.Errorf("column %d: n %d", i, b.N)
		}
	}
	r.Window(got, t0.Add(-time.Hour), time.Second)
	for i, b := range got {
		if b.Covered() {
			t.Errorf("column %d an hour before holds %+v", i, b)
		}
	}
}

func TestLateSampleCountsInCoarseBins(t *testing.T) {
	r := New(sources.PerTime)
	r.Add(sources.Amount(rate, t0.Add(10*time.Minute), time.Second, 5))
	if r.Add(sources.Amount(rate, t0.Add(time.Minute), time.Second, 3)) {
		t.Error("nine minutes late was not said to be late")
	}
	var got [1]Bin
	r.Window(got[:], t0, 5*time.Minute)
	if got[0].Sum != 3 {
		t.Errorf("sum %v, want 3", got[0].Sum)
	}
}

// However the samples fall, no amount is lost or made, in any level.
func TestSumsAreConserved(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := New(sources.PerTime)
	at, total := t0, 0.0
	for at.Sub(t0) < 100*time.Second {
		span := time.Duration(rng.IntN(3000)+1) * ms
		at = at.Add(span)
		v := float64(rng.IntN(1_000_000))
		total += v
		r.Add(sources.Amount(rate, at, span, v))
	}
	for _, l := range r.levels {
		sum, n := 0.0, uint32(0)
		for i := t0.UnixNano()/int64(l.width) - 1; i <= at.UnixNano()/int64(l.width)+1; i++ {
			sum += l.at(i).Sum
			n += l.at(i).N
		}
		if math.Abs(sum-total) > 1e-3 {
			t.Errorf("level %v holds %v, want %v", l.width, sum, total)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := New(sources.PerReading)
	for i := range 200_000 { // more than two days
		r.Add(sources.Reading(srtt, t0.Add(time.Duration(i)*time.Second), time.Second, 1))
	}
	n := 0
	for _, l := range r.levels {
		for _, c := range l.chunks {
			if c != nil {
				n++
			}
		}
	}
	if n > 105 || MaxBytes > 170_000 {
		t.Errorf("%d chunks, bound %d bytes", n, MaxBytes)
	}
}

// A small Ring has the same whole seconds as another, and far fewer bins.
func TestSmallRing(t *testing.T) {
	big, small := New(sources.PerTime), NewSmall(sources.PerTime)
	for i := range 40_000 {
		v := sources.Amount(rate, t0.Add(time.Duration(i)*100*ms), 100*ms, float64(i%7))
		big.Add(v)
		small.Add(v)
	}
	var a, b [3]Bin
	from := t0.Add(3990 * time.Second)
	big.Window(a[:], from, time.Second)
	small.Window(b[:], from, time.Second)
	for i := range a {
		if math.Abs(a[i].Sum-b[i].Sum) > 1e-9 || a[i].N != 10 || b[i].N != 10 {
			t.Errorf("second %d: %v of %d and %v of %d", i, a[i].Sum, a[i].N, b[i].Sum, b[i].N)
		}
	}
	small.Window(b[:], t0.Add(4000*time.Second-SmallReach), 10*time.Second)
	if b[1].N != 100 {
		t.Errorf("an hour ago: %d readings in ten seconds, want 100", b[1].N)
	}
	n := 0
	for _, l := range small.levels {
		n += len(l.chunks)
	}
	if n > 13 {
		t.Errorf("%d chunks", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := New(sources.PerTime)
	at := t0
	for b.Loop() {
		at = at.Add(100 * ms)
		r.Add(sources.Amount(rate, at, 100*ms, 1))
	}
}

func BenchmarkWindow(b *testing.B) {
	r := New(sources.PerTime)
	for i := range 1200 {
		r.Add(sources.Amount(rate, t0.Add(time.Duration(i)*100*ms), 100*ms, 1))
	}
	dst := make([]Bin, 160)
	b.ReportAllocs()
	for b.Loop() {
		r.Window(dst, t0.Add(30*time.Second), 500*ms)
	}
}
