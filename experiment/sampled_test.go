package experiment

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
)

var (
	logGoodput = sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Goodput}
	logSampled = sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Sampled}
)

func octets(f *feed, q *Quantity) (settled, whole float64) {
	t := f.TableOf("", []*Quantity{q})
	for _, r := range t.Rows {
		settled += r.Cells[0].Sum.Sum
		whole += r.Cells[0].Whole.Sum
	}
	return settled, whole
}

// TestSampledIsNoGoodput: what a thinned log tells is shown and counted under its
// own name, and only that.
func TestSampledIsNoGoodput(t *testing.T) {
	f := newFeed()
	f.event(sources.Event{Kind: sources.LogSampled, Source: "siftr2", Subject: "siftr2.log", Text: "ppl=10"})
	f.step(10*time.Second, map[sources.Series]float64{logSampled: 1e6})
	f.Finish()
	if f.Find(Goodput, "") != nil {
		t.Error("a sampled throughput is shown as goodput")
	}
	if v, ok := f.Find(Sampled, "").Now(); !ok || v != 1e6 {
		t.Errorf("sampled %v %v, want 1e6 octets/s", v, ok)
	}
	if _, whole := octets(f, Goodput); whole != 0 {
		t.Errorf("%v octets of goodput in the table", whole)
	}
	if _, whole := octets(f, Sampled); whole != 10e6 {
		t.Errorf("%v sampled octets in the table, want 10e6", whole)
	}
	if st := f.Sources()[0]; st.Sampled != "ppl=10" {
		t.Errorf("the source says %q", st.Sampled)
	}
	if got := Sentence(f.Events()[0]); got != "siftr2.log is sampled, its throughput is no goodput: ppl=10" {
		t.Errorf("%q", got)
	}
	f.event(sources.Event{Kind: sources.LogSampled, Source: "siftr2", Subject: "siftr2.log"})
	if st := f.Sources()[0]; st.Sampled != "" {
		t.Errorf("the source still says %q", st.Sampled)
	}
}

// TestSampledAfterwards: a footer tells of lost records when the figures were
// counted as goodput already. The phases of its stretch are counted anew, others stay.
func TestSampledAfterwards(t *testing.T) {
	f := newFeed()
	f.step(10*time.Second, map[sources.Series]float64{logGoodput: 1e6})
	f.event(sources.Event{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"})
	f.step(10*time.Second, map[sources.Series]float64{logGoodput: 2e6})
	f.event(sources.Event{Kind: sources.LogSampled, Source: "siftr2", Subject: "x.log", Span: 9 * time.Second, Text: "7 records were lost in the kernel's ring"})
	f.step(5*time.Second, nil)
	f.Finish()
	if _, whole := octets(f, Goodput); whole != 9.5e6 {
		t.Errorf("%v octets of goodput, want 9.5e6 of the phase before, which ends half a second before the run", whole)
	}
	if settled, whole := octets(f, Sampled); whole != 20e6 || settled != 16e6 {
		t.Errorf("%v and settled %v sampled octets, want 20e6 and 16e6", whole, settled)
	}
	if got := Sentence(f.Events()[1]); got != "x.log: its last 9.0 s are sampled: 7 records were lost in the kernel's ring" {
		t.Errorf("%q", got)
	}
}

// TestLag: how far a reader is behind its log is no connection's figure.
func TestLag(t *testing.T) {
	f := newFeed()
	lag := sources.Series{Source: "siftr2", Subject: "x.log", Metric: sources.Lag}
	f.step(poll, map[sources.Series]float64{lag: 12.3e6})
	st := f.Sources()[0]
	if d, behind := st.Behind(f.Now()); !behind || d != 12300*ms {
		t.Errorf("%v %v, want 12.3 s behind", d, behind)
	}
	if len(f.Flows()) != 0 {
		t.Error("a lag made a connection")
	}
	f.step(poll, map[sources.Series]float64{lag: 0})
	if d, behind := st.Behind(f.Now()); behind {
		t.Errorf("still %v behind", d)
	}
}

// TestTwoLogsOfOneModule: the same id and addresses in both are two connections,
// and only one of them is charted.
func TestTwoLogsOfOneModule(t *testing.T) {
	f := newFeed()
	l, r := netip.MustParseAddrPort("10.1.1.2:54321"), netip.MustParseAddrPort("10.1.1.3:5201")
	f.event(sources.Event{Kind: sources.FlowSeen, Source: "tcp", Flow: &sources.Flow{ID: "x", LogID: "dd7fc950", Local: l, Remote: r}})
	other := logGoodput
	other.Subject = "dd7fc950@b.log"
	f.step(3*time.Second, map[sources.Series]float64{logGoodput: 1e6, other: 9e6})
	f.step(3*time.Second, map[sources.Series]float64{logGoodput: 1e6, other: 9e6})
	if v, _ := f.Find(Goodput, "").Now(); v != 9e6 {
		t.Errorf("goodput %v, want that of the busier log, not the sum", v)
	}
	var logs []*FlowState
	for _, fl := range f.Flows() {
		if fl.ofLog() {
			logs = append(logs, fl)
		}
	}
	if len(logs) != 2 || logs[0].LogID() != "dd7fc950" || logs[1].LogID() != "dd7fc950" || logs[0].Local != l || logs[1].Local != l {
		t.Errorf("%d rows of logs, want two with the id and the addresses", len(logs))
	}
}

// TestSharedID: an id that two living connections have is said to be mixed, one that
// the next connection takes over is not.
func TestSharedID(t *testing.T) {
	tests := []struct {
		name  string
		ended bool
		mixed bool
	}{{"at once", false, true}, {"one after the other", true, false}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed()
			r := netip.MustParseAddrPort("10.1.1.3:5201")
			f.step(poll, map[sources.Series]float64{logGoodput: 1})
			see := func(id, local string) {
				f.event(sources.Event{Kind: sources.FlowSeen, Source: "tcp", Subject: id,
					Flow: &sources.Flow{ID: id, LogID: "dd7fc950", Local: netip.MustParseAddrPort(local), Remote: r}})
			}
			see("a", "10.1.1.2:1001")
			if tt.ended {
				f.event(sources.Event{Kind: sources.FlowEnded, Source: "tcp", Subject: "a"})
			}
			see("b", "10.1.1.2:1002")
			see("b", "10.1.1.2:1002")
			fl := f.flows.byID[flowKey{"", "siftr2", "dd7fc950"}]
			if fl.Mixed != tt.mixed {
				t.Errorf("mixed %v, want %v", fl.Mixed, tt.mixed)
			}
			said := len(f.Events()) == 1 && strings.Contains(Sentence(f.Events()[0]), "share the id dd7fc950")
			if said != tt.mixed {
				t.Errorf("events %+v", f.Events())
			}
		})
	}
}

// TestUnusedTSO compares what is set with what the connection does.
func TestUnusedTSO(t *testing.T) {
	tests := []struct {
		card, stack, flow string
		want              bool
	}{
		{"on", "1", "off", true},
		{"tso4", "1", "off", true},
		{"on", "", "off", true}, // no such knob known
		{"on", "1", "on", false},
		{"on", "1", "", false},
		{"off", "1", "off", false},
		{"on", "0", "off", false},
	}
	for _, tt := range tests {
		f := newFeed()
		for name, value := range map[string]string{"tso": tt.card, "tcp.tso": tt.stack} {
			if value != "" {
				f.event(sources.Event{Kind: sources.KnobSeen, Subject: name, New: value, Knob: &sources.KnobSpec{Name: name}})
			}
		}
		f.event(sources.Event{Kind: sources.FlowSeen, Source: "siftr2", Flow: &sources.Flow{ID: "dd7fc950", TSO: tt.flow}})
		if got := f.UnusedTSO(f.Flows()[0]); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestAsideKnobs: a log's file name is a knob that is listed and put back, and no
// part of a setting.
func TestAsideKnobs(t *testing.T) {
	f := newFeed()
	f.event(sources.Event{Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}})
	f.event(sources.Event{Kind: sources.KnobSeen, Subject: "siftr2.log", New: "/a", Knob: &sources.KnobSpec{Name: "siftr2.log", Aside: true}})
	f.step(5*time.Second, nil)
	before := f.Phase()
	f.event(sources.Event{Kind: sources.KnobTurning, Subject: "siftr2.log", Old: "/a", Asked: "/b"})
	f.event(sources.Event{Kind: sources.KnobTurned, Subject: "siftr2.log", Old: "/a", Asked: "/b", New: "/b"})
	if f.Phase() != before || !before.End.IsZero() {
		t.Error("another log file began another phase")
	}
	if got := f.Table("").Rows[0].Label; got != "aim=1" {
		t.Errorf("label %q", got)
	}
	if turned := f.Turned(); len(turned) != 1 || turned[0].Value != "/b" {
		t.Errorf("turned %+v", turned)
	}
}
