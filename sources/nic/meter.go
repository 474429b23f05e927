package nic

import (
	"slices"
	"time"

	"netwatch/sources"
)

const (
	// refresh is how often a driver copies its counters from the card: em(4) does so
	// each 0.5 s.
	refresh = 500 * time.Millisecond
	// minStep is the shortest time one sample of a stepping counter stands for:
	// two refreshes, with room for a late one.
	minStep = 2*refresh - pollEvery
	// idleMore beyond the shortest time, without a change, means that nothing is counted.
	idleMore = 1100 * time.Millisecond
)

// leastStep is the shortest time one sample of a stepping counter stands for when it
// is polled each so often. A change is seen late by the time between polls, but by no
// more than a refresh: ten times that keeps a rate true to a tenth.
func leastStep(every time.Duration) time.Duration {
	return max(10*min(every, refresh)-pollEvery, minStep)
}

// A meter differences one group of counters that are read together.
type meter struct {
	iface   string
	metrics []sources.Metric
	known   map[sources.Metric]*sources.Series
	series  []*sources.Series // of metrics
	company int               // trailing values that are no counters of the group: they only come along
	// told is called with the readings at both ends of each sample that was sent.
	told func(now time.Time, span time.Duration, before, after []uint64)

	least  time.Duration // stairs only: the shortest time one sample stands for
	prev   []uint64      // where the next sample starts
	at     time.Time     // when prev was read, or seen to change; zero: no baseline
	seen   []uint64      // stairs only: the newest reading
	seenAt time.Time     // stairs only: when seen was first read; zero: never
}

// A fault is what keeps a reading from being told. The zero fault is none.
type fault struct {
	back    string // the metric that went back
	maybe   string // what that may have been
	tooFast string // the metric that tells more than the link can carry
}

func newMeter(iface string) meter {
	return meter{iface: iface, known: map[sources.Metric]*sources.Series{}}
}

// baseline makes the next reading a first one: no rate is told across it.
func (m *meter) baseline() { m.at, m.seenAt = time.Time{}, time.Time{} }

// use says what the values are. Others than before are a first reading.
func (m *meter) use(metrics []sources.Metric, values int) {
	if slices.Equal(metrics, m.metrics) && (m.at.IsZero() || len(m.prev) == values) && (m.seenAt.IsZero() || len(m.seen) == values) {
		return
	}
	m.baseline()
	m.metrics = append(m.metrics[:0], metrics...)
	m.series = m.series[:0]
	for _, metric := range metrics {
		if m.known[metric] == nil {
			m.known[metric] = &sources.Series{Source: "nic", Subject: m.iface, Metric: metric}
		}
		m.series = append(m.series, m.known[metric])
	}
}

// step takes a reading of counters that count each packet at once. After a fault
// the reading is a new baseline.
func (m *meter) step(now time.Time, speed uint64, metrics []sources.Metric, values []uint64, sink sources.Sink) (f fault) {
	m.use(metrics, len(values))
	if !m.at.IsZero() {
		if f = m.wentBack(m.prev, values); f == (fault{}) {
			f = m.emit(now, speed, values, sink)
		}
	}
	m.start(now, values)
	return f
}

// stairs takes a reading of counters that the driver copies from the card now
// and then (em mac_stats: each 0.5 s). Between two refreshes they stand still, so
// a rate is told over the time between two observed changes only.
func (m *meter) stairs(now time.Time, speed uint64, metrics []sources.Metric, values []uint64, sink sources.Sink) (f fault) {
	m.use(metrics, len(values))
	if m.seenAt.IsZero() {
		m.see(now, values)
		return f
	}
	if f = m.wentBack(m.seen, values); f != (fault{}) {
		m.baseline()
		m.see(now, values)
		return f
	}
	own := len(values) - m.company
	changed := !slices.Equal(values[:own], m.seen[:own])
	if changed {
		m.see(now, values)
	}
	switch {
	case m.at.IsZero():
		// The first reading lies somewhere on a step: begin at an edge.
		if changed || now.Sub(m.seenAt) >= m.least+idleMore {
			m.start(now, values)
		}
	case changed && now.Sub(m.at) >= m.least, now.Sub(m.at) >= m.least+idleMore:
		f = m.emit(now, speed, values, sink)
		m.start(now, values)
	}
	return f
}

func (m *meter) start(now time.Time, values []uint64) {
	m.at, m.prev = now, append(m.prev[:0], values...)
}

func (m *meter) see(now time.Time, values []uint64) {
	m.seenAt, m.seen = now, append(m.seen[:0], values...)
}

// emit sends a sample for each counter, or none when one of them cannot be true.
func (m *meter) emit(now time.Time, speed uint64, values []uint64, sink sources.Sink) fault {
	span := now.Sub(m.at)
	for i, s := range m.series {
		if !possible(s.Metric, values[i]-m.prev[i], span, speed) {
			return fault{tooFast: s.Metric.Name}
		}
	}
	for i, s := range m.series {
		if values[i] == 0 && dead(s.Metric) {
			continue
		}
		sink.Sample(sources.Amount(s, now, span, float64(values[i]-m.prev[i])))
	}
	if m.told != nil {
		m.told(now, span, m.prev, values)
	}
	return fault{}
}

// dead says that a counter of this kind which never counted is none: some chips,
// and most emulated ones, have the leaf and leave it at zero.
func dead(m sources.Metric) bool {
	switch m {
	case sources.RxWireOctets, sources.TxWireOctets, sources.RxWirePkts, sources.TxWirePkts, sources.TSOSends, sources.IrqAsserts:
		return true
	}
	return false
}

const (
	// headroom is how far above the link's speed a rate is still believed.
	headroom = 1.1
	// jitter is how late a poll may have been read after the time it is told for.
	jitter = 50 * time.Millisecond
	// leastFrame is the smallest frame with its preamble and gap, in octets.
	leastFrame = 64 + 20
)

// possible says whether a wire of so many bit/s can have carried the amount.
func possible(m sources.Metric, amount uint64, span time.Duration, speed uint64) bool {
	octets := float64(amount)
	switch m {
	case sources.RxOctets, sources.TxOctets, sources.RxWireOctets, sources.TxWireOctets:
	case sources.RxPackets, sources.TxPackets, sources.RxWirePkts, sources.TxWirePkts:
		octets *= leastFrame
	default:
		return true
	}
	return speed == 0 || octets*8 <= float64(speed)*(headroom*span.Seconds()+jitter.Seconds())
}

// wentBack finds a counter that is smaller than it was.
func (m *meter) wentBack(before, after []uint64) (f fault) {
	for i, v := range after {
		if v >= before[i] {
			continue
		}
		f.back = "tx packets" // the one that comes along
		if i < len(m.series) {
			f.back = m.series[i].Metric.Name
		}
		if before[i] < 1<<32 && before[i] >= 1<<31 {
			f.maybe = " (it may have 32 bits and wrap)"
		}
		return f
	}
	return f
}
