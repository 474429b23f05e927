package testbed

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/parsers/siftr"
	"netwatch/sources"
)

// A witness reads every stream of a testbed to its end and keeps what was said.
type witness struct {
	mu      sync.Mutex
	samples map[sources.Metric][]sources.Sample
	events  []sources.Event
	lines   map[string][]string // "iperf", "ping"
	raw     []byte              // of siftr2
	stock   int                 // lines of siftr
}

func (w *witness) Sample(s sources.Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples[s.Series.Metric] = append(w.samples[s.Series.Metric], s)
}

func (w *witness) Event(e sources.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *witness) read(name string, r io.Reader) {
	for in := bufio.NewScanner(r); in.Scan(); {
		w.lines[name] = append(w.lines[name], in.Text())
	}
}

// live runs a testbed for d of fake time; turn acts on it meanwhile.
func live(t *testing.T, seed uint64, d time.Duration, turn func(map[string]sources.Knob)) *witness {
	t.Helper()
	w := &witness{samples: map[sources.Metric][]sources.Sample{}, lines: map[string][]string{}}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	bed := New(seed)
	knobs := map[string]sources.Knob{}
	for _, k := range bed.Knobs() {
		knobs[k.Spec().Name] = k
	}
	if turn != nil {
		go turn(knobs)
	}
	var readers sync.WaitGroup
	var mu sync.Mutex
	for name, r := range map[string]io.Reader{"iperf": bed.Iperf(), "ping": bed.Ping(), "siftr": bed.Siftr(), "siftr2": bed.Siftr2()} {
		readers.Go(func() {
			switch name {
			case "siftr2":
				w.raw, _ = io.ReadAll(r)
				return
			case "siftr":
				b, _ := io.ReadAll(r)
				w.stock = bytes.Count(b, []byte{'\n'})
				return
			}
			own := &witness{lines: map[string][]string{}}
			own.read(name, r)
			mu.Lock()
			defer mu.Unlock()
			w.lines[name] = own.lines[name]
		})
	}
	if err := bed.Run(ctx, w); err != nil {
		t.Error(err)
	}
	readers.Wait()
	return w
}

func set(t *testing.T, k sources.Knob, v string) {
	if err := k.Set(t.Context(), v); err != nil {
		t.Errorf("%s=%s: %v", k.Spec().Name, v, err)
	}
}

// iperfMean is the tool's own final figure of the first run, Mbit/s.
func iperfMean(t *testing.T, lines []string) float64 {
	t.Helper()
	for _, l := range lines {
		f := strings.Fields(l)
		if len(f) > 7 && f[len(f)-1] == "sender" {
			v, err := strconv.ParseFloat(f[6], 64)
			if err != nil || f[7] != "Mbits/sec" {
				t.Fatalf("row %q", l)
			}
			return v
		}
	}
	t.Fatalf("no final row in %q", lines)
	return 0
}

// rowsMean is the mean of iperf3's interval rows without the first, Mbit/s.
func rowsMean(t *testing.T, lines []string) float64 {
	t.Helper()
	sum, n := 0.0, 0
	for _, l := range lines {
		f := strings.Fields(l)
		if len(f) < 8 || f[3] != "sec" || strings.HasPrefix(f[2], "0.00-") {
			continue
		}
		v, err := strconv.ParseFloat(f[6], 64)
		if err != nil || f[7] != "Mbits/sec" {
			t.Fatalf("row %q", l)
		}
		sum += v
		n++
	}
	if n < 5 {
		t.Fatalf("%d rows in %q", n, lines)
	}
	return sum / float64(n)
}

// The figures of the testers' notes, within the noise of one run.
func TestTheNotesFigures(t *testing.T) {
	for _, c := range []struct {
		aim           string
		goodput       float64 // Mbit/s with stock siftr
		segment       float64 // bytes, with siftr2
		min, avg, max float64 // ms
	}{
		{"0", 898, 4630, 0.169, 0.237, 0.280},
		{"1", 904, 4789, 0.164, 0.205, 0.249},
		{"2", 928, 4784, 0.129, 0.155, 0.203},
	} {
		if testing.Short() && c.aim != "1" {
			continue // each writes a million records
		}
		t.Run("aim "+c.aim, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stock := live(t, 7, 10*time.Second, func(k map[string]sources.Knob) { set(t, k["aim"], c.aim); set(t, k["log"], "siftr") })
				if got := rowsMean(t, stock.lines["iperf"]); math.Abs(got-c.goodput) > 5 {
					t.Errorf("iperf3 with siftr: %v Mbit/s, want %v", got, c.goodput)
				}
				if stock.stock < 300_000 {
					t.Errorf("%d lines of siftr in 8 s", stock.stock)
				}
				w := live(t, 7, 10*time.Second, func(k map[string]sources.Knob) { set(t, k["aim"], c.aim) })
				if got := rowsMean(t, w.lines["iperf"]); math.Abs(got-939) > 4 {
					t.Errorf("iperf3 with siftr2: %v Mbit/s, want about 939", got)
				}
				if got := meanSegment(w.raw); math.Abs(got-c.segment) > 30 {
					t.Errorf("mean segment %v, want %v", got, c.segment)
				}
				checkPing(t, w.lines["ping"][1:], c.min, c.avg, c.max)
			})
		})
	}
}

func checkPing(t *testing.T, lines []string, lo, mean, hi float64) {
	t.Helper()
	sum, least, most := 0.0, math.Inf(1), 0.0
	for _, l := range lines {
		_, v, _ := strings.Cut(l, "time=")
		ms, err := strconv.ParseFloat(strings.TrimSuffix(v, " ms"), 64)
		if err != nil {
			t.Fatalf("line %q", l)
		}
		sum, least, most = sum+ms, min(least, ms), max(most, ms)
	}
	n := float64(len(lines))
	if n < 45 || math.Abs(sum/n-mean) > 0.010 || least < lo || least > lo+0.016 || most > hi || most < hi-0.016 {
		t.Errorf("ping %d: %.3f/%.3f/%.3f, want %.3f/%.3f/%.3f", len(lines), least, sum/n, most, lo, mean, hi)
	}
}

func meanSegment(raw []byte) float64 {
	h := &segments{}
	d := siftr.NewDecoder(h)
	d.Write(raw)
	d.Close()
	return h.sum / h.n
}

type segments struct{ sum, n, bad float64 }

func (s *segments) Begin(*siftr.Cycle) {}
func (s *segments) End(*siftr.Cycle)   {}
func (s *segments) Bad(siftr.Bad)      { s.bad++ }
func (s *segments) Record(r *siftr.Record) {
	if r.Payload > 0 {
		s.sum += float64(r.Payload)
		s.n++
	}
}

// The payload in the log, the octets of the card and iperf3's bytes are one truth.
func TestTheStreamsAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := live(t, 3, 24*time.Second, nil)
		h := &segments{}
		d := siftr.NewDecoder(h)
		d.Write(w.raw)
		d.Close()
		if h.bad > 0 {
			t.Errorf("%v lines of the log cannot be read", h.bad)
		}
		total := func(m sources.Metric) (v float64) {
			for _, s := range w.samples[m] {
				v += s.Sum
			}
			return v
		}
		if want := h.sum + h.n*stackHeader; math.Abs(total(sources.TxOctets)-want) > want*1e-6 {
			t.Errorf("card sent %v octets, log says %v", total(sources.TxOctets), want)
		}
		if stack, wire := total(sources.TxOctets), total(sources.TxWireOctets); wire < stack*1.02 || wire > stack*1.05 {
			t.Errorf("wire %v octets, stack %v: want 2 to 5 %% more headers", wire, stack)
		}
		if got, want := iperfMean(t, w.lines["iperf"]), h.sum*8/20e6; math.Abs(got-want) > want*0.006 {
			t.Errorf("iperf3 says %v Mbit/s, the log %v", got, want)
		}
	})
}

func TestAnInterfaceTurnDropsTheLinkForThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := live(t, 1, 12*time.Second, func(k map[string]sources.Knob) {
			time.Sleep(5 * time.Second)
			began := time.Now()
			set(t, k["tso"], "off")
			if took := time.Since(began); took != ioctlTime {
				t.Errorf("the turn took %v, want %v", took, ioctlTime)
			}
			set(t, k["tso"], "off") // as it is already: no reset
		})
		var down, up int
		for _, e := range w.events {
			switch e.Kind {
			case sources.LinkDown:
				down++
			case sources.LinkUp:
				up++
				if e.Span < 2900*time.Millisecond || e.Span > 3100*time.Millisecond {
					t.Errorf("the link was away for %v", e.Span)
				}
			}
		}
		if down != 1 || up != 1 {
			t.Errorf("%d times down, %d times up, want once each", down, up)
		}
		if pings := len(w.lines["ping"]) - 1; pings < 43 || pings > 46 { // 60 probes less three seconds
			t.Errorf("%d pings answered", pings)
		}
		h := &biggest{}
		d := siftr.NewDecoder(h)
		d.Write(w.raw)
		d.Close()
		if h.after != mss || h.before <= mss {
			t.Errorf("largest packet %d before and %d after TSO was turned off", h.before, h.after)
		}
	})
}

// biggest is the largest payload of packets before and after TSO went.
type biggest struct{ before, after uint32 }

func (b *biggest) Begin(*siftr.Cycle) {}
func (b *biggest) End(*siftr.Cycle)   {}
func (b *biggest) Bad(siftr.Bad)      {}
func (b *biggest) Record(r *siftr.Record) {
	if r.Flags&siftr.FlagTSO != 0 {
		b.before = max(b.before, r.Payload)
	} else {
		b.after = max(b.after, r.Payload)
	}
}

func TestTheSeedFixesTheNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := live(t, 5, 4*time.Second, nil)
		b := live(t, 5, 4*time.Second, nil)
		c := live(t, 6, 4*time.Second, nil)
		if x, y := strings.Join(a.lines["ping"], ""), strings.Join(b.lines["ping"], ""); x != y {
			t.Error("one seed made two pings")
		}
		if x, y := strings.Join(a.lines["ping"], ""), strings.Join(c.lines["ping"], ""); x == y {
			t.Error("two seeds made one ping")
		}
	})
}

// A reader that does not read for a second, or a machine that is too busy, holds the
// engine up: what should have been sent meanwhile is made up for, in its own time.
func TestHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const d = 10*time.Second - step/2 // between two steps: at one, either may come first
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		bed := New(7)
		w, iperf := &witness{samples: map[sources.Metric][]sources.Sample{}}, &witness{lines: map[string][]string{}}
		var readers sync.WaitGroup
		for _, r := range []io.Reader{bed.Ping(), bed.Siftr()} {
			readers.Go(func() { io.Copy(io.Discard, r) })
		}
		readers.Go(func() { iperf.read("iperf", bed.Iperf()) })
		readers.Go(func() {
			io.Copy(io.Discard, &lateReader{in: bed.Siftr2(), at: time.Now().Add(5 * time.Second), by: time.Second})
		})
		if err := bed.Run(ctx, w); err != nil {
			t.Error(err)
		}
		readers.Wait()
		if got := rowsMean(t, iperf.lines["iperf"]); math.Abs(got-939) > 4 {
			t.Errorf("iperf3: %v Mbit/s, want about 939", got)
		}
		// What the seed makes does not depend on the machine.
		free := live(t, 7, d, nil).lines["iperf"]
		if got := strings.Join(iperf.lines["iperf"], "\n"); got != strings.Join(free, "\n") {
			t.Errorf("held up:\n%s\nfree:\n%s", got, strings.Join(free, "\n"))
		}
		for _, s := range w.samples[sources.TxOctets] {
			if mean, _ := s.Mean(); mean*8 > 960e6 || s.Span > 200*time.Millisecond {
				t.Errorf("%v bit/s in %v", mean*8, s.Span)
			}
		}
	})
}

// A lateReader holds up who writes for it, once.
type lateReader struct {
	in io.Reader
	at time.Time
	by time.Duration
}

func (l *lateReader) Read(b []byte) (int, error) {
	if l.by > 0 && time.Now().After(l.at) {
		time.Sleep(l.by)
		l.by = 0
	}
	return l.in.Read(b)
}

// The caps are values of em(4)'s register, and at no time come more interrupts than they
// allow.
func TestCaps(t *testing.T) {
	for aim, states := range map[string][]float64{"0": {8004}, "1": {9765, 20032}, "2": {20032, 71022}} {
		synctest.Test(t, func(t *testing.T) {
			w := live(t, 3, 40*time.Second, func(k map[string]sources.Knob) { set(t, k["aim"], aim); set(t, k["log"], "off") })
			seen := map[float64]bool{}
			caps, came := w.samples[sources.IrqCap], w.samples[sources.Irqs]
			for i, s := range caps {
				seen[s.Last] = true
				ticks := math.Round(1e9 / 256 / s.Last)
				if s.Last != math.Floor(1e9/256/ticks) {
					t.Errorf("aim %s: %v is no value of the register", aim, s.Last)
				}
				if rate, _ := came[i].Mean(); rate > s.Last && (i == 0 || rate > caps[i-1].Last) {
					t.Errorf("aim %s: %v interrupts/s where %v are allowed", aim, rate, s.Last)
				}
			}
			for _, s := range states {
				if !seen[s] || len(seen) != len(states) {
					t.Errorf("aim %s: caps %v, want %v", aim, seen, states)
				}
			}
		})
	}
}
