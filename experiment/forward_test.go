package experiment

import (
	"testing"
	"time"

	"netwatch/sources"
)

// A router of two interfaces, polled each 100 ms: every batch both tell how many
// packets came in and left.
type router struct {
	s      *Session
	at     time.Time
	series map[[2]string]*sources.Series
}

func newRouter() *router {
	start := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	return &router{s: New(Options{Start: start, Interface: "em0", Second: "em1"}), at: start, series: map[[2]string]*sources.Series{}}
}

// tell goes on for so many ticks of 100 ms; amounts are packets a tick by
// interface and metric.
func (r *router) tell(ticks int, amounts map[string]map[sources.Metric]float64) {
	for range ticks {
		r.at = r.at.Add(100 * time.Millisecond)
		b := sources.Batch{At: r.at}
		for iface, values := range amounts {
			for m, v := range values {
				k := [2]string{iface, m.Name}
				if r.series[k] == nil {
					r.series[k] = &sources.Series{Source: "nic", Subject: iface, Metric: m}
				}
				b.Samples = append(b.Samples, sources.Amount(r.series[k], r.at, 100*time.Millisecond, v))
			}
		}
		r.s.Apply(b)
	}
}

func TestPassage(t *testing.T) {
	r := newRouter()
	if _, ok := r.s.Passage(false, r.at); ok {
		t.Error("a passage before anything was told")
	}
	r.tell(120, map[string]map[sources.Metric]float64{
		"em0": {sources.RxPackets: 1000, sources.TxPackets: 10},
		"em1": {sources.TxPackets: 990, sources.RxPackets: 12},
		"em2": {sources.TxPackets: 77777},
	})
	p, ok := r.s.Passage(false, r.at)
	if !ok || p.Wire || p.In != 10000 || p.Out != 9900 || p.Seconds != 10 {
		t.Errorf("%+v, %v", p, ok)
	}
	if lost, share := p.Lost(); lost != 100 || share != 0.01 {
		t.Errorf("lost %v, %v", lost, share)
	}
	p, ok = r.s.Passage(true, r.at)
	if !ok || p.In != 120 || p.Out != 100 {
		t.Errorf("back: %+v, %v", p, ok)
	}
	// The watched interface's own figures stay its own.
	if v, _ := r.s.Find(TxPkts, "").Now(); v != 100 {
		t.Errorf("tx of em0: %v", v)
	}
	if v, _ := r.s.FindSecond(TxPkts).Now(); v != 9900 {
		t.Errorf("tx of em1: %v", v)
	}
}

// The cards' counters are better, where both ends have them.
func TestPassageByWire(t *testing.T) {
	r := newRouter()
	r.tell(60, map[string]map[sources.Metric]float64{
		"em0": {sources.RxPackets: 500, sources.RxWirePkts: 1000},
		"em1": {sources.TxPackets: 500},
	})
	if p, ok := r.s.Passage(false, r.at); !ok || p.Wire || p.In != 5000 {
		t.Errorf("only one end has them: %+v, %v", p, ok)
	}
	r.tell(60, map[string]map[sources.Metric]float64{
		"em0": {sources.RxPackets: 500, sources.RxWirePkts: 1000},
		"em1": {sources.TxPackets: 500, sources.TxWirePkts: 1001},
	})
	p, ok := r.s.Passage(false, r.at)
	if !ok || !p.Wire || p.In != 10000 || p.Out != 10010 || p.Seconds != 6 {
		t.Errorf("%+v, %v", p, ok)
	}
	if lost, share := p.Lost(); lost >= 0 || share >= 0 {
		t.Errorf("more left than came in: %v, %v", lost, share)
	}
}

// Seconds that one end did not tell are left out of both, and a silent end ends it.
func TestPassageWithGap(t *testing.T) {
	both := map[string]map[sources.Metric]float64{"em0": {sources.RxPackets: 100}, "em1": {sources.TxPackets: 100}}
	r := newRouter()
	r.tell(40, both)
	r.tell(60, map[string]map[sources.Metric]float64{"em0": {sources.RxPackets: 900}})
	if p, ok := r.s.Passage(false, r.at); ok {
		t.Errorf("em1 is silent: %+v", p)
	}
	r.tell(40, both)
	if p, ok := r.s.Passage(false, r.at); !ok || p.In != 1000 || p.Out != 1000 || p.Seconds != 4 {
		t.Errorf("%+v, %v", p, ok)
	}
}

// Of a shared interrupt line the card's own count is shown, and the line's only
// where there is no other.
func TestSharedInterrupts(t *testing.T) {
	start := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	s := New(Options{Start: start, Interface: "em4"})
	line := &sources.Series{Source: "irq", Subject: "em4", Metric: sources.IrqsShared}
	own := &sources.Series{Source: "nic", Subject: "em4", Metric: sources.IrqAsserts}
	at := start.Add(time.Second)
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(line, at, time.Second, 9000)}})
	if tr := s.Find(Irqs, ""); tr == nil || tr.Origin.Metric != sources.IrqsShared {
		t.Errorf("%+v", tr)
	}
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(own, at, time.Second, 4000)}})
	if v, _ := s.Find(Irqs, "").Now(); v != 4000 {
		t.Errorf("%v", v)
	}
}

func TestSecondDown(t *testing.T) {
	r := newRouter()
	r.s.Apply(sources.Batch{At: r.at, Events: []sources.Event{{At: r.at, Kind: sources.LinkDown, Source: "nic", Subject: "em1"}}})
	if _, down := r.s.SecondDown(); !down {
		t.Error("em1 has a link")
	}
	if _, down := r.s.LinkDown(""); down {
		t.Error("em0 has none")
	}
}
