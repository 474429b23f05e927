// Package cpu is the source of how busy the cores are: the share of each core's
// time that was spent on work, and the mean of the cores as "all". A load test
// on a machine without an idle core measures the core.
package cpu

import (
	"context"
	"fmt"
	"time"

	"netwatch/sources"
)

const pollEvery = time.Second

// A coreTime is what one core has done since boot, in ticks of any length.
type coreTime struct {
	cpu         int
	busy, total uint64
}

// A kernel tells the time of every core that is there, in any order.
type kernel interface {
	read(dst []coreTime) ([]coreTime, error)
	close() error
}

// Source is the source "cpu".
type Source struct {
	every time.Duration
	open  func() (kernel, error)
}

// New makes the source, with a sample each so often, each second at most.
func New(every time.Duration) *Source {
	return &Source{every: max(every, pollEvery), open: openKernel}
}

// Name is "cpu".
func (s *Source) Name() string { return "cpu" }

// Run polls the cores until ctx ends. It fails when the kernel does
// not tell.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	k, err := s.open()
	if err != nil {
		return fmt.Errorf("cpu: %w", err)
	}
	defer k.close()
	m := meter{before: map[int]coreTime{}, series: map[int]*sources.Series{}, all: series("all")}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		if m.now, err = k.read(m.now[:0]); err != nil {
			return fmt.Errorf("cpu: %w", err)
		}
		m.poll(time.Now(), sink)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// A meter differences the times of the cores.
type meter struct {
	now    []coreTime
	before map[int]coreTime
	at     time.Time
	series map[int]*sources.Series
	all    *sources.Series
}

// poll takes m.now. A core that was not there before, or whose time went back,
// only sets its baseline. The share is of the time the kernel accounted to
// the core, laid on the span between the polls.
func (m *meter) poll(now time.Time, sink sources.Sink) {
	span := now.Sub(m.at)
	sum, cores := 0.0, 0
	for _, c := range m.now {
		b, seen := m.before[c.cpu]
		m.before[c.cpu] = c
		if !seen || m.at.IsZero() || c.busy < b.busy || c.total <= b.total || c.busy-b.busy > c.total-b.total {
			continue
		}
		share := float64(c.busy-b.busy) / float64(c.total-b.total)
		sum, cores = sum+share, cores+1
		sink.Sample(sources.Amount(m.of(c.cpu), now, span, share*span.Seconds()))
	}
	if cores > 0 {
		sink.Sample(sources.Amount(m.all, now, span, sum/float64(cores)*span.Seconds()))
	}
	m.at = now
}

func (m *meter) of(cpu int) *sources.Series {
	s := m.series[cpu]
	if s == nil {
		s = series(fmt.Sprintf("cpu%d", cpu))
		m.series[cpu] = s
	}
	return s
}

func series(subject string) *sources.Series {
	return &sources.Series{Source: "cpu", Subject: subject, Metric: sources.CPUBusy}
}
