package experiment

import (
	"math"
	"time"

	"netwatch/sources"
)

// maxPhases bounds what the table is made of; the oldest go first and the table says so.
const maxPhases = 1000

// A Phase is a stretch of constant knob state on all ends and constant load state.
type Phase struct {
	Start, End time.Time // End is zero while it lasts
	Settled    time.Time // samples that begin before do not count as settled
	Setting    Setting
	Run        int // the run's number, 0 when idle
	key        string
	sums       map[*Track]*sums
}

type sums struct {
	settled, whole Sum

	runs, run int // of phases together: how many runs have a settled reading, and the newest of them
}

// A Sum gathers one Track over one or more phases.
type Sum struct {
	N        int64   // readings
	Span     float64 // seconds
	Sum      float64
	Min, Max float64
	squares  float64
	single   int64 // readings that came one a Sample
	weights  float64
}

// add gathers a Sample. The spread is that of single readings (pings) or of the
// rates of equal polls; summarised readings (a thousand siftr records) have none.
func (a *Sum) add(v sources.Sample) {
	if a.N == 0 {
		a.Min, a.Max = v.Min, v.Max
	}
	a.Min, a.Max = min(a.Min, v.Min), max(a.Max, v.Max)
	a.N += v.N
	a.Span += v.Span.Seconds()
	a.Sum += v.Sum
	if v.N == 1 {
		a.single++
		a.weights += v.Last
		a.squares += v.Last * v.Last
	}
}

func (a *Sum) merge(b Sum) {
	if b.N == 0 {
		return
	}
	if a.N == 0 {
		*a = b
		return
	}
	a.Min, a.Max = min(a.Min, b.Min), max(a.Max, b.Max)
	a.N += b.N
	a.Span += b.Span
	a.Sum += b.Sum
	a.single += b.single
	a.weights += b.weights
	a.squares += b.squares
}

// Mean is Sum/N or Sum per second; ok is false when nothing was counted.
func (a Sum) Mean(agg sources.Agg) (v float64, ok bool) {
	switch {
	case a.N == 0:
		return 0, false
	case agg == sources.PerTime && a.Span > 0:
		return a.Sum / a.Span, true
	case agg == sources.PerReading:
		return a.Sum / float64(a.N), true
	}
	return 0, false
}

// Since is what came after an earlier Sum of the same Track; without its Min, Max
// and spread.
func (a Sum) Since(b Sum) Sum { return Sum{N: a.N - b.N, Span: a.Span - b.Span, Sum: a.Sum - b.Sum} }

// SD is the standard deviation of single readings (n-1), ok only when every
// Sample was a single one and there are two.
func (a Sum) SD() (v float64, ok bool) {
	if a.single != a.N || a.N < 2 {
		return 0, false
	}
	n := float64(a.N)
	return math.Sqrt(max(0, (a.squares-a.weights*a.weights/n)/(n-1))), true
}

func (s *Session) newPhase(start, settled time.Time) *Phase {
	p := &Phase{Start: start, Settled: settled, Setting: s.knobs.setting(), sums: map[*Track]*sums{}}
	if _, _, on := s.Run(); on {
		p.Run = s.runs.count
	}
	p.key = p.Setting.key()
	return p
}

// Phase returns the phase that is on now.
func (s *Session) Phase() *Phase { return s.phases[len(s.phases)-1] }

// refine takes knobs that became known: they were so all along.
func (p *Phase) refine(s Setting) { p.Setting, p.key = s, s.key() }

// rekey begins a new phase when the knob state or the load state is another one.
// While a knob is turned on any end there is none, nor while a peer that is back has
// not told all its knobs; after a turn of both ends it begins with the later
// verification. A run that is noticed tells its
// start afterwards, so at may lie in the past.
func (s *Session) rekey(at time.Time) {
	if s.knobsMove() {
		s.endPhase(at)
		return
	}
	cur := s.Phase()
	at = maxTime(at, cur.Start)
	if !cur.End.IsZero() {
		at = maxTime(at, s.knobs.verified)
	}
	next := s.newPhase(at, at.Add(s.Settle))
	if cur.End.IsZero() && cur.key == next.key && cur.Run == next.Run {
		return
	}
	if next.Run != 0 && cur.Run == 0 {
		s.endPhase(at.Add(-lead))
	}
	s.endPhase(at)
	s.begin(next)
}

func (s *Session) begin(p *Phase) {
	if len(s.phases) == maxPhases {
		s.phases = append(s.phases[:0], s.phases[1:]...)
		s.left++
	}
	s.phases = append(s.phases, p)
}

// lead is how long before a run nothing counts as idle: a load moves its first bytes a
// little before it is known of, on a busy machine more than a little.
const lead = 500 * time.Millisecond

// endPhase ends the present phase, or has one end earlier that has ended.
func (s *Session) endPhase(at time.Time) {
	if p := s.Phase(); p.End.IsZero() || at.Before(p.End) {
		p.End = maxTime(at, p.Start)
	}
}

// resettle starts the settle time of the present phase again when a link comes back.
// What had settled before the link went stays: it is a phase of its own.
func (s *Session) resettle(e sources.Event) {
	p := s.Phase()
	if e.Kind != sources.LinkUp || !p.End.IsZero() {
		return
	}
	if down := e.At.Add(-e.Span); down.After(p.Settled) {
		s.endPhase(down)
		s.begin(s.newPhase(e.At, e.At.Add(s.Settle)))
		return
	}
	s.settleFrom(e.At)
}

// countDelay is how long a Sample waits before it is counted: a log lags, an
// iperf row tells of the second before, and a run is noticed after it began.
const countDelay = 3 * time.Second

type pending struct {
	track  *Track
	sample sources.Sample
}

func (s *Session) countUntil(t time.Time) {
	wait := s.pending[:0]
	for _, p := range s.pending {
		if p.sample.At.After(t) {
			wait = append(wait, p)
			continue
		}
		s.count(p.track, p.sample)
	}
	s.pending = wait
}

// count adds a Sample to the phase it lies in. One that straddles a border
// belongs to none.
func (s *Session) count(t *Track, v sources.Sample) {
	slack := min(v.Span/20, borderSlack)
	begin, end := v.At.Add(-v.Span+slack), v.At.Add(-slack)
	for i := len(s.phases) - 1; i >= 0; i-- {
		p := s.phases[i]
		if begin.Before(p.Start) {
			if end.After(p.Start) {
				return
			}
			continue
		}
		if !p.End.IsZero() && end.After(p.End) {
			return
		}
		a := p.sums[t]
		if a == nil {
			a = &sums{}
			p.sums[t] = a
		}
		a.whole.add(v)
		if !begin.Before(p.Settled) {
			a.settled.add(v)
		}
		return
	}
}

// borderSlack is how far a Sample may reach over a border and still count: a load
// generator's first row is placed by its arrival, which is not quite its run's start.
const borderSlack = 50 * time.Millisecond

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
