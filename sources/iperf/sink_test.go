package iperf

import (
	"strings"
	"sync"

	"netwatch/sources"
)

// A log keeps what a source said.
type log struct {
	mu      sync.Mutex
	samples []sources.Sample
	events  []sources.Event
	heard   chan sources.EventKind // told of each event, where a test waits for one
}

func (l *log) Sample(s sources.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
}

func (l *log) Event(e sources.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	if l.heard != nil {
		l.heard <- e.Kind
	}
}

// of returns the samples of one series.
func (l *log) of(subject string, m sources.Metric) (got []sources.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.samples {
		if s.Series.Subject == subject && s.Series.Metric == m {
			got = append(got, s)
		}
	}
	return got
}

// mean is the mean over several samples, bit/s for octets.
func mean(samples []sources.Sample) float64 {
	sum, span, n := 0.0, 0.0, int64(0)
	for _, s := range samples {
		sum += s.Sum
		span += s.Span.Seconds()
		n += s.N
	}
	if len(samples) == 0 {
		return 0
	}
	switch m := samples[0].Series.Metric; {
	case m.Unit == sources.Octets:
		return sum * 8 / span
	case m.Agg == sources.PerTime:
		return sum / span
	}
	return sum / float64(n)
}

// text joins the events of one kind.
func (l *log) text(kind sources.EventKind) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, e := range l.events {
		if e.Kind == kind {
			all = append(all, strings.TrimSpace(e.Subject+" "+e.Text))
		}
	}
	return strings.Join(all, "\n")
}
