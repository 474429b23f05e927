// Package irq is the source of the interrupts a network card raises: in total
// and for each of its queues. It counts what the kernel took, which a hold-off
// setting bounds but does not tell.
package irq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netwatch/sources"
)

const (
	pollEvery  = time.Second
	namesEvery = 5 * time.Second
)

// A line is one interrupt of the card.
type line struct {
	id     string // the kernel's own, unique: "38", or a slot number
	queue  string // "rxq0", "TxRx-0", "irq0"; with its interface before it where that is another: "em4:rxq0"
	shared bool   // other devices raise it too: the count is not the card's alone
}

// A kernel tells the interrupts of one interface.
type kernel interface {
	// lines names the card's interrupts. None is no error.
	lines() ([]line, error)
	// counts gives the count of each line of the last answer of lines, in its
	// order; a line that is no more has ok false.
	counts(dst []count) ([]count, error)
	// limit is the highest rate the moderation allows at the moment, if the driver tells.
	limit() (perSecond float64, ok bool)
	// of names the interfaces below, when the lines are theirs: a vlan's parent.
	of() string
	// where is the place that was searched: "/proc/interrupts".
	where() string
	close() error
}

// A count is one reading of a line.
type count struct {
	value uint64
	ok    bool
}

// Source is the source "irq" of one interface.
type Source struct {
	iface string
	every time.Duration
	open  func(iface string) (kernel, error)
}

// New makes the source for the interface of that name, with a sample each so often,
// each second at most.
func New(iface string, every time.Duration) *Source {
	return &Source{iface: iface, every: max(every, pollEvery), open: openKernel}
}

// Name is "irq".
func (s *Source) Name() string { return "irq" }

// Run polls until ctx ends. An interface without a line of its own (veth, lo,
// epair) is an error in words.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	k, err := s.open(s.iface)
	if err != nil {
		return fmt.Errorf("%s: %w", s.iface, err)
	}
	defer k.close()
	m := newMeter(s.iface, k, sink)
	if err := m.rename(time.Now()); err != nil {
		return err
	}
	if len(m.lines) == 0 {
		return noLine{s.iface, k.where()}
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		if err := m.poll(time.Now()); err != nil {
			return fmt.Errorf("%s: %w", s.iface, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// A meter differences the counts of the lines.
type meter struct {
	iface string
	k     kernel
	sink  sources.Sink

	lines   []line
	named   time.Time
	at      time.Time
	now     []count
	before  map[string]uint64 // by line id
	series  map[seriesKey]*sources.Series
	ceiling *sources.Series
	shared  bool   // said already
	of      string // said already
	last    time.Time
	wall    time.Time // what the wall clock said then
}

// A seriesKey is a queue, "" for all of them, and whether others count in it.
type seriesKey struct {
	queue  string
	shared bool
}

func newMeter(iface string, k kernel, sink sources.Sink) *meter {
	return &meter{iface: iface, k: k, sink: sink,
		before: map[string]uint64{}, series: map[seriesKey]*sources.Series{},
		ceiling: &sources.Series{Source: "irq", Subject: iface, Metric: sources.IrqCap}}
}

// rename reads the names again: a driver that re-initialises may get others.
func (m *meter) rename(now time.Time) error {
	lines, err := m.k.lines()
	if err != nil {
		return fmt.Errorf("%s: %w", m.iface, err)
	}
	distinct(lines)
	if !slices.Equal(lines, m.lines) {
		clear(m.before)
	}
	m.lines, m.named = lines, now
	if of := m.k.of(); of != m.of {
		m.of = of
		m.note(now, fmt.Sprintf("%s: interrupts are those of %s", m.iface, of))
	}
	for _, l := range lines {
		if l.shared && !m.shared {
			m.shared = true
			m.note(now, fmt.Sprintf("%s: interrupt %s is shared with another device and counts both", m.iface, l.id))
		}
	}
	return nil
}

func (m *meter) note(now time.Time, text string) {
	m.sink.Event(sources.Event{At: now, Kind: sources.SourceNote, Source: "irq", Subject: m.iface, Text: text})
}

// distinct gives queues of the same name their interrupt's number: each line is
// a series of its own.
func distinct(lines []line) {
	taken := map[string]bool{}
	for i, l := range lines {
		if taken[l.queue] {
			lines[i].queue = l.queue + "#" + l.id
		}
		taken[l.queue] = true
	}
}

// poll reads the counts, and the names where that is due.
func (m *meter) poll(now time.Time) error {
	m.clock(now, now.Round(0))
	if now.Sub(m.named) >= namesEvery {
		if err := m.rename(now); err != nil {
			return err
		}
	}
	return m.read(now)
}

// read tells the rates since the reading before. The total is told only when every
// line could be differenced: half a card is no total.
func (m *meter) read(now time.Time) (err error) {
	if m.now, err = m.k.counts(m.now[:0]); err != nil {
		return err
	}
	span := now.Sub(m.at)
	sum, whole, shared := 0.0, len(m.lines) > 0 && len(m.now) == len(m.lines), false
	for i, c := range m.now {
		l := m.lines[i]
		before, seen := m.before[l.id]
		shared = shared || l.shared
		if !c.ok {
			delete(m.before, l.id)
			whole = false
			continue
		}
		m.before[l.id] = c.value
		if !seen {
			whole = false
			continue
		}
		if c.value < before {
			whole = false
			m.sink.Event(sources.Event{At: now, Kind: sources.CounterReset, Source: "irq", Subject: m.iface,
				Text: fmt.Sprintf("%s: the count of interrupt %s went back", m.iface, l.id)})
			continue
		}
		d := float64(c.value - before)
		sum += d
		m.sink.Sample(sources.Amount(m.counted(seriesKey{l.queue, l.shared}), now, span, d))
	}
	if whole {
		m.sink.Sample(sources.Amount(m.counted(seriesKey{"", shared}), now, span, sum))
	}
	if perSecond, ok := m.k.limit(); ok && !m.at.IsZero() {
		m.sink.Sample(sources.Reading(m.ceiling, now, span, perSecond))
	}
	m.at = now
	return nil
}

// clockJump is how far the wall clock may drift from the time between two polls.
const clockJump = time.Second

// clock notices a machine that slept, or a wall clock that was set: no rate is
// told across it. Source nic says it in words.
func (m *meter) clock(now, wall time.Time) {
	if !m.last.IsZero() && (wall.Sub(m.wall)-now.Sub(m.last)).Abs() >= clockJump {
		clear(m.before)
	}
	m.last, m.wall = now, wall
}

// counted is the Series of a queue or of the whole card. What other devices count
// in as well is another quantity.
func (m *meter) counted(k seriesKey) *sources.Series {
	s := m.series[k]
	if s == nil {
		s = &sources.Series{Source: "irq", Subject: m.iface, Metric: sources.Irqs}
		if k.queue != "" {
			s.Subject += ":" + k.queue
		}
		if k.shared {
			s.Metric = sources.IrqsShared
		}
		m.series[k] = s
	}
	return s
}

// noLine says that a driver counts no interrupts of its own (a veth has none).
type noLine struct{ iface, where string }

func (e noLine) Error() string { return e.iface + " has no line in " + e.where }

// Is makes it errors.ErrUnsupported.
func (e noLine) Is(target error) bool { return target == errors.ErrUnsupported }
