package experiment

import (
	"slices"
	"testing"
	"time"

	"netwatch/sources"
)

var (
	irqCap = sources.Series{Source: "irq", Subject: "em4", Metric: sources.IrqCap}
	rxq0   = sources.Series{Source: "irq", Subject: "em4:rxq0", Metric: sources.Irqs}
	rxq1   = sources.Series{Source: "irq", Subject: "em4:rxq1", Metric: sources.IrqsShared}
)

// The lines of a card are told beside its total, and in no table.
func TestQueues(t *testing.T) {
	f := newFeed()
	f.step(3*time.Second, map[sources.Series]float64{irq: 3913, rxq0: 3901})
	if q := f.Queues("", time.Time{}); q != nil {
		t.Errorf("one line is no more than the total: %v", q)
	}
	f.step(3*time.Second, map[sources.Series]float64{irq: 3913, rxq0: 3901, rxq1: 12, irqCap: 4002})
	want := []Queue{{"rxq0", 3901, false}, {"rxq1", 12, true}}
	near := func(a, b Queue) bool {
		return a.Name == b.Name && a.Shared == b.Shared && near(a.PerSecond, b.PerSecond)
	}
	if q := f.Queues("", time.Time{}); !slices.EqualFunc(q, want, near) {
		t.Errorf("%v, want %v", q, want)
	}
	if q := f.Queues("", t0.Add(5500*ms)); !slices.EqualFunc(q, want, near) {
		t.Errorf("at a past time %v, want %v", q, want)
	}
	if q := f.Queues("r1", time.Time{}); q != nil {
		t.Errorf("of a host that tells none: %v", q)
	}
	if cap := f.Find(IrqCap, ""); cap == nil || cap.Last.Last != 4002 {
		t.Errorf("cap %+v", cap)
	}
	f.step(4*time.Second, map[sources.Series]float64{irq: 5}) // the driver has other lines now
	if q := f.Queues("", time.Time{}); q != nil {
		t.Errorf("silent lines are told: %v", q)
	}
	f.Finish()
	for tr := range f.Phase().sums {
		if tr.Origin.Metric == sources.IrqCap || tr.Subject != "em4" {
			t.Errorf("%s of %s is counted into a setting", tr.Origin.Metric.Name, tr.Subject)
		}
	}
	if v, _ := mean(t, f.Table(""), 0, Irqs); v < 5 || v > 3913 {
		t.Errorf("the total's mean is %v", v)
	}
}

// What a cap tells, as the rates in the comments of em's and igb's sources come out of
// their registers: 1000000000/(256 n) and 4000000/n in steps.
func TestModeration(t *testing.T) {
	for n, state := range map[int]string{976: "bulk", 488: "default", 195: "low lat", 55: "lowest lat"} {
		if v := float64(1_000_000_000 / (256 * n)); Moderation(v) != state {
			t.Errorf("%v is %q, want %q", v, Moderation(v), state)
		}
	}
	for _, v := range []float64{4032, 8064, 20000, 0, 2717} { // ix(4) has the first two as well
		if Moderation(v) != "" {
			t.Errorf("%v is %q", v, Moderation(v))
		}
	}
}

// Where no log tells the segment, the table has the size of the packets at the interface
// in the direction of the load; a log's segment takes its place.
func TestPacketSizeStandsInForTheSegment(t *testing.T) {
	tx := sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxSize}
	rx := sources.Series{Source: "nic", Subject: "em4", Metric: sources.RxSize}
	segment := sources.Series{Source: "siftr2", Subject: "52455584", Metric: sources.Segment}
	f := newFeed()
	f.step(5*time.Second, map[sources.Series]float64{tx: 44013, rx: 66, iperf: 200e6})
	f.Finish()
	tab := f.Table("")
	if m, n := mean(t, tab, 0, TxSize); !near(m, 44013) || n == 0 {
		t.Errorf("tx size: mean %v n %d, want 44013", m, n)
	}
	if c := tab.Rows[0].Cells[slices.Index(tab.Quantities, RxSize)]; c.Track != nil {
		t.Errorf("the size of the acknowledgements stands in the table: %v", c.Whole)
	}
	f = newFeed()
	f.step(5*time.Second, map[sources.Series]float64{tx: 44013, segment: 4789})
	f.Finish()
	tab = f.Table("")
	if m, n := mean(t, tab, 0, Segment); !near(m, 4789) || n == 0 {
		t.Errorf("segment: mean %v n %d, want 4789", m, n)
	}
	if c := tab.Rows[0].Cells[slices.Index(tab.Quantities, TxSize)]; c.Track != nil {
		t.Errorf("an estimate beside what a log tells: %v", c.Whole)
	}
}
