package nic

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"netwatch/sources"
)

// A watcher turns readings into samples and events.
type watcher struct {
	iface   string
	every   time.Duration
	k       kernel
	sink    sources.Sink
	wall    func(time.Time) time.Time
	now     reading
	wholeAt time.Time

	stack, mac, queues meter
	sizes              [2]*sources.Series // rx, tx
	factor             *sources.Series

	last      time.Time // when the last poll was
	lastWall  time.Time // what the wall clock said then
	epoch     int
	present   bool
	up        bool
	downSince time.Time
	fails     int
	odd       int // groups of counters that told more than the link can carry
}

func newWatcher(src *Source, k kernel, sink sources.Sink) *watcher {
	iface := src.iface
	w := &watcher{iface: iface, every: src.every, k: k, sink: sink, wall: src.wall}
	own := func(m sources.Metric) *sources.Series {
		return &sources.Series{Source: "nic", Subject: iface, Metric: m}
	}
	w.sizes = [2]*sources.Series{own(sources.RxSize), own(sources.TxSize)}
	w.factor = own(sources.TSOFactor)
	w.stack, w.mac, w.queues = newMeter(iface), newMeter(iface), newMeter(iface)
	w.stack.told, w.mac.told = w.packetSizes, w.tsoFactor
	w.stack.least = leastStep(w.every)
	return w
}

// pace is the time to the next poll. Polls come each pollEvery where the kernel does
// not announce link changes, so that only they tell of one, and while a link that
// went down may come back.
func (w *watcher) pace(now time.Time, deaf bool) time.Duration {
	if deaf || !w.up && now.Sub(w.downSince) < hurryFor {
		return pollEvery
	}
	return w.every
}

// first reads the baseline.
func (w *watcher) first(now time.Time) error {
	if err := w.k.read(&w.now, true); err != nil {
		return err
	}
	w.last, w.lastWall, w.wholeAt = now, w.wall(now), now
	w.present, w.up, w.epoch = true, w.now.up, w.now.epoch
	if !w.up {
		w.downSince = now
		w.event(sources.Event{At: now, Kind: sources.LinkDown, Text: w.iface + " has no link"})
	}
	w.count(now)
	return nil
}

func (w *watcher) poll(now time.Time) error {
	w.clock(now)
	whole := now.Sub(w.wholeAt) >= wholeEvery-pollEvery/2 // a poll may come a little early
	if whole {
		w.wholeAt = now
	}
	switch err := w.k.read(&w.now, whole); {
	case errors.Is(err, errGone):
		if w.present {
			w.present = false
			w.baseline()
			text := w.iface + " GONE"
			if to, ok := errors.AsType[renamed](err); ok {
				text += ": " + to.Error()
			}
			w.lose(now, text)
		}
		return nil
	case err != nil:
		if w.fails++; w.fails == failsInRow {
			return err
		}
		w.baseline()
		return nil
	}
	w.fails = 0
	if w.now.epoch != w.epoch {
		if w.present {
			w.event(sources.Event{At: now, Kind: sources.CounterReset,
				Text: w.iface + " was replaced by a new interface of the same name"})
		}
		w.epoch = w.now.epoch
		w.baseline()
	}
	if back := !w.present; back && !w.now.up {
		w.event(sources.Event{At: now, Kind: sources.LinkDown, Text: w.iface + " is back and has no link"})
	}
	w.present = true
	w.link(now, w.now.up)
	w.count(now)
	return nil
}

// clockJump is how far the wall clock may drift from the time between two polls.
const clockJump = time.Second

// clock notices a machine that slept, or a wall clock that was set: what was
// counted meanwhile belongs to no time on the axis.
func (w *watcher) clock(now time.Time) {
	wall := w.wall(now)
	jump := wall.Sub(w.lastWall) - now.Sub(w.last)
	w.last, w.lastWall = now, wall
	if jump.Abs() < clockJump {
		return
	}
	w.baseline()
	w.event(sources.Event{At: now, Kind: sources.CounterReset,
		Text: fmt.Sprintf("%s: the clock jumped by %v (sleep, or set): no rate across it", w.iface, jump.Round(time.Second/10))})
}

// wallClock takes the monotonic reading off a time.
func wallClock(t time.Time) time.Time { return t.Round(0) }

// count hands the reading to the meters.
func (w *watcher) count(now time.Time) {
	r := &w.now
	take := w.stack.step
	if r.stepped {
		take = w.stack.stairs
	}
	w.said(now, take(now, r.speed, stack[:len(r.stack)], r.stack, w.sink))
	if len(r.mac.values) > 0 {
		w.mac.company, w.mac.least = 0, minStep
		if r.lazy {
			w.mac.least = leastStep(w.every)
		}
		values := r.mac.values
		if r.handed {
			w.mac.company = 1
			values = append(values, r.stack[txPackets])
		}
		w.said(now, w.mac.stairs(now, r.speed, r.mac.metrics, values, w.sink))
		r.mac.values = values[:len(r.mac.values)]
	}
	if len(r.queues.values) > 0 {
		w.said(now, w.queues.step(now, r.speed, r.queues.metrics, r.queues.values, w.sink))
	}
}

// said tells what was wrong with a reading. What the link cannot carry is told
// the first time, then at 10, 100, … times.
func (w *watcher) said(now time.Time, f fault) {
	switch {
	case f.back != "":
		w.event(sources.Event{At: now, Kind: sources.CounterReset, Text: fmt.Sprintf("%s: the counter %q went back%s", w.iface, f.back, f.maybe)})
	case f.tooFast != "":
		if w.odd++; powerOfTen(w.odd) {
			w.event(sources.Event{At: now, Kind: sources.SourceNote, Error: true, Text: fmt.Sprintf(
				"%s: the counter %q tells more than a link of %d Mbit/s can carry: not shown, %d times so far",
				w.iface, f.tooFast, w.now.speed/1e6, w.odd)})
		}
	}
}

func powerOfTen(n int) bool {
	for n > 9 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// packetSizes tells the mean size of the packets between two readings of the
// stack's counters.
func (w *watcher) packetSizes(now time.Time, span time.Duration, before, after []uint64) {
	for i, at := range [2]struct{ octets, packets int }{{rxOctets, rxPackets}, {txOctets, txPackets}} {
		w.mean(w.sizes[i], now, span, after[at.octets]-before[at.octets], after[at.packets]-before[at.packets])
	}
}

// enoughHanded is the number of packets from which their ratio to those on the
// wire is told: the two counters are not read at quite the same moment.
const enoughHanded = 100

// tsoFactor tells how many packets left the card for each one it was handed.
// Where the counters contradict each other (super-packets were cut, yet no more
// packets left than were handed over) this kernel's if_data counts the wire.
func (w *watcher) tsoFactor(now time.Time, span time.Duration, before, after []uint64) {
	if w.mac.company == 0 {
		return
	}
	grown := func(m sources.Metric) (n uint64, ok bool) {
		i := slices.Index(w.mac.metrics, m)
		if i < 0 {
			return 0, false
		}
		return after[i] - before[i], true
	}
	last := len(after) - 1
	handed := after[last] - before[last]
	wire, okWire := grown(sources.TxWirePkts)
	cut, okCut := grown(sources.TSOSends)
	if !okWire || !okCut || handed < enoughHanded || cut > 0 && wire <= handed {
		return
	}
	w.mean(w.factor, now, span, wire, handed)
}

// mean sends a mean of n readings that add up to sum.
func (w *watcher) mean(s *sources.Series, now time.Time, span time.Duration, sum, n uint64) {
	if n == 0 {
		return
	}
	v := float64(sum) / float64(n)
	w.sink.Sample(sources.Sample{Series: s, At: now, Span: span, N: int64(n), Sum: float64(sum), Min: v, Max: v, Last: v})
}

// link takes in the state of the link; only a change is an event.
func (w *watcher) link(at time.Time, up bool) {
	switch {
	case up == w.up || !w.present:
	case up:
		w.up = true
		// A driver that re-initialises may lose what it had not yet added up.
		w.mac.baseline()
		w.queues.baseline()
		w.event(sources.Event{At: at, Kind: sources.LinkUp, Span: at.Sub(w.downSince), Text: w.iface + " link up"})
	default:
		w.lose(at, w.iface+" link down")
	}
}

func (w *watcher) lose(at time.Time, text string) {
	if w.up {
		w.downSince = at
	}
	w.up = false
	w.event(sources.Event{At: at, Kind: sources.LinkDown, Text: text})
}

func (w *watcher) baseline() {
	w.stack.baseline()
	w.mac.baseline()
	w.queues.baseline()
}

func (w *watcher) note(at time.Time, text string) {
	w.event(sources.Event{At: at, Kind: sources.SourceNote, Text: text})
}

func (w *watcher) event(e sources.Event) {
	e.Source, e.Subject = "nic", w.iface
	w.sink.Event(e)
}
