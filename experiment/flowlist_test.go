package experiment

import (
	"net/netip"
	"testing"
	"time"

	"netwatch/sources"
)

func ofFlow(source, id string, m sources.Metric) sources.Series {
	return sources.Series{Source: source, Subject: id, Metric: m}
}

// What a flow's row says is what the chart of the same figure says, and it goes when
// the chart's has its question mark.
func TestAFlowsFigureIsTheCharts(t *testing.T) {
	f := newFeed()
	out, cw := ofFlow("siftr2", "dd7fc950", sources.Goodput), ofFlow("siftr2", "dd7fc950", sources.Cwnd)
	f.step(5*time.Second, map[sources.Series]float64{out: 117e6, cw: 750e3})
	f.step(poll, map[sources.Series]float64{out: 39e6, cw: 740e3})
	fl := f.Flows()[0]
	for range 30 {
		for _, c := range []struct {
			q *Quantity
			m sources.Metric
		}{{Goodput, sources.Goodput}, {Cwnd, sources.Cwnd}} {
			tr := f.Find(c.q, "")
			want, told := tr.Now()
			if _, stale := tr.Stale(f.Now()); stale {
				want, told = 0, false
			}
			if got, ok := fl.Now(c.m, f.Now()); got != want || ok != told {
				t.Fatalf("%s is %v %v at %v, the chart has %v %v", c.q.Name, got, ok, f.Now().Sub(f.Start), want, told)
			}
		}
		f.step(poll, nil)
	}
	if v, ok := fl.Now(sources.Goodput, f.Now()); ok {
		t.Errorf("three seconds after its last figure it still has %v", v)
	}
}

func TestAFlowThatEndedHasNoFigure(t *testing.T) {
	f := newFeed()
	f.event(sources.Event{Kind: sources.FlowSeen, Source: "tcp", Subject: "a", Flow: &sources.Flow{ID: "a"}})
	f.step(5*time.Second, map[sources.Series]float64{sender: 1e6})
	end := f.at
	f.event(sources.Event{Kind: sources.FlowEnded, Source: "tcp", Subject: "a"})
	fl := f.Flows()[0]
	if v, ok := fl.Now(sources.Goodput, f.Now()); ok {
		t.Errorf("it has %v", v)
	}
	f.step(4*time.Second, nil)
	if v, ok := fl.At(sources.Goodput, end.Add(-500*ms)); !ok || !near(v, 1e6) {
		t.Errorf("before it ended it had %v %v", v, ok)
	}
	if v, ok := fl.At(sources.Goodput, end.Add(time.Second)); ok {
		t.Errorf("a second after its end it had %v", v)
	}
}

func TestFlowsOfAPastTime(t *testing.T) {
	f := newFeed()
	a, b := ofFlow("tcp", "a", sources.Goodput), ofFlow("tcp", "b", sources.Goodput)
	f.step(10*time.Second, map[sources.Series]float64{a: 1e6})
	f.step(10*time.Second, map[sources.Series]float64{a: 2e6, b: 7e6})
	at := func(s float64) time.Time { return f.Start.Add(time.Duration(s * float64(time.Second))) }
	if rows := f.FlowsAt(at(5)); len(rows) != 1 || rows[0].ID != "a" {
		t.Fatalf("%d flows after five seconds", len(rows))
	}
	if rows := f.FlowsAt(at(15)); len(rows) != 2 || rows[0].ID != "b" {
		t.Fatalf("%d flows after fifteen seconds, or in the wrong order", len(rows))
	}
	for _, c := range []struct{ at, want float64 }{{5, 1e6}, {5.7, 1e6}, {15, 2e6}, {15.2, 2e6}} {
		v, ok := f.FlowsAt(at(15))[1].At(sources.Goodput, at(c.at))
		if !ok || !near(v, c.want) {
			t.Errorf("at %v: %v %v, want %v", c.at, v, ok, c.want)
		}
	}
	if fl := f.BusiestAt("", at(15)); fl == nil || fl.ID != "b" {
		t.Errorf("busiest then: %+v", fl)
	}
	if fl := f.BusiestAt("", at(5)); fl == nil || fl.ID != "a" {
		t.Errorf("busiest after five seconds: %+v", fl)
	}
	tr := f.Find(Goodput, "")
	if early, late := f.SubjectAt(tr, at(5)), f.SubjectAt(tr, at(15)); early != "a" || late != "b" {
		t.Errorf("the chart was of %q, then of %q; want a, then b", early, late)
	}
}

// A source that was silent then, and one that is silent now, change nothing of what is
// shown of a past time.
func TestThePastKeepsItsSource(t *testing.T) {
	f := newFeed()
	log, gen := ofFlow("siftr2", "a", sources.Cwnd), ofFlow("iperf3", "5", sources.Cwnd)
	out := ofFlow("siftr2", "a", sources.Goodput)
	f.step(5*time.Second, map[sources.Series]float64{gen: 10})
	f.step(5*time.Second, map[sources.Series]float64{gen: 10, log: 12, out: 1e6})
	f.step(9*time.Second, map[sources.Series]float64{gen: 10})
	for seconds, want := range map[time.Duration]string{4: "iperf3", 8: "siftr2", 18: "iperf3"} {
		if tr := f.FindAt(Cwnd, "", f.Start.Add(seconds*time.Second), time.Minute); tr.Origin.Source != want {
			t.Errorf("after %d s: %s, want %s", seconds, tr.Origin.Source, want)
		}
	}
}

// At the edge of a view a row and a chart have the same figure, whatever the ring.
func TestTheEdgeIsTheSameInEveryRing(t *testing.T) {
	f := newFeed()
	cw := ofFlow("tcp", "a", sources.Cwnd)
	for i := range 100 {
		f.step(poll, map[sources.Series]float64{sender: 1e6 * float64(1+i%7), cw: 1e5 * float64(1+i%9)})
	}
	fl := f.Flows()[0]
	for i := range 60 {
		at := f.Start.Add(3*time.Second + time.Duration(i)*117*ms)
		for q, m := range map[*Quantity]sources.Metric{Goodput: sources.Goodput, Cwnd: sources.Cwnd} {
			want, _ := f.Find(q, "").At(at)
			if got, ok := fl.At(m, at); !ok || !near(got, want) {
				t.Fatalf("%s at %v: row %v %v, chart %v", q.Name, at.Sub(f.Start), got, ok, want)
			}
		}
	}
}

func TestALogThatEndsIsNotTheEndOfItsConnection(t *testing.T) {
	l, r := netip.MustParseAddrPort("10.1.1.2:54321"), netip.MustParseAddrPort("10.1.1.3:5201")
	seen := func(f *feed, source, id string) {
		f.event(sources.Event{Kind: sources.FlowSeen, Source: source, Subject: id, Flow: &sources.Flow{ID: id, Local: l, Remote: r}})
	}
	log := ofFlow("siftr2", "dd7fc950", sources.Goodput)
	f := newFeed()
	seen(f, "tcp", "a")
	seen(f, "siftr2", "dd7fc950")
	f.step(2*time.Second, map[sources.Series]float64{sender: 5e6, log: 5e6})
	f.event(sources.Event{Kind: sources.FlowEnded, Source: "siftr2", Subject: "dd7fc950"})
	f.step(2*time.Second, map[sources.Series]float64{sender: 6e6})
	row := f.Flows()[0]
	if v, ok := row.Now(sources.Goodput, f.Now()); row.Over(f.Now()) || !ok || !near(v, 6e6) {
		t.Errorf("the kernel still has it, and the row has %v %v", v, ok)
	}
	f.event(sources.Event{Kind: sources.FlowEnded, Source: "tcp", Subject: "a"})
	if !f.Flows()[0].Over(f.Now()) {
		t.Error("the kernel has it no more, and the row lives")
	}
}

// A receiver's window is in no row, as it is in no chart.
func TestAReceiversRowHasNoWindow(t *testing.T) {
	f := newFeed()
	in, cw, rtt := ofFlow("tcp", "a", sources.RxGood), ofFlow("tcp", "a", sources.Cwnd), ofFlow("tcp", "a", sources.SRTT)
	f.step(4*time.Second, map[sources.Series]float64{sender: 100, in: 25e6, cw: 14480, rtt: 26})
	fl := f.Flows()[0]
	for _, m := range []sources.Metric{sources.Cwnd, sources.SRTT} {
		if v, ok := fl.Now(m, f.Now()); ok {
			t.Errorf("%s %v", m.Name, v)
		}
	}
	if v, ok := fl.Now(sources.RxGood, f.Now()); !ok || !near(v, 25e6) {
		t.Errorf("in: %v %v", v, ok)
	}
	if !f.OnlyReceives("") {
		t.Error("it is not said that the host only receives")
	}
	f.step(4*time.Second, map[sources.Series]float64{sender: 25e6, in: 100})
	if f.OnlyReceives("") {
		t.Error("a sender is said only to receive")
	}
}

// A receiver's first figures may come before what it moved, in the same Batch.
func TestAReceiversFirstFiguresAreNotCharted(t *testing.T) {
	f := newFeed()
	f.step(poll, nil)
	var all []sources.Sample
	for _, m := range []sources.Metric{sources.Cwnd, sources.SRTT, sources.Goodput, sources.RxGood} {
		sr := ofFlow("siftr2", "a", m)
		v := sources.Reading(f.intern(sr), f.at, poll, 14480)
		if m.Agg == sources.PerTime {
			v = sources.Amount(f.intern(sr), f.at, poll, 0)
		}
		all = append(all, v)
	}
	f.Apply(sources.Batch{At: f.at, Samples: all})
	for _, q := range []*Quantity{Cwnd, SRTT} {
		if tr := f.Find(q, ""); tr != nil && !tr.Last.At.IsZero() {
			t.Errorf("%s %v is charted", q.Name, tr.Last.Last)
		}
	}
}

func TestFiguresOfAHostThatIsGone(t *testing.T) {
	f := newFeed()
	out := sources.Series{Host: "r1", Source: "tcp", Subject: "a", Metric: sources.Goodput}
	f.event(sources.Event{Kind: sources.SourceUp, Host: "r1", Source: PeerSource})
	f.step(2*time.Second, map[sources.Series]float64{out: 1e6})
	f.event(sources.Event{Kind: sources.SourceGone, Host: "r1", Source: PeerSource})
	if v, ok := f.Flows()[0].Now(sources.Goodput, f.Now()); ok {
		t.Errorf("its flow has %v", v)
	}
}

// Shares that are always zero are no column of the table. Packets are counted where
// the log holds all of them.
func TestWhatALogTellsOfItsPackets(t *testing.T) {
	f := newFeed()
	recov, full, n := ofFlow("siftr2", "a", sources.Recovery), ofFlow("siftr2", "a", sources.SndLimited), ofFlow("siftr2", "a", sources.Records)
	out := ofFlow("siftr2", "a", sources.Goodput)
	column := func(q *Quantity) (float64, bool) {
		tab := f.TableOf("", []*Quantity{q})
		c := tab.Rows[len(tab.Rows)-1].Cells[0]
		if c.Track == nil {
			return 0, false
		}
		return c.Whole.Mean(c.Track.Origin.Metric.Agg)
	}
	f.step(8*time.Second, map[sources.Series]float64{out: 1e6, recov: 0, full: 0, n: 661})
	if v, ok := column(Recovery); ok {
		t.Errorf("a column of recovery: %v", v)
	}
	if v, ok := column(FlowPkts); !ok || !near(v, 661) {
		t.Errorf("packets %v %v, want 661", v, ok)
	}
	f.step(8*time.Second, map[sources.Series]float64{out: 1e6, recov: 0.5, full: 0, n: 661})
	if v, ok := column(Recovery); !ok || v < 0.1 || v > 0.4 {
		t.Errorf("recovery %v %v, want less than a half", v, ok)
	}
	if v, ok := column(SndLimited); ok {
		t.Errorf("a column of the send buffer: %v", v)
	}
	f.event(sources.Event{Kind: sources.LogSampled, Source: "siftr2", Text: "ppl=10"})
	last := f.Find(FlowPkts, "").Last.At
	f.step(3*time.Second, map[sources.Series]float64{out: 1e6, n: 66})
	if tr := f.Find(FlowPkts, ""); tr.Last.At.After(last) {
		t.Errorf("every tenth packet is counted as %v packets", tr.Last.Sum)
	}
}

func TestPickIsTheSameTableWithFewerColumns(t *testing.T) {
	f := newFeed()
	f.step(8*time.Second, map[sources.Series]float64{cpu: 0.5, ping: 200})
	f.Finish()
	all, two := f.TableOf("", Quantities()), []*Quantity{PingRTT, CPU}
	got, want := all.Pick(two), f.TableOf("", two)
	for j := range two {
		if g, w := got.Rows[0].Cells[j], want.Rows[0].Cells[j]; g != w || g.Track == nil {
			t.Errorf("%s: %+v, want %+v", two[j].Name, g, w)
		}
	}
}
