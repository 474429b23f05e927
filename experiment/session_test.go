package experiment

import (
	"errors"
	"math"
	"net/netip"
	"testing"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

var t0 = time.Date(2024, 10, 24, 9, 0, 0, 0, time.UTC)

const (
	ms   = time.Millisecond
	poll = 100 * ms
)

// A feed builds a session batch by batch; its clock goes on with step.
type feed struct {
	*Session
	at     time.Time
	series map[sources.Series]*sources.Series
}

func newFeed() *feed {
	return &feed{Session: New(Options{Start: t0, Interface: "em4"}), at: t0, series: map[sources.Series]*sources.Series{}}
}

func (f *feed) intern(s sources.Series) *sources.Series {
	p := f.series[s]
	if p == nil {
		p = &s
		f.series[s] = p
	}
	return p
}

func (f *feed) event(e sources.Event) {
	if e.At.IsZero() {
		e.At = f.at
	}
	f.Apply(sources.Batch{At: f.at, Events: []sources.Event{e}})
}

// step lets d go by with the figures of one poll in every 100 ms.
func (f *feed) step(d time.Duration, figures map[sources.Series]float64) {
	for end := f.at.Add(d); f.at.Before(end); {
		f.at = f.at.Add(poll)
		b := sources.Batch{At: f.at}
		for s, v := range figures {
			p := f.intern(s)
			if s.Metric.Agg == sources.PerTime {
				b.Samples = append(b.Samples, sources.Amount(p, f.at, poll, v*poll.Seconds()))
			} else {
				b.Samples = append(b.Samples, sources.Reading(p, f.at, poll, v))
			}
		}
		f.Apply(b)
	}
}

func (f *feed) knob(name, value string, d sources.Disruption) {
	f.event(sources.Event{Kind: sources.KnobSeen, Subject: name, New: value, Knob: &sources.KnobSpec{Name: name, Subject: "em4", Disruption: d}})
}

func (f *feed) turn(name, old, value string) {
	f.event(sources.Event{Kind: sources.KnobTurning, Subject: name, Old: old, Asked: value})
	f.event(sources.Event{Kind: sources.KnobTurned, Subject: name, Old: old, Asked: value, New: value})
}

var (
	tx     = sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}
	irq    = sources.Series{Source: "irq", Subject: "em4", Metric: sources.Irqs}
	ping   = sources.Series{Source: "ping", Subject: "r1", Metric: sources.PingRTT}
	cpu    = sources.Series{Source: "cpu", Subject: "all", Metric: sources.CPUBusy}
	iperf  = sources.Series{Source: "iperf3", Subject: LoadSum, Metric: sources.Goodput}
	sender = sources.Series{Source: "tcp", Subject: "a", Metric: sources.Goodput}
)

func mean(t *testing.T, tab Table, row int, q *Quantity) (float64, int64) {
	t.Helper()
	for i, c := range tab.Quantities {
		if c == q && row < len(tab.Rows) && tab.Rows[row].Cells[i].Track != nil {
			cell := tab.Rows[row].Cells[i]
			v, _ := cell.Sum.Mean(cell.Track.Origin.Metric.Agg)
			return v, cell.Sum.N
		}
	}
	return math.NaN(), 0
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }

// A card that is gone has knobs without a value: that is a setting of its own, and no
// turn. Back as it was, it is the setting from before.
func TestKnobsOfACardThatIsGone(t *testing.T) {
	f := newFeed()
	f.knob("tso", "on", sources.LinkReset)
	f.event(sources.Event{Kind: sources.KnobSeen, Subject: "tcp.tso", New: "1", Knob: &sources.KnobSpec{Name: "tcp.tso"}})
	f.step(4*time.Second, map[sources.Series]float64{ping: 205})
	before := f.Phase().Setting.key()
	f.knob("tso", "", sources.LinkReset)
	if k := f.Knob("", "tso"); k.Value != "" || k.Start != "on" || k.Moved() || len(f.Turned()) != 0 {
		t.Errorf("%+v", k)
	}
	if p := f.Phase(); p.Setting.key() == before || f.knobs.label(p.Setting) != "tcp.tso=1 em4:?" {
		t.Errorf("%+v %q", p, f.knobs.label(p.Setting))
	}
	f.step(4*time.Second, map[sources.Series]float64{ping: 205})
	f.knob("tso", "on", sources.LinkReset)
	if p := f.Phase(); p.Setting.key() != before || f.knobs.label(p.Setting) != "tso=on" {
		t.Errorf("%+v %q", p, f.knobs.label(p.Setting))
	}
}

func TestTableOfTwoSettingsIdleAndLoaded(t *testing.T) {
	f := newFeed()
	f.knob("aim", "1", sources.Gentle)
	f.knob("tso", "on", sources.LinkReset)
	f.step(12*time.Second, map[sources.Series]float64{ping: 205, cpu: 0.05})
	f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
	f.step(2*time.Second, map[sources.Series]float64{iperf: 200e6, irq: 1}) // the inflated start
	f.step(8*time.Second, map[sources.Series]float64{iperf: 113e6, irq: 8000})
	f.turn("aim", "1", "2")
	f.step(2*time.Second, map[sources.Series]float64{iperf: 1, irq: 1}) // settling
	f.step(8*time.Second, map[sources.Series]float64{iperf: 116e6, irq: 20500})
	f.event(sources.Event{Kind: sources.RunEnded, Source: "iperf3", Subject: "iperf3 #1"})
	f.step(4*time.Second, map[sources.Series]float64{ping: 155})
	f.Finish()

	tab := f.Table("")
	if len(tab.Rows) != 4 {
		t.Fatalf("%d rows, want 4: %+v", len(tab.Rows), tab.Rows)
	}
	for i, want := range []struct {
		label  string
		loaded bool
		runs   int
		secs   float64
		q      *Quantity
		mean   float64
		n      int64
	}{
		{"aim=1", false, 0, 9.5, PingRTT, 205, 95}, // half a second before the run is of neither
		{"aim=1", true, 1, 8, Goodput, 113e6, 80},
		{"aim=2", true, 1, 8, Irqs, 20500, 80},
		{"aim=2", false, 0, 2, PingRTT, 155, 20},
	} {
		r := tab.Rows[i]
		if r.Label != want.label || r.Loaded != want.loaded || r.Runs != want.runs || !near(r.Seconds, want.secs) {
			t.Errorf("row %d: %q loaded %v runs %d %v s, want %+v", i, r.Label, r.Loaded, r.Runs, r.Seconds, want)
		}
		if m, n := mean(t, tab, i, want.q); !near(m, want.mean) || n != want.n {
			t.Errorf("row %d %s: mean %v n %d, want %+v", i, want.q.Name, m, n, want)
		}
	}
	if !tab.Rows[3].Current || tab.Rows[0].Current {
		t.Error("the current row is not the last")
	}
	if d, ok := tab.Delta(2, 0); !ok || !near(d, 116.0/113-1) {
		t.Errorf("goodput delta %v %v", d, ok)
	}
	if d, ok := tab.Delta(3, 1); !ok || !near(d, 155.0/205-1) {
		t.Errorf("ping delta %v %v, want against the idle row", d, ok)
	}
	if _, ok := tab.Delta(1, 0); ok {
		t.Error("the first row has a delta to itself")
	}
}

func TestSpreadIsThatOfSingleReadings(t *testing.T) {
	f := newFeed()
	f.step(3*time.Second, nil)
	for _, v := range []float64{2, 4, 4, 4, 5, 5, 7, 9} { // mean 5, sum of squares about it 32, n-1 = 7
		f.step(poll, map[sources.Series]float64{ping: v})
	}
	f.Finish()
	c := f.Table("").Rows[0].Cells[1]
	if sd, ok := c.Sum.SD(); !ok || !near(sd, math.Sqrt(32.0/7)) || c.Sum.Min != 2 || c.Sum.Max != 9 {
		t.Errorf("sd %v %v min %v max %v", sd, ok, c.Sum.Min, c.Sum.Max)
	}
	sum := Sum{}
	sum.add(sources.Sample{N: 2, Sum: 4, Min: 1, Max: 3, Last: 3})
	if _, ok := sum.SD(); ok {
		t.Error("a summarised sample was given a spread")
	}
}

func TestADisruptiveTurnBlanksTheInterfaceUntilTheLinkIsBack(t *testing.T) {
	f := newFeed()
	f.knob("tso", "on", sources.LinkReset)
	f.step(4*time.Second, map[sources.Series]float64{tx: 100})
	f.event(sources.Event{Kind: sources.KnobTurning, Subject: "tso", Old: "on", Asked: "off"})
	f.step(time.Second, map[sources.Series]float64{tx: 1e12})
	f.event(sources.Event{Kind: sources.LinkDown, Source: "nic", Subject: "em4"})
	f.event(sources.Event{Kind: sources.KnobTurned, Subject: "tso", Old: "on", Asked: "off", New: "off"})
	f.step(2*time.Second, map[sources.Series]float64{tx: 1e12})
	if _, down := f.LinkDown(""); !down {
		t.Error("the link is not said to be down")
	}
	f.event(sources.Event{Kind: sources.LinkUp, Source: "nic", Subject: "em4", Span: 2 * time.Second})
	f.step(5*time.Second, map[sources.Series]float64{tx: 50})
	f.Finish()

	bins := f.bins(Tx, 12)
	for i, b := range bins {
		if gap := i >= 4 && i < 7; b.Covered() == gap {
			t.Errorf("second %d: covered %v", i, b.Covered())
		}
	}
	p := f.phases[len(f.phases)-1]
	sum := p.sums[f.Find(Tx, "")]
	if want := int64(30); sum.settled.N != want { // five seconds less the settle time from LinkUp on
		t.Errorf("%d settled polls after the turn, want %d", sum.settled.N, want)
	}
}

func (f *feed) bins(q *Quantity, seconds int) []series.Bin {
	bins := make([]series.Bin, seconds)
	f.Find(q, "").Ring.Window(bins, t0, time.Second)
	return bins
}

func TestANoticedRunBeginsWhereItBegan(t *testing.T) {
	f := newFeed()
	f.step(5*time.Second, map[sources.Series]float64{irq: 10})
	began := f.at
	f.step(1500*ms, map[sources.Series]float64{irq: 8000})
	f.event(sources.Event{At: began, Kind: sources.RunStarted, Source: "tcp", Subject: "noticed #1"})
	f.step(6*time.Second, map[sources.Series]float64{irq: 8000})
	f.Finish()
	tab := f.Table("")
	if m, n := mean(t, tab, 0, Irqs); !near(m, 10) || n != 25 { // 5 s less 2 s of settling and half a second before the run
		t.Errorf("idle: mean %v n %d, want 10 and 25", m, n)
	}
	if m, n := mean(t, tab, 1, Irqs); !near(m, 8000) || n != 55 {
		t.Errorf("loaded: mean %v n %d, want 8000 and 55", m, n)
	}
}

// Another hand turns a knob, and netwatch reads that half a second later: when, it
// cannot know but for its reading before. What lies between is of neither setting.
func TestAnotherHandsTurn(t *testing.T) {
	f := newFeed()
	f.knob("tso", "on", sources.Gentle)
	f.step(6500*ms, map[sources.Series]float64{irq: 890})
	f.step(500*ms, map[sources.Series]float64{irq: 3500})
	f.event(sources.Event{Kind: sources.KnobDrifted, Subject: "tso", Old: "on", New: "off", Span: time.Second})
	f.step(5*time.Second, map[sources.Series]float64{irq: 3500})
	f.Finish()
	tab := f.Table("")
	if m, n := mean(t, tab, 0, Irqs); !near(m, 890) || n != 40 { // 7 s less 2 s of settling and the second in doubt
		t.Errorf("on: mean %v n %d, want 890 and 40", m, n)
	}
	if m, n := mean(t, tab, 1, Irqs); !near(m, 3500) || n != 30 {
		t.Errorf("off: mean %v n %d, want 3500 and 30", m, n)
	}
}

// A link that flaps within a setting, and a turn soon after: what had settled before the
// flap keeps its row and its seconds.
func TestAFlapKeepsWhatWasBefore(t *testing.T) {
	f := newFeed()
	f.knob("tso", "on", sources.Gentle)
	f.step(10*time.Second, map[sources.Series]float64{irq: 100})
	f.event(sources.Event{Kind: sources.LinkDown, Source: "nic", Subject: "em4"})
	f.step(time.Second, nil)
	f.event(sources.Event{Kind: sources.LinkUp, Source: "nic", Subject: "em4", Span: time.Second})
	f.step(time.Second, map[sources.Series]float64{irq: 100})
	f.turn("tso", "on", "off")
	f.step(5*time.Second, map[sources.Series]float64{irq: 200})
	f.Finish()
	tab := f.Table("")
	if m, n := mean(t, tab, 0, Irqs); !near(m, 100) || n != 80 || !near(tab.Rows[0].Seconds, 8) { // 10 s less 2 s of settling
		t.Errorf("%q: mean %v n %d of %v s, want 100, 80 and 8", tab.Rows[0].Label, m, n, tab.Rows[0].Seconds)
	}
	if len(tab.Rows) != 2 {
		t.Errorf("%d rows", len(tab.Rows))
	}
}

// A card goes and comes back with TSO on again: what was read with TSO off stays so.
func TestACardThatGoesKeepsItsRow(t *testing.T) {
	f := newFeed()
	seen := func(value string) {
		f.event(sources.Event{Kind: sources.KnobSeen, Subject: "tso", New: value, Knob: &sources.KnobSpec{Name: "tso", Subject: "em4"}})
	}
	seen("off")
	f.step(10*time.Second, map[sources.Series]float64{irq: 100})
	seen("")
	f.step(2*time.Second, nil)
	seen("on")
	f.step(6*time.Second, map[sources.Series]float64{irq: 300})
	f.Finish()
	tab := f.Table("")
	for i, want := range []struct {
		label string
		mean  float64
		n     int64
	}{{"tso=off", 100, 80}, {"tso=on", 300, 40}} {
		if m, n := mean(t, tab, i, Irqs); tab.Rows[i].Label != want.label || !near(m, want.mean) || n != want.n {
			t.Errorf("row %d: %q mean %v n %d, want %+v", i, tab.Rows[i].Label, m, n, want)
		}
	}
}

func TestTheBestOriginThatLivesIsShown(t *testing.T) {
	f := newFeed()
	f.step(3*time.Second, map[sources.Series]float64{sender: 5})
	if tr := f.Find(Goodput, ""); tr == nil || tr.Origin.Source != "tcp" {
		t.Fatalf("got %+v, want tcp", tr)
	}
	f.step(3*time.Second, map[sources.Series]float64{sender: 5, iperf: 6})
	if tr := f.Find(Goodput, ""); tr.Origin.Source != "iperf3" {
		t.Errorf("got %v, want iperf3", tr.Origin)
	}
	f.step(3*time.Second, map[sources.Series]float64{sender: 5})
	if tr := f.Find(Goodput, ""); tr.Origin.Source != "tcp" {
		t.Errorf("got %v, want tcp again", tr.Origin)
	}
	if tr := f.Find(SRTT, ""); tr != nil {
		t.Errorf("a quantity that nobody told has %+v", tr)
	}
}

func TestAReceiversGoodputIsWhatComesIn(t *testing.T) {
	f := newFeed()
	in := sources.Series{Source: "tcp", Subject: "a", Metric: sources.RxGood}
	f.step(8*time.Second, map[sources.Series]float64{sender: 0, in: 7})
	f.Finish()
	if tr := f.Find(Goodput, ""); tr.Origin.Metric != sources.RxGood {
		t.Errorf("shown: %v", tr.Origin)
	}
	if m, _ := mean(t, f.Table(""), 0, Goodput); !near(m, 7) {
		t.Errorf("table: %v, want 7", m)
	}
}

func TestALoadThatGoesBothWaysIsShownByWhatGoesOut(t *testing.T) {
	f := newFeed()
	in := sources.Series{Source: "tcp", Subject: "a", Metric: sources.RxGood}
	f.step(8*time.Second, map[sources.Series]float64{sender: 5, in: 7})
	f.Finish()
	if tr := f.Find(Goodput, ""); tr.Origin.Metric != sources.Goodput {
		t.Errorf("shown: %v", tr.Origin)
	}
	if m, _ := mean(t, f.Table(""), 0, Goodput); !near(m, 5) {
		t.Errorf("table: %v, want 5", m)
	}
}

func TestOnlyTheBusiestFlowIsCharted(t *testing.T) {
	f := newFeed()
	small := sources.Series{Source: "siftr2", Subject: "0000002a", Metric: sources.Goodput}
	big := sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Goodput}
	cw := func(id string) sources.Series {
		return sources.Series{Source: "siftr2", Subject: id, Metric: sources.Cwnd}
	}
	f.step(3*time.Second, map[sources.Series]float64{small: 10, cw("0000002a"): 14480})
	f.step(4*time.Second, map[sources.Series]float64{small: 10, cw("0000002a"): 14480, big: 1e8, cw("dd7fc950"): 750000})
	if b := f.Busiest(""); b == nil || b.ID != "dd7fc950" {
		t.Fatalf("busiest is %+v", b)
	}
	if v, _ := f.Find(Cwnd, "").Now(); v != 750000 {
		t.Errorf("cwnd %v", v)
	}
	if fl := f.Flows(); len(fl) != 2 || fl[0].ID != "dd7fc950" {
		t.Errorf("flows %+v", fl)
	}
}

func TestFlowsOfTwoSourcesAreJoinedByTheirAddresses(t *testing.T) {
	f := newFeed()
	l, r := netip.MustParseAddrPort("10.1.1.2:54321"), netip.MustParseAddrPort("10.1.1.3:5201")
	f.event(sources.Event{Kind: sources.FlowSeen, Source: "tcp", Subject: "a", Flow: &sources.Flow{ID: "a", Local: l, Remote: r, CC: "cubic"}})
	f.event(sources.Event{Kind: sources.FlowSeen, Source: "siftr2", Subject: "dd7fc950", Flow: &sources.Flow{ID: "dd7fc950", Local: l, Remote: r, MSS: 1448}})
	f.step(poll, map[sources.Series]float64{sender: 5, {Source: "siftr2", Subject: "dd7fc950", Metric: sources.Cwnd}: 99})
	fl := f.Flows()
	if len(fl) != 1 || fl[0].ID != "dd7fc950" || fl[0].CC != "cubic" || fl[0].MSS != 1448 {
		t.Fatalf("got %d rows, first %+v", len(fl), fl[0])
	}
	if v, ok := fl[0].Now(sources.Cwnd, f.Now()); !ok || v != 99 {
		t.Errorf("cwnd %v %v", v, ok)
	}
	if v, ok := fl[0].Now(sources.Goodput, f.Now()); !ok || v != 5 {
		t.Errorf("goodput %v %v", v, ok)
	}
}

func TestTheAddressesOfALogsIDComeFromOtherSources(t *testing.T) {
	l, r := netip.MustParseAddrPort("10.1.1.2:54321"), netip.MustParseAddrPort("10.1.1.3:5201")
	cw := sources.Series{Source: "siftr2", Subject: "1de7920b", Metric: sources.Cwnd}
	stream := sources.Event{Kind: sources.FlowSeen, Source: "iperf3", Subject: "5", Flow: &sources.Flow{ID: "5", LogID: "1de7920b", Local: l, Remote: r}}
	for _, logFirst := range []bool{false, true} {
		f := newFeed()
		if logFirst {
			f.step(poll, map[sources.Series]float64{cw: 99})
		}
		f.event(stream)
		f.step(poll, map[sources.Series]float64{cw: 99})
		fl := f.Flows()
		if len(fl) != 1 || fl[0].ID != "1de7920b" || fl[0].Remote != r || fl[0].Mixed {
			t.Errorf("log first %v: %d rows, %+v", logFirst, len(fl), fl[0])
		}
		other := *stream.Flow
		other.Local = netip.MustParseAddrPort("10.1.1.2:54322")
		f.event(sources.Event{Kind: sources.FlowSeen, Source: "iperf3", Subject: "7", Flow: &other})
		if fl := f.Flows(); !fl[0].Mixed {
			t.Error("two connections under one id are not said to be mixed")
		}
	}
}

func TestSilenceIsStale(t *testing.T) {
	f := newFeed()
	f.step(time.Second, map[sources.Series]float64{tx: 1})
	f.step(time.Second, nil)
	tr := f.Find(Tx, "")
	if _, stale := tr.Stale(f.Now()); stale {
		t.Error("stale after one second")
	}
	f.step(time.Second, nil)
	if age, stale := tr.Stale(f.Now()); !stale || age != 2*time.Second {
		t.Errorf("age %v stale %v after two seconds", age, stale)
	}
	if age, stale := f.Sources()[0].Stale(f.Now()); !stale || age != 2*time.Second {
		t.Errorf("source: age %v stale %v", age, stale)
	}
}

func TestEventsAreBoundedAndRefinementsAreNotListed(t *testing.T) {
	f := newFeed()
	f.knob("aim", "1", sources.Gentle)
	if len(f.Events()) != 0 {
		t.Errorf("a first look at a knob is listed: %+v", f.Events())
	}
	for range 2500 {
		f.Note(sources.Mark, "x")
	}
	if n := len(f.Events()); n > maxEvents || n < maxEvents/2 {
		t.Errorf("%d events kept", n)
	}
}

type brokenDisk struct{}

func (brokenDisk) Record(sources.Batch) error { return errors.New("no space left on device") }

func TestABrokenRecorderIsSaidOnceAndTheRestGoesOn(t *testing.T) {
	f := newFeed()
	f.Recorder = brokenDisk{}
	f.step(time.Second, map[sources.Series]float64{tx: 1})
	if len(f.Events()) != 1 || !f.Events()[0].Error {
		t.Errorf("events %+v", f.Events())
	}
	if v, ok := f.Find(Tx, "").Now(); !ok || v != 1 {
		t.Errorf("tx %v %v", v, ok)
	}
}
