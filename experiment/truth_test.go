package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// A noticed connection is said to be over later than the load generator says it of
// its run; the run ends when the generator says so, and what follows is idle.
func TestARunEndsWhenItsLoadGeneratorSaysSo(t *testing.T) {
	f := newFeed()
	run := func(kind sources.EventKind, source, subject string, at time.Time) {
		f.event(sources.Event{At: at, Kind: kind, Source: source, Subject: subject})
	}
	f.step(4*time.Second, map[sources.Series]float64{ping: 200})
	began := f.at
	run(sources.RunStarted, "iperf3", "iperf3 #1", began)
	f.step(time.Second, map[sources.Series]float64{ping: 3000})
	run(sources.RunStarted, "tcp", "noticed #1", began)
	f.step(7*time.Second, map[sources.Series]float64{ping: 3000})
	ended := f.at
	run(sources.RunEnded, "iperf3", "iperf3 #1", ended)
	if _, _, on := f.Run(); on {
		t.Error("a run is still on after its generator ended it")
	}
	f.step(time.Second, map[sources.Series]float64{ping: 200})
	run(sources.RunEnded, "tcp", "noticed #1", f.at)
	f.step(5*time.Second, map[sources.Series]float64{ping: 200})
	f.Finish()
	tab := f.Table("")
	if m, n := mean(t, tab, 1, PingRTT); !near(m, 3000) || n != 60 || !near(tab.Rows[1].Seconds, 6) || tab.Rows[1].Runs != 1 {
		t.Errorf("run: mean %v n %d, %v s, %d runs; want 3000, 60, 6 s, 1", m, n, tab.Rows[1].Seconds, tab.Rows[1].Runs)
	}
	for _, e := range f.Events() {
		if e.Subject == "noticed #1" {
			t.Errorf("listed: %v %s", e.Kind, e.Subject)
		}
	}
}

// A connection that was noticed before the generator spoke is the generator's run.
func TestAGeneratorTakesOverANoticedRun(t *testing.T) {
	f := newFeed()
	f.event(sources.Event{Kind: sources.RunStarted, Source: "tcp", Subject: "noticed #1"})
	f.step(time.Second, nil)
	f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
	f.step(time.Second, nil)
	f.event(sources.Event{Kind: sources.RunEnded, Source: "iperf3", Subject: "iperf3 #1"})
	if n, _, on := f.Run(); on || n != 1 {
		t.Errorf("run %d on %v, want the one run to be over", n, on)
	}
}

// Eight rows of a run of eight seconds: all eight count for the whole, the last six
// for the settled mean, although the rows are placed some milliseconds early.
func TestRowsThatTouchABorderCount(t *testing.T) {
	f := newFeed()
	row := f.intern(iperf)
	f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
	began := f.at
	for i := 1; i <= 8; i++ {
		f.step(time.Second, nil)
		at := began.Add(time.Duration(i)*time.Second - 7*time.Millisecond)
		f.Apply(sources.Batch{At: f.at, Samples: []sources.Sample{sources.Amount(row, at, time.Second, float64(i))}})
	}
	f.event(sources.Event{Kind: sources.RunEnded, Source: "iperf3", Subject: "iperf3 #1"})
	f.step(4*time.Second, nil)
	f.Finish()
	tab := f.Table("")
	cell := tab.Rows[len(tab.Rows)-1].Cells[0]
	for _, r := range tab.Rows {
		if r.Loaded {
			cell = r.Cells[0]
		}
	}
	if whole, _ := cell.Whole.Mean(sources.PerTime); cell.Whole.N != 8 || !near(whole, 4.5) {
		t.Errorf("whole: n %d mean %v, want 8 and 4.5", cell.Whole.N, whole)
	}
	if settled, _ := cell.Sum.Mean(sources.PerTime); cell.Sum.N != 6 || !near(settled, 5.5) {
		t.Errorf("settled: n %d mean %v, want 6 and 5.5", cell.Sum.N, settled)
	}
}

// The window and RTT of a connection that sends nothing are not the load's: the
// control connection of a UDP run, a receiver's end.
func TestOnlyASenderHasAWindowToShow(t *testing.T) {
	for name, rates := range map[string][2]float64{"control": {40, 30}, "receiver": {0, 25e6}} {
		f := newFeed()
		in := sources.Series{Source: "tcp", Subject: "a", Metric: sources.RxGood}
		cw := sources.Series{Source: "tcp", Subject: "a", Metric: sources.Cwnd}
		f.step(4*time.Second, map[sources.Series]float64{sender: rates[0], in: rates[1], cw: 14480})
		if tr := f.Find(Cwnd, ""); tr != nil && !tr.Last.At.IsZero() {
			t.Errorf("%s: cwnd %v is charted", name, tr.Last.Last)
		}
	}
	f := newFeed() // two connections, one each way: the sending one is shown
	in := sources.Series{Source: "tcp", Subject: "b", Metric: sources.RxGood}
	f.step(4*time.Second, map[sources.Series]float64{
		sender: 1e6, {Source: "tcp", Subject: "a", Metric: sources.Cwnd}: 393e3,
		in: 25e6, {Source: "tcp", Subject: "b", Metric: sources.Goodput}: 0, {Source: "tcp", Subject: "b", Metric: sources.Cwnd}: 15e3,
	})
	if v, ok := f.Find(Cwnd, "").Now(); !ok || v != 393e3 {
		t.Errorf("cwnd %v %v, want the sender's 393000", v, ok)
	}
}
