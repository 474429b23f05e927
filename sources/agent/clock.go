package agent

import (
	"context"
	"slices"
	"time"

	"netwatch/experiment/recording"
)

const (
	exchanges  = 32              // so many are looked back on: what is older tells nothing any more
	clockEvery = 2 * time.Second // also what tells each side that the other is there
	clockSoon  = 200 * time.Millisecond
	soon       = 8 // exchanges come fast at first, until there are some to choose from
)

// driftMost is how fast two clocks are taken to drift apart, in parts per million. A
// crystal is within 50 or so of its rate. A clock that is set anew, or that a time daemon
// slews faster than this, is followed from the exchange after.
const driftMost = 100

// tick is what a time loses on its way: exchanges tell microseconds.
const tick = time.Microsecond

// A clock compares the agent's clock with this one by asking what time it is. Each
// exchange proves between what the difference was: the agent told its time after it was
// asked and before its answer came. How long ago that is widens it by what the clocks
// may have drifted since, driftMost. The difference is in what all exchanges have in
// common, whose middle and half width are told: half of the shortest round trip or less
// as long as that is fresh, and never less than is proven.
type clock struct {
	last []exchange // newest last
}

// An exchange tells that at a time the agent's clock was ahead by least to most.
type exchange struct {
	at          time.Time
	least, most time.Duration
}

// add takes an exchange that was asked at sent and answered here at back.
func (c *clock) add(sent, there, back time.Time) {
	c.last = append(c.last, exchange{back, there.Sub(back) - tick, there.Sub(sent) + tick})
	c.last = c.last[max(0, len(c.last)-exchanges):]
}

// at tells the difference at a time, and within what. An exchange that contradicts the
// newer ones was before a clock was set: it and what is older do not count.
func (c *clock) at(now time.Time) (ahead, within time.Duration, ok bool) {
	var least, most time.Duration
	for i, x := range slices.Backward(c.last) {
		drift := now.Sub(x.at).Abs() * driftMost / 1e6
		lo, hi := x.least-drift, x.most+drift
		if i < len(c.last)-1 {
			lo, hi = max(lo, least), min(hi, most)
		}
		if lo > hi {
			break
		}
		least, most = lo, hi
	}
	return least + (most-least)/2, (most - least + 1) / 2, len(c.last) > 0
}

// askClock asks now and then until ctx ends or the agent is gone.
func (c *Client) askClock(ctx context.Context) {
	for n := int64(1); ; n++ {
		at := c.cfg.now()
		q := recording.Clock{ID: n, At: at.UnixMicro(), Silence: silenceThere.Microseconds()}
		if c.send(recording.Request{Clock: &q}) != nil {
			return
		}
		every := clockEvery
		if n < soon {
			every = clockSoon
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		case <-c.gone:
			return
		}
	}
}

// compared takes an answer about the clock; false for one that cannot be.
func (c *Client) compared(a recording.Clock) bool {
	c.seen.Store(a.Up)
	c.comes()
	back := c.cfg.now()
	sent := time.UnixMicro(a.At)
	if back.Before(sent) || back.Sub(sent) > time.Minute {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.add(sent, time.UnixMicro(a.Now), back)
	return true
}
