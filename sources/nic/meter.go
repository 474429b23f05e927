package nic

import (
	"slices"
	"time"

	"netwatch/sources"
)

const (
	// minStep is the shortest time one sample of a stepping counter stands for:
	// two refreshes of an em(4) (0.5 s each), with room for a late one.
	minStep = 900 * time.Millisecond
	// idleStep without a change means that nothing is counted.
	idleStep = 2 * time.Second
)

// A meter differences one group of counters that are read together.
type meter struct {
	series []*sources.Series
	prev   []uint64  // where the next sample starts
	at     time.Time // when prev was read, or seen to change; zero: no baseline
	seen   []uint64  // stairs only: the newest reading
	seenAt time.Time // stairs only: when seen was first read; zero: never
}

func newMeter(iface string, metrics []sources.Metric) meter {
	m := meter{}
	for _, metric := range metrics {
		m.series = append(m.series, &sources.Series{Source: "nic", Subject: iface, Metric: metric})
	}
	return m
}

// baseline makes the next reading a first one: no rate is told across it.
func (m *meter) baseline() { m.at, m.seenAt = time.Time{}, time.Time{} }

// step takes a reading of counters that count each packet at once. It returns
// the name of a counter that went back, if one did: then the reading is a new baseline.
func (m *meter) step(now time.Time, values []uint64, sink sources.Sink) (back string) {
	if !m.at.IsZero() && len(values) == len(m.prev) {
		if back = m.wentBack(m.prev, values); back == "" {
			m.emit(now, values, sink)
		}
	}
	m.start(now, values)
	return back
}

// stairs takes a reading of counters that the driver copies from the card now
// and then (em mac_stats: each 0.5 s). Between two refreshes they stand still, so
// a rate is told over the time between two observed changes only.
func (m *meter) stairs(now time.Time, values []uint64, sink sources.Sink) (back string) {
	if len(values) == 0 {
		return ""
	}
	if m.seenAt.IsZero() || len(values) != len(m.seen) {
		m.see(now, values)
		return ""
	}
	if back = m.wentBack(m.seen, values); back != "" {
		m.baseline()
		m.see(now, values)
		return back
	}
	changed := !slices.Equal(values, m.seen)
	if changed {
		m.see(now, values)
	}
	switch {
	case m.at.IsZero():
		// The first reading lies somewhere on a step: begin at an edge.
		if changed || now.Sub(m.seenAt) >= idleStep {
			m.start(now, values)
		}
	case changed && now.Sub(m.at) >= minStep, now.Sub(m.at) >= idleStep:
		m.emit(now, values, sink)
		m.start(now, values)
	}
	return ""
}

func (m *meter) start(now time.Time, values []uint64) {
	m.at, m.prev = now, append(m.prev[:0], values...)
}

func (m *meter) see(now time.Time, values []uint64) {
	m.seenAt, m.seen = now, append(m.seen[:0], values...)
}

func (m *meter) emit(now time.Time, values []uint64, sink sources.Sink) {
	for i, v := range values {
		sink.Sample(sources.Amount(m.series[i], now, now.Sub(m.at), float64(v-m.prev[i])))
	}
}

func (m *meter) wentBack(before, after []uint64) string {
	for i, v := range after {
		if v < before[i] {
			return m.series[i].Metric.Name
		}
	}
	return ""
}
