package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// A sender that gets nothing through still sends: its window is what one looks at then. The
// control connection beside it moves more and is not charted in its place.
func TestAStarvedSenderStillSends(t *testing.T) {
	of := func(id string, m sources.Metric) sources.Series { return ofFlow("tcp", id, m) }
	for name, c := range map[string]struct{ out, inflight float64 }{"8 kB/s": {8000, 0}, "nothing": {0, 1448}} {
		f := newFeed()
		load := map[sources.Series]float64{of("a", sources.Goodput): 10e6, of("a", sources.Inflight): 60e3, of("a", sources.Cwnd): 90e3}
		control := map[sources.Series]float64{of("c", sources.Goodput): 1000, of("c", sources.RxGood): 1000, of("c", sources.Inflight): 0, of("c", sources.Cwnd): 14480}
		for s, v := range control {
			load[s] = v
		}
		f.step(5*time.Second, load)
		load[of("a", sources.Goodput)], load[of("a", sources.Inflight)], load[of("a", sources.Cwnd)] = c.out, c.inflight, 1448
		f.step(30*time.Second, load)
		cwnd := f.Find(Cwnd, "")
		if v, ok := cwnd.Now(); v != 1448 || !ok || f.alive(cwnd) != true || f.OnlyReceives("") {
			t.Errorf("%s: cwnd is %v %v, alive %v, only receives %v", name, v, ok, f.alive(cwnd), f.OnlyReceives(""))
		}
		if fl := f.Charted(""); fl == nil || fl.ID != "a" {
			t.Errorf("%s: charted is %+v", name, fl)
		}
		if v, ok := f.flows.byID[flowKey{"", "tcp", "c"}].Now(sources.Cwnd, f.Now()); ok {
			t.Errorf("%s: the control connection has cwnd %v", name, v)
		}
	}
}

// A receiver whose sender starves does not send, nor does a connection when its data was
// acknowledged.
func TestWhoDoesNotSend(t *testing.T) {
	of := func(m sources.Metric) sources.Series { return ofFlow("tcp", "a", m) }
	for name, c := range map[string]struct{ first, then map[sources.Series]float64 }{
		"receiver": {map[sources.Series]float64{of(sources.Goodput): 0, of(sources.RxGood): 10e6, of(sources.Inflight): 0},
			map[sources.Series]float64{of(sources.Goodput): 0, of(sources.RxGood): 2000, of(sources.Inflight): 0, of(sources.Cwnd): 14480}},
		"turned receiver": {map[sources.Series]float64{of(sources.Goodput): 10e6, of(sources.RxGood): 0, of(sources.Inflight): 60e3},
			map[sources.Series]float64{of(sources.Goodput): 2000, of(sources.RxGood): 10e6, of(sources.Inflight): 100, of(sources.Cwnd): 14480}},
		"idle sender": {map[sources.Series]float64{of(sources.Goodput): 10e6, of(sources.RxGood): 0, of(sources.Inflight): 60e3},
			map[sources.Series]float64{of(sources.Goodput): 0, of(sources.RxGood): 0, of(sources.Inflight): 0, of(sources.Cwnd): 14480}},
	} {
		f := newFeed()
		f.step(5*time.Second, c.first)
		f.step(15*time.Second, c.then)
		if !f.OnlyReceives("") {
			t.Errorf("%s: it counts as sending", name)
		}
		if v, ok := f.Flows()[0].Now(sources.Cwnd, f.Now()); ok {
			t.Errorf("%s: its cwnd is %v", name, v)
		}
	}
}

// In a load that goes both ways the row with the mark is the one of the charts, also of a
// past time: the connection that sends, though the other one moves more.
func TestTheMarkIsWithTheCharts(t *testing.T) {
	f := newFeed()
	f.step(10*time.Second, map[sources.Series]float64{
		ofFlow("tcp", "out", sources.Goodput): 10e6, ofFlow("tcp", "out", sources.Cwnd): 90e3,
		ofFlow("tcp", "in", sources.RxGood): 50e6, iperf: 10e6})
	cwnd := f.Find(Cwnd, "")
	if fl := f.Charted(""); fl.ID != "out" || cwnd.Subject != "out" {
		t.Errorf("the mark is at %q, cwnd is of %q", fl.ID, cwnd.Subject)
	}
	if fl := f.ChartedAt("", f.at.Add(-4*time.Second)); fl == nil || fl.ID != "out" {
		t.Errorf("four seconds ago the mark was at %+v", fl)
	}
}
