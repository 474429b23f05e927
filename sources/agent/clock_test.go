package agent

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	var c clock
	sent := time.Unix(100, 0)
	if _, _, ok := c.at(sent); ok {
		t.Error("an offset out of nothing")
	}
	at := func(ms int) time.Time { return sent.Add(time.Duration(ms) * time.Millisecond) }
	is := func(now time.Time, wantAhead, wantWithin time.Duration) {
		t.Helper()
		ahead, within, ok := c.at(now)
		if !ok || (ahead-wantAhead).Abs() > 2*time.Microsecond || (within-wantWithin).Abs() > 2*time.Microsecond {
			t.Errorf("%v within %v, want %v within %v", ahead, within, wantAhead, wantWithin)
		}
	}
	c.add(sent, at(3050), at(400)) // 2.65 s to 3.05 s
	is(at(400), 2850*time.Millisecond, 200*time.Millisecond)
	is(at(10400), 2850*time.Millisecond, 201*time.Millisecond) // 10 s of 100 ppm
	c.add(at(10400), at(13404), at(10410))                     // 2.994 s to 3.004 s
	is(at(10410), 2999*time.Millisecond, 5*time.Millisecond)
	c.add(at(20410), at(23410), at(20450)) // 2.96 s to 3 s; the one before says 2.992996 s to 3.005004 s
	is(at(20450), 2996498*time.Microsecond, 3502*time.Microsecond)
	c.add(at(30000), at(35005), at(30010)) // it was set to be 5 s ahead
	is(at(30010), 5*time.Second, 5*time.Millisecond)
}

// What is shown is true: with clocks that drift apart, and round trips of all lengths of
// which one direction may take all, the true difference is always within what is told,
// right after an exchange and until the next one.
func TestTheClockHoldsItsWord(t *testing.T) {
	for _, ppm := range []time.Duration{0, 20, 50, 100, -100} {
		random := rand.New(rand.NewPCG(1, 2))
		begin := time.Unix(1e9, 0)
		truth := func(now time.Time) time.Duration { return 3*time.Millisecond + now.Sub(begin)*ppm/1e6 }
		var c clock
		var most, sum time.Duration
		const n = 559
		for i := range n {
			sent := begin.Add(time.Duration(i) * clockEvery)
			trip := 300*time.Microsecond + time.Duration(random.ExpFloat64()*float64(300*time.Microsecond))
			answered := sent.Add(time.Duration(random.Float64() * float64(trip)))
			back := sent.Add(trip)
			c.add(sent.Truncate(tick), answered.Add(truth(answered)).Truncate(tick), back)
			for _, now := range []time.Time{back, sent.Add(clockEvery)} {
				ahead, within, _ := c.at(now)
				if wrong := (ahead - truth(now)).Abs(); wrong > within {
					t.Errorf("%d ppm, exchange %d: wrong by %v, told within %v", ppm, i, wrong, within)
				}
				most, sum = max(most, within), sum+within
			}
			if len(c.last) > exchanges {
				t.Fatalf("%d exchanges are kept", len(c.last))
			}
		}
		if most > time.Millisecond {
			t.Errorf("%d ppm: it is told within %v", ppm, most)
		}
		t.Logf("%d ppm: within %v at most, %v on average", ppm, most, sum/(2*n))
	}
}
