package experiment

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment/series"
	"netwatch/sources"
)

var (
	farTx  = sources.Series{Host: "r1", Source: "nic", Subject: "igb0", Metric: sources.TxOctets}
	farIrq = sources.Series{Host: "r1", Source: "irq", Subject: "igb0", Metric: sources.Irqs}
)

// peer is an event of the connection to r1.
func (f *feed) peer(kind sources.EventKind, subject, text string) {
	f.event(sources.Event{Kind: kind, Host: "r1", Source: PeerSource, Subject: subject, Text: text})
}

func (f *feed) aimAt(host, value string) {
	f.event(sources.Event{Kind: sources.KnobSeen, Host: host, Subject: "aim", New: value, Knob: &sources.KnobSpec{Name: "aim"}})
}

func (f *feed) say(kind sources.EventKind, host, old, asked, value string, ago time.Duration) {
	f.event(sources.Event{At: f.at.Add(-ago), Kind: kind, Host: host, Subject: "aim", Old: old, Asked: asked, New: value})
}

func TestHosts(t *testing.T) {
	s := New(Options{Start: t0, Interface: "em4", PeerInterfaces: map[string]string{"r2": "ix0", "r1": ""}})
	if d := cmp.Diff([]string{"", "r1", "r2"}, s.Hosts()); d != "" {
		t.Error(d)
	}
	if a, b := s.InterfaceOf("r1"), s.InterfaceOf("r2"); a != "em4" || b != "ix0" {
		t.Errorf("they watch %s and %s", a, b)
	}
	s.Apply(sources.Batch{At: t0, Events: []sources.Event{{At: t0, Kind: sources.SourceUp, Host: "r9", Source: "nic"}}})
	if h := s.Hosts(); !slices.Contains(h, "r9") || s.Peer("").isThere() || s.Peer("x") != nil {
		t.Errorf("hosts %v", h)
	}
}

func (p *PeerState) isThere() bool { return p != nil && p.Up }

func TestAPeersInterfaceFeedsItsQuantities(t *testing.T) {
	f := newFeed()
	f.step(time.Second, map[sources.Series]float64{tx: 7, farTx: 5})
	if tr := f.Find(Tx, "r1"); tr != nil {
		t.Error("an interface that nobody watches there is charted")
	}
	f.peer(sources.SourceUp, "igb0", "igb(4) I350")
	f.step(time.Second, map[sources.Series]float64{tx: 7, farTx: 5, farIrq: 9})
	for _, c := range []struct {
		q    *Quantity
		host string
		want float64
	}{{Tx, "", 7}, {Tx, "r1", 5}, {Irqs, "r1", 9}} {
		tr := f.Find(c.q, c.host)
		if tr == nil {
			t.Errorf("%s of %q is told by nobody", c.q.Name, c.host)
			continue
		}
		if v, _ := tr.Now(); v != c.want {
			t.Errorf("%s of %q is %v", c.q.Name, c.host, v)
		}
	}
	if p := f.Peer("r1"); p.Interface != "igb0" || p.Facts != "igb(4) I350" || !p.Up {
		t.Errorf("%+v", p)
	}
	f.event(sources.Event{Kind: sources.LinkDown, Host: "r1", Source: "nic", Subject: "igb0"})
	if _, here := f.LinkDown(""); here {
		t.Error("the link here is said to be down")
	}
	if _, there := f.LinkDown("r1"); !there {
		t.Error("the link there is not")
	}
}

func TestWordsOfAPeerAreNoEvents(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "em4", "")
	f.peer(sources.SourceNote, "", "clock +0.31 ms +-0.20 ms")
	f.peer(sources.SourceNote, "", "clock +0.32 ms +-0.20 ms")
	if p := f.Peer("r1"); p.Words != "clock +0.32 ms +-0.20 ms" || len(f.Events()) != 0 || len(f.Sources()) != 0 {
		t.Errorf("%+v, events %v, sources %v", p, f.Events(), f.Sources())
	}
}

// A turn of both ends at 10 s, verified here after 20 ms and there after 300: the
// phase begins with the later one, settling lasts 2 s, and no sample counts between.
func TestATurnOfBothEndsBeginsWithTheLaterVerification(t *testing.T) {
	for _, farFirst := range []bool{false, true} {
		f := newFeed()
		f.aimAt("", "1")
		f.aimAt("r1", "1")
		f.step(10*time.Second, map[sources.Series]float64{irq: 8000})
		f.say(sources.KnobTurning, "", "1", "2", "", 0)
		f.say(sources.KnobTurning, "r1", "1", "2", "", 0)
		turned := []func(){
			func() { f.say(sources.KnobTurned, "", "1", "2", "2", 280*ms) },
			func() { f.say(sources.KnobTurned, "r1", "1", "2", "2", 0) },
		}
		f.step(300*ms, map[sources.Series]float64{irq: 1})
		if farFirst {
			slices.Reverse(turned)
		}
		turned[0]()
		if !f.Phase().End.Equal(t0.Add(10 * time.Second)) {
			t.Errorf("a phase is on while one end is turned: %+v", f.Phase())
		}
		turned[1]()
		if p := f.Phase(); !p.Start.Equal(t0.Add(10300*ms)) || !p.Settled.Equal(t0.Add(12300*ms)) {
			t.Errorf("the phase began %v and settles %v", p.Start.Sub(t0), p.Settled.Sub(t0))
		}
		f.step(6*time.Second, map[sources.Series]float64{irq: 20000})
		f.Finish()
		tab := f.Table("")
		if len(tab.Rows) != 2 || tab.Rows[0].Label != "aim=1" || tab.Rows[1].Label != "aim=2" {
			t.Fatalf("rows %+v", tab.Rows)
		}
		if m, n := mean(t, tab, 1, Irqs); !near(m, 20000) || n != 40 {
			t.Errorf("mean %v of %d, want 20000 of 40", m, n)
		}
	}
}

func TestEndsThatDifferAreNamed(t *testing.T) {
	f := newFeed()
	f.aimAt("", "1")
	f.aimAt("r1", "1")
	f.event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "lro", New: "on", Knob: &sources.KnobSpec{Name: "lro"}})
	label := func() string {
		for _, r := range f.Table("").Rows {
			if r.Current {
				return r.Label
			}
		}
		return ""
	}
	if got := label(); got != "aim=1" {
		t.Errorf("at first %q", got)
	}
	f.turn("aim", "1", "2")
	if got := label(); got != "aim=2 r1:aim=1" {
		t.Errorf("one end turned: %q", got)
	}
	f.say(sources.KnobTurned, "r1", "1", "2", "2", 0)
	if got := label(); got != "aim=2" {
		t.Errorf("both turned: %q", got)
	}
	f.event(sources.Event{Kind: sources.KnobTurned, Host: "r1", Subject: "lro", Old: "on", New: "off"})
	if got := label(); got != "aim=2 r1:lro=off" {
		t.Errorf("a knob of one end: %q", got)
	}
}

// r1 is gone from second 10 to 20 while aim is 2 on both ends, and its agent puts 1
// back: what is measured meanwhile belongs to a setting of its own.
func TestAPeerThatIsGone(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "igb0", "")
	f.aimAt("", "2")
	f.aimAt("r1", "2")
	f.event(sources.Event{Kind: sources.RunStarted, Host: "r1", Source: "tcp", Subject: "noticed #1"})
	f.event(sources.Event{Kind: sources.LinkDown, Host: "r1", Source: "nic", Subject: "igb0"})
	f.event(sources.Event{Kind: sources.LinkUp, Host: "r1", Source: "nic", Subject: "igb0"})
	f.step(10*time.Second, map[sources.Series]float64{irq: 20000, farTx: 5})
	f.event(sources.Event{Kind: sources.KnobTurning, Host: "r1", Subject: "aim", Old: "2", Asked: "0"})
	f.event(sources.Event{Kind: sources.LinkDown, Host: "r1", Source: "nic", Subject: "igb0"})
	f.peer(sources.SourceGone, "", "ssh: connection reset")
	if _, stale := f.Find(Tx, "r1").Stale(f.at); !stale {
		t.Error("the newest figure of a peer that is gone is believed")
	}
	if p := f.Peer("r1"); p.Up || !p.Gone.Equal(f.at) || p.Why != "ssh: connection reset" {
		t.Errorf("%+v", p)
	}
	if k := f.Knob("r1", "aim"); !k.Doubt || k.Turning != "" {
		t.Errorf("its knob is believed: %+v", k)
	}
	if _, _, on := f.Run(); on {
		t.Error("its run goes on")
	}
	f.step(10*time.Second, map[sources.Series]float64{irq: 1})
	if tr := f.Find(Irqs, ""); tr == nil {
		t.Error("the local side does not go on")
	} else if v, _ := tr.Now(); v != 1 {
		t.Errorf("irq here is %v", v)
	}
	f.peer(sources.SourceUp, "igb0", "")
	f.step(time.Second, map[sources.Series]float64{irq: 1})
	f.aimAt("r1", "1")
	f.step(8*time.Second, map[sources.Series]float64{irq: 8000, farTx: 6})
	f.Finish()

	tab := f.Table("")
	var labels []string
	for _, r := range tab.Rows {
		labels = append(labels, r.Label)
	}
	if d := cmp.Diff([]string{"aim=2", "aim=2 r1:?", "aim=2 r1:aim=1"}, labels); d != "" {
		t.Fatal(d)
	}
	if m, n := mean(t, tab, 1, Irqs); !near(m, 1) || n != 80 {
		t.Errorf("meanwhile: mean %v of %d, want 1 of 80", m, n)
	}
	if m, n := mean(t, tab, 2, Irqs); !near(m, 8000) || n != 60 {
		t.Errorf("afterwards: mean %v of %d, want 8000 of 60", m, n)
	}
	if m, n := mean(t, tab, 0, Irqs); !near(m, 20000) || n != 80 {
		t.Errorf("before: mean %v of %d, want 20000 of 80", m, n)
	}
	if got := f.Peer("r1").Away(f.at); got != "r1 was gone once, for 10.0 s: its knobs are not known (r1:?)" {
		t.Errorf("away: %q", got)
	}
	f.peer(sources.SourceGone, "", "")
	if got := f.Peer("r1").Away(f.at.Add(2500 * ms)); got != "r1 was gone 2 times, for 12.5 s in all: its knobs are not known (r1:?)" {
		t.Errorf("away again: %q", got)
	}
	last := f.Events()[len(f.Events())-2]
	if got := Sentence(last); got != "r1 aim 2 -> 1: found so when it was back" {
		t.Errorf("last event %q", got)
	}
	bins := make([]series.Bin, 30)
	f.Find(Tx, "r1").Ring.Window(bins, t0, time.Second)
	for i, want := range map[int]float64{5: 5, 15: 0, 25: 6} {
		if v, ok := bins[i].Mean(sources.PerTime); ok != (want > 0) || math.Abs(v-want) > 1e-5 {
			t.Errorf("its rate in second %d is %v %v, want %v", i, v, ok, want)
		}
	}
}

// A link gap there leaves the figures here true, but nothing counts in it.
func TestALinkGapThereCountsForBothEnds(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "igb0", "")
	f.step(4*time.Second, map[sources.Series]float64{irq: 8000})
	f.event(sources.Event{Kind: sources.LinkDown, Host: "r1", Source: "nic", Subject: "igb0"})
	f.step(3*time.Second, map[sources.Series]float64{irq: 1})
	if v, _ := f.Find(Irqs, "").Now(); v != 1 {
		t.Errorf("irq here is %v", v)
	}
	f.event(sources.Event{Kind: sources.LinkUp, Host: "r1", Source: "nic", Subject: "igb0", Span: 3 * time.Second})
	f.step(4*time.Second, map[sources.Series]float64{irq: 8000})
	f.Finish()
	if m, _ := mean(t, f.Table(""), 0, Irqs); !near(m, 8000) {
		t.Errorf("mean %v, want 8000", m)
	}
}

// A peer that comes back without a knob it had does not hold up the table for ever.
func TestAKnobThatDoesNotComeBack(t *testing.T) {
	f := newFeed()
	f.peer(sources.SourceUp, "em4", "")
	f.aimAt("r1", "2")
	f.peer(sources.SourceGone, "", "")
	f.peer(sources.SourceUp, "em4", "")
	f.step(tellKnobs, nil)
	if f.Phase().End.IsZero() {
		t.Error("a phase is on though a knob is in doubt")
	}
	f.step(poll, nil)
	if k := f.Knob("r1", "aim"); !f.Phase().End.IsZero() || k.Doubt || k.Value != "" {
		t.Errorf("phase %+v, knob %+v", f.Phase(), k)
	}
}

func TestSentencesOfBothEnds(t *testing.T) {
	for want, e := range map[string]sources.Event{
		"aim 1 -> 2 both, skew 9.0 ms":   {Kind: sources.KnobBoth, Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 9 * ms},
		"aim 1|0 -> 2 both, skew 120 ms": {Kind: sources.KnobBoth, Subject: "aim", Old: "1|0", Asked: "2", New: "2", Span: 120 * ms},
		"aim -> 2 refused: r1: operation not permitted; s1 put back to 1": {
			Kind: sources.KnobBoth, Subject: "aim", Asked: "2", Text: "r1: operation not permitted; s1 put back to 1", Error: true},
		"r1 lro on -> off: changed with the turn of tso": {Kind: sources.KnobDrifted, Host: "r1", Subject: "lro", Old: "on", New: "off", Text: "changed with the turn of tso"},
		"r1 is back":                     {Kind: sources.SourceUp, Host: "r1", Source: PeerSource},
		"r1 gone: ssh: connection reset": {Kind: sources.SourceGone, Host: "r1", Source: PeerSource, Text: "ssh: connection reset"},
	} {
		if got := Sentence(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
