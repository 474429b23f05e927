package panes

import (
	"fmt"
	"testing"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// longList is every knob of an 82574L on FreeBSD with both siftr modules loaded, with
// the words of the real ones.
func longList() *experiment.Session {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	sense, bits := []string{"off", "on"}, []string{"0", "1"}
	const reset, names = sources.LinkReset, " alone can be set by name"
	b := sources.Batch{At: storyStart}
	see := func(value string, k sources.KnobSpec) {
		b.Events = append(b.Events, sources.Event{At: b.At, Kind: sources.KnobSeen, Source: "knobs", Subject: k.Name, New: value, Knob: &k})
	}
	see("1", sources.KnobSpec{Name: "aim", Values: []string{"0", "1", "2"}, Meanings: []string{"fixed, 8000/s at most", "normal", "low latency"}})
	see("488", sources.KnobSpec{Name: "itr", Note: "interrupt delay limit in usecs/4", Command: "sudo sysctl dev.em.4.itr=%s"})
	see("off", sources.KnobSpec{Name: "tso", Label: "TSO", Values: sense, Disruption: reset, Note: "on: new connections only; tso4 or tso6" + names,
		Command: "sudo ifconfig em4 tso (off: -tso)"})
	see("", sources.KnobSpec{Name: "lro", Label: "LRO", Locked: "em4 cannot do LRO"})
	see("on", sources.KnobSpec{Name: "txcsum", Values: sense, Disruption: reset,
		Note:    "some drivers switch TSO off with it, and none on without it; txcsum4 or txcsum6" + names,
		Command: "sudo ifconfig em4 txcsum txcsum6 (off: -txcsum -txcsum6)"})
	see("on", sources.KnobSpec{Name: "rxcsum", Values: sense, Disruption: reset, Note: "rxcsum4 or rxcsum6" + names})
	see("3", sources.KnobSpec{Name: "fc", Values: []string{"0", "1", "2", "3"}, Meanings: []string{"off", "heeds pause frames", "sends them", "both"},
		Command: "sudo sysctl dev.em.4.fc=%s"})
	see("1", sources.KnobSpec{Name: "tcp.tso", Label: "tcp TSO", Values: bits, Meanings: sense, Note: "running connections follow at once; no link reset"})
	for _, m := range []string{"siftr", "siftr2"} {
		see("0", sources.KnobSpec{Name: m, Values: bits, Meanings: []string{"off", "logging"}, Note: "logging costs throughput"})
	}
	for _, m := range []string{"siftr", "siftr2"} {
		see("/var/log/"+m+".log", sources.KnobSpec{Name: m + ".log", Label: m + " log", Aside: true})
		see("0", sources.KnobSpec{Name: m + ".port", Label: m + " port", Aside: true, Note: "0: all ports"})
		see("1", sources.KnobSpec{Name: m + ".ppl", Label: m + " ppl", Aside: true})
		see("0", sources.KnobSpec{Name: m + ".cwnd", Label: m + " cwnd", Aside: true, Values: bits, Meanings: []string{"every packet", "only where cwnd changed"}})
	}
	see("00000000", sources.KnobSpec{Name: "siftr2.flowid", Label: "siftr2 flowid", Aside: true, Command: "sudo sysctl net.inet.siftr2.flowid_filter=%s",
		Note: "8 hex digits instead of the port, 00000000: all; a card that gives no hash (em) logs nothing"})
	see("cubic", sources.KnobSpec{Name: "cc", Values: []string{"cubic", "newreno", "htcp"}, Note: "new connections only"})
	s.Apply(b)
	s.Apply(sources.Batch{At: storyStart, Events: []sources.Event{
		{At: storyStart, Kind: sources.KnobDrifted, Source: "knobs", Subject: "siftr2.log", Old: "/var/log/siftr2.log", New: "/home/user/run12.log"}}})
	return s
}

// The list fits, or goes with the row that is selected.
func TestLongListOfKnobs(t *testing.T) {
	for _, c := range []struct{ w, h, row int }{{120, 40, 4}, {80, 24, 4}, {80, 24, 18}, {59, 39, 4}, {59, 39, 19}, {40, 8, 18}} {
		name := fmt.Sprintf("knobs-all-%d-%dx%d", c.row, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			f := frame(longList(), theme.Options{})
			f.View.Page, f.View.Row = Knobs, c.row
			golden(t, name, Screen(f, c.w, c.h)+"\n")
		})
	}
	f := frame(longList(), theme.Options{})
	golden(t, "knobs-all-charts-80x24", Screen(f, 80, 24)+"\n")
}
