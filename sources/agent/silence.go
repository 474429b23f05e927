package agent

import (
	"context"
	"fmt"
	"time"

	"netwatch/experiment/recording"
)

// A link can be lost without a word: a cable is out, a host is without power, and TCP
// tries on for a quarter of an hour. So each side of a link to another host listens for
// the other one, which the question about the clock and its answer make speak each
// clockEvery. The side here is the first to give up. A card whose link is reset needs
// three seconds and TCP as long again to notice, and what is turned may be the card that
// the link goes over: such a turn must not cost the link.
//
// Silence is counted in looks, each of them a second after the one before, never by a
// clock: to a process that was stopped or a laptop that slept, however long, it is one
// look, and what waits in the pipe is read before the next. The other side did count:
// when netwatch was stopped for longer than silenceThere, the far end has put back what
// it turned, and says so in its last words.
//
// An agent of this host has no link that could be lost: its pipe ends when netwatch
// does, however that goes, and as long as netwatch is only stopped nothing is put back.
const (
	silenceHere  = 8 * time.Second
	silenceThere = 10 * time.Second
	silenceFirst = 30 * time.Second // until its first answer: names are looked up, sshd thinks
	silenceLast  = 30 * time.Second // when it was told to end: it puts back
	silenceTold  = 3 * time.Second  // from then on it is asked for nothing new
	look         = time.Second
)

// listen gives up a far end that says nothing.
func (c *Client) listen(ctx context.Context, messenger child) {
	looks := time.NewTicker(look)
	defer looks.Stop()
	for before := int64(0); ; {
		select {
		case <-looks.C:
		case <-c.gone:
			return
		}
		if now := c.heard.Load(); now != before {
			before = now
			c.quiet.Store(0)
			continue
		}
		limit := silenceFirst
		select {
		case <-c.ready:
			if limit = silenceHere; ctx.Err() != nil {
				limit = silenceLast
			}
		default:
		}
		if time.Duration(c.quiet.Add(int64(look))) >= limit {
			c.silent.Store(true)
			messenger.Kill()
			return
		}
	}
}

// Quiet is how long the agent has said nothing though it should have, 0 while that means
// nothing yet: it is silent only after its first answer.
func (c *Client) Quiet() time.Duration {
	if quiet := time.Duration(c.quiet.Load()); quiet >= silenceTold && c.spoke.Load() {
		return quiet
	}
	return 0
}

// A SilenceError is what an agent ends with whose asker promised to speak and did not.
type SilenceError struct{ Limit time.Duration }

// Error tells it to the asker, should it be there after all.
func (e *SilenceError) Error() string {
	return fmt.Sprintf("no word from the other end for %v (the link was lost, or netwatch there was stopped): what was turned is put back", e.Limit)
}

// attend ends the agent when its asker is silent for as long as it has promised not to be.
func (s *server) attend(ctx context.Context, limit time.Duration, end func()) {
	looks := time.NewTicker(look)
	defer looks.Stop()
	before, quiet := s.heard.Load(), time.Duration(0)
	for {
		select {
		case <-looks.C:
		case <-ctx.Done():
			return
		}
		if now := s.heard.Load(); now != before {
			before, quiet = now, 0
			continue
		}
		if quiet += look; quiet >= limit {
			s.silent.Store(int64(limit))
			end()
			return
		}
	}
}

// clock answers what time it is. The first question that promises more begins the
// listening for them.
func (s *server) clock(ctx context.Context, q recording.Clock, end func()) {
	if limit := time.Duration(q.Silence) * time.Microsecond; limit > 0 {
		s.attended.Do(func() { go s.attend(ctx, max(limit, 2*look), end) })
	}
	q.Now, q.Up, q.Silence = s.cfg.now().UnixMicro(), time.Since(s.began).Microseconds(), 0
	s.out.answer(recording.Answer{Clock: &q})
}

// late tells a request that was under way for so long that its asker has given up:
// the link stood still, or this agent did. What it asks for is not done any more.
func (s *server) late(q recording.Request) bool {
	var seen int64
	switch {
	case q.Turn != nil:
		seen = q.Turn.Seen
	case q.Keep != nil:
		seen = q.Keep.Seen
	}
	return seen > 0 && time.Since(s.began)-time.Duration(seen)*time.Microsecond > silenceThere
}
