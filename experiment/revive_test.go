package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// A link is away for 4 s, here or at the other end. The sender tries again 2.2 s after it is
// back and then needs a while: what it moves before two seconds are over from then on does
// not count, nor does the wait.
func TestALoadSettlesWhenItMovesAgain(t *testing.T) {
	for _, host := range []string{"", "r1"} {
		f := newFeed()
		f.knob("tso", "off", sources.LinkReset)
		f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
		f.step(10*time.Second, map[sources.Series]float64{iperf: 190, ping: 200})
		f.event(sources.Event{Kind: sources.LinkDown, Host: host, Source: "nic", Subject: "em4"})
		f.step(4*time.Second, map[sources.Series]float64{iperf: 0})
		f.event(sources.Event{Kind: sources.LinkUp, Host: host, Source: "nic", Subject: "em4", Span: 4 * time.Second})
		f.step(2200*ms, map[sources.Series]float64{iperf: 0, ping: 300})
		f.step(1500*ms, map[sources.Series]float64{iperf: 48.5, ping: 300})
		f.step(5*time.Second, map[sources.Series]float64{iperf: 190, ping: 200})
		f.Finish()
		tab := f.Table("")
		// 10 s less 2 s, and 6.5 s less the first poll that moved something and 2 s.
		for q, want := range map[*Quantity]float64{Goodput: 190, PingRTT: 200} {
			if m, n := mean(t, tab, 0, q); !near(m, want) || n != 80+44 {
				t.Errorf("%q %s: mean %v n %d, want %v and 124", host, q.Name, m, n, want)
			}
		}
	}
}

// Nobody waits longer for a load than it may need, and not at all for one that has ended,
// nor where nobody tells what it moves.
func TestALoadIsNotWaitedForLong(t *testing.T) {
	for name, c := range map[string]struct {
		told, ended bool
		n           int64 // pings of 20 s after the link came back
	}{"silent": {true, false, 200 - 120}, "ended": {true, true, 180}, "untold": {false, false, 180}} {
		f := newFeed()
		figures := map[sources.Series]float64{ping: 200}
		if c.told {
			figures[iperf] = 190
		}
		f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
		f.step(10*time.Second, figures)
		f.event(sources.Event{Kind: sources.LinkDown, Source: "nic", Subject: "em4"})
		f.step(time.Second, nil)
		f.event(sources.Event{Kind: sources.LinkUp, Source: "nic", Subject: "em4", Span: time.Second})
		if c.ended {
			f.event(sources.Event{Kind: sources.RunEnded, Source: "iperf3", Subject: "iperf3 #1"})
		}
		f.step(20*time.Second, map[sources.Series]float64{ping: 200})
		f.Finish()
		var n int64
		for i := range f.Table("").Rows {
			if _, k := mean(t, f.Table(""), i, PingRTT); k > 0 {
				n += k
			}
		}
		if n -= 80; n != c.n {
			t.Errorf("%s: %d pings count after the gap, want %d", name, n, c.n)
		}
	}
}
