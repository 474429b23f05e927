package sources

import "time"

// A Series is one measured quantity of one subject. A source makes each Series
// once and hands out the same pointer ever after: the pointer is its identity.
type Series struct {
	Host    string // "" here, else the peer's name
	Source  string // "nic", "irq", "cpu", "tcp", "siftr", "siftr2", "iperf3", "iperf2", "ping"
	Subject string // "em4", "em4:rxq0", "cpu1", a Flow's ID, stream "5", "SUM", target "r1"
	Metric  Metric
}

// A Sample summarises one Series over (At-Span, At]. N is how many readings it
// stands for: 1 for a poll, thousands for 100 ms of a siftr log. Sums are exact,
// so a whole-run mean equals that of a reader that saw every record.
//
// A PerReading Sample with N = 0 is not sent. A PerTime Sample needs Span > 0.
// Min, Max and Last are of the readings (PerReading) or of the rates (PerTime;
// for a single poll all three are Sum/Span seconds).
type Sample struct {
	Series              *Series
	At                  time.Time
	Span                time.Duration
	N                   int64
	Sum, Min, Max, Last float64
}

// Reading is a PerReading Sample of a single value v, valid for the span before at.
func Reading(s *Series, at time.Time, span time.Duration, v float64) Sample {
	return Sample{Series: s, At: at, Span: span, N: 1, Sum: v, Min: v, Max: v, Last: v}
}

// Amount is a PerTime Sample: sum came over span. A span of zero or less gives a
// Sample with N = 0, which the hub drops: no rate can be told from it.
func Amount(s *Series, at time.Time, span time.Duration, sum float64) Sample {
	if span <= 0 {
		return Sample{Series: s, At: at}
	}
	r := sum / span.Seconds()
	return Sample{Series: s, At: at, Span: span, N: 1, Sum: sum, Min: r, Max: r, Last: r}
}

// Mean is Sum/N or Sum per second of Span, as the Metric's Agg says; ok is false
// when there is nothing to divide by.
func (s Sample) Mean() (v float64, ok bool) {
	switch {
	case s.Series == nil:
		return 0, false
	case s.Series.Metric.Agg == PerTime && s.Span > 0:
		return s.Sum / s.Span.Seconds(), true
	case s.Series.Metric.Agg == PerReading && s.N > 0:
		return s.Sum / float64(s.N), true
	}
	return 0, false
}

// A Batch is everything the sources said since the one before. The hub makes one
// each tick, also an empty one, so that time goes on when all is silent.
type Batch struct {
	At      time.Time // the hub's clock
	Samples []Sample
	Events  []Event
	Shed    int // samples dropped because nobody took the batches
}
