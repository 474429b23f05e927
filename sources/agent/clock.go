package agent

import (
	"context"
	"time"

	"netwatch/experiment/recording"
)

const (
	// exchanges is how many are looked back on: the clocks drift apart, so the best of
	// the last minute or so counts, not the best ever.
	exchanges  = 32
	clockEvery = 2 * time.Second // also what tells each side that the other is there
	clockSoon  = 200 * time.Millisecond
	soon       = 8 // exchanges come fast at first, until there are some to choose from
)

// A clock compares the agent's clock with this one by asking what time it is.
type clock struct {
	last []exchange // newest last
}

type exchange struct{ ahead, half time.Duration }

// add takes an exchange that was asked at sent and answered here at back.
func (c *clock) add(sent, there, back time.Time) {
	half := back.Sub(sent) / 2
	c.last = append(c.last, exchange{there.Sub(sent.Add(half)), half})
	c.last = c.last[max(0, len(c.last)-exchanges):]
}

// best is the exchange with the shortest round trip.
func (c *clock) best() (ahead, half time.Duration, ok bool) {
	for i, x := range c.last {
		if i == 0 || x.half <= half {
			ahead, half = x.ahead, x.half
		}
	}
	return ahead, half, len(c.last) > 0
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
