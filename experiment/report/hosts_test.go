package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment"
	"netwatch/sources"
)

var (
	hereIrqs = &sources.Series{Source: "irq", Subject: "em4", Metric: sources.Irqs}
	farIrqs  = &sources.Series{Host: "r1", Source: "irq", Subject: "em4", Metric: sources.Irqs}
	farIn    = &sources.Series{Host: "r1", Source: "tcp", Subject: "a", Metric: sources.RxGood}
)

// playBoth is a run of 8 s at aim=1 and one of 8 s at aim=2 on both ends: 8000 and
// 20000 interrupts a second here, 7900 and 19700 there, where 900 and 927 Mbit/s come
// in. Then the peer goes for two seconds.
func playBoth(each func(*experiment.Session)) *experiment.Session {
	p := &script{experiment.New(experiment.Options{Start: t0, Interface: "em4"}), t0, each}
	p.apply(sources.Batch{Events: []sources.Event{
		{Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}},
		{Kind: sources.SourceUp, Host: "r1", Source: experiment.PeerSource, Subject: "em4"},
		{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}},
		{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1"},
	}})
	seconds := func(here, far, mbit float64) {
		for range 8 {
			p.at = p.at.Add(time.Second)
			p.apply(sources.Batch{Samples: []sources.Sample{
				sources.Amount(hereIrqs, p.at, time.Second, here),
				sources.Amount(farIrqs, p.at, time.Second, far),
				sources.Amount(farIn, p.at, time.Second, mbit*1e6/8),
			}})
		}
	}
	seconds(8000, 7900, 900)
	p.apply(sources.Batch{Events: []sources.Event{
		{Kind: sources.KnobTurning, Subject: "aim", Old: "1", Asked: "2"},
		{Kind: sources.KnobTurning, Host: "r1", Subject: "aim", Old: "1", Asked: "2"},
		{Kind: sources.KnobTurned, Subject: "aim", Old: "1", Asked: "2", New: "2"},
		{Kind: sources.KnobTurned, Host: "r1", Subject: "aim", Old: "1", Asked: "2", New: "2"},
		{Kind: sources.KnobBoth, Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 9 * time.Millisecond},
	}})
	seconds(20000, 19700, 927)
	p.apply(sources.Batch{Events: []sources.Event{{Kind: sources.SourceGone, Host: "r1", Source: experiment.PeerSource, Text: "ssh ended"}}})
	for range 2 {
		p.at = p.at.Add(time.Second)
		p.apply(sources.Batch{Samples: []sources.Sample{sources.Amount(hereIrqs, p.at, time.Second, 1)}})
	}
	p.s.Finish()
	return p.s
}

// 20000/8000-1 = 150 %, 19700/7900-1 = 149.4 %, 927/900-1 = 3 %. The two seconds
// without the peer are a setting of their own, and not settled.
func TestMarkdownOfBothEnds(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, playBoth(func(*experiment.Session) {}), "s1"); err != nil {
		t.Fatal(err)
	}
	want := `### netwatch s1:em4 r1:em4, 2024-10-24 09:03:00 UTC, 18s

| host | setting | load | runs | s | goodput Mbit/s | n | delta | irq /s | n | delta |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
| s1 | aim=1 | run | 1 | 6 | - | - | - | 8000 | 6 | - |
| r1 | aim=1 | run | 1 | 6 | 900.0 | 6 | - | 7900 | 6 | - |
| s1 | aim=2 | run | 1 | 6 | - | - | - | 20000 | 6 | +150.0 % |
| r1 | aim=2 | run | 1 | 6 | 927.0 | 6 | +3.0 % | 19700 | 6 | +149.4 % |
| s1 | aim=2 r1:? | run | 0 | 0 | - | - | - | - | 0 | - |

Means without the first 2s after a turn and of a run, and without link gaps; n counts readings; delta is to the first row of the same load state, not tested.
- r1 goodput: from tcp in (of the one connection that moves most); whole-run means (Mbit/s): aim=1 900.0 (n 8), aim=2 927.0 (n 8)
- s1 irq: from irq; whole-run means (/s): aim=1 8000 (n 8), aim=2 20000 (n 8), aim=2 r1:? 1 (n 2)
- r1 irq: from irq; whole-run means (/s): aim=1 7900 (n 8), aim=2 19700 (n 8)
- r1 was gone once, for 2.0 s: its knobs are not known (r1:?).
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestLinesOfBothEnds(t *testing.T) {
	var out bytes.Buffer
	l := NewText(&out, time.Second, "s1")
	playBoth(ticks(t, l))
	var got []string
	for _, v := range strings.Split(out.String(), "\n") {
		got = append(got, strings.Join(strings.Fields(v), " "))
	}
	head := []string{
		"# 09:03:00.000 s1 iperf3 #1 began",
		"em4 tx rx tx pkt/s rx pkt/s drop err goodput in ping rtt lost srtt cwnd segment retr irq cpu",
		"time host Mbit/s Mbit/s pkt/s pkt/s /s /s Mbit/s Mbit/s ms probes us KiB bytes /s /s %",
		"09:03:01 s1 - - - - - - - - - - - - - - 8000 - run 1 aim=1",
		"09:03:01 r1 - - - - - - - 900.0 - - - - - - 7900 - run 1 aim=1",
		"09:03:02 s1 - - - - - - - - - - - - - - 8000 - run 1 aim=1",
	}
	if d := cmp.Diff(head, got[:len(head)]); d != "" {
		t.Error(d)
	}
	tail := []string{
		"09:03:18 s1 - - - - - - - - - - - - - - 1 - run 1 aim=2",
		"09:03:18 r1 - - - - - - - - - - - - - - - - run 1 aim=2?",
		"",
	}
	if d := cmp.Diff(tail, got[len(got)-len(tail):]); d != "" {
		t.Error(d)
	}
	for _, want := range []string{"# 09:03:08.000 r1 aim 1 -> 2", "# 09:03:08.000 s1 aim 1 -> 2 both, skew 9.0 ms", "# 09:03:16.000 r1 gone: ssh ended"} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("%q is not said", want)
		}
	}
	if n := strings.Count(out.String(), "Mbit/s"); n != 4 {
		t.Errorf("%d columns of Mbit/s in 36 lines: the header must come once in 20 times", n)
	}
}

// A peer that comes later gives the text lines another shape, which is said.
func TestHeaderWhenAPeerComes(t *testing.T) {
	var out bytes.Buffer
	l := NewText(&out, time.Second, "")
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
	for i := range 3 {
		b := sources.Batch{At: t0.Add(time.Duration(i) * time.Second)}
		if i == 2 {
			b.Events = []sources.Event{{At: b.At, Kind: sources.SourceUp, Host: "r1", Source: experiment.PeerSource}}
		}
		s.Apply(b)
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var first []string
	for _, v := range lines {
		first = append(first, strings.Join(strings.Fields(v)[:2], " "))
	}
	want := []string{"em4 tx", "time Mbit/s", "09:03:01 -", "em4 tx", "time host", "09:03:02 here", "09:03:02 r1"}
	if d := cmp.Diff(want, first); d != "" {
		t.Error(d)
	}
	if len(lines[4]) != len(lines[3]) || strings.Index(lines[4], "Mbit/s") != strings.Index(lines[3], "tx")-len("Mbit/s")+len("tx") {
		t.Errorf("the columns do not stand below each other:\n%s\n%s", lines[3], lines[4])
	}
}

// While a peer is waited for, the lines say whose they are as they will when it is there.
func TestLinesBeforeThePeerCame(t *testing.T) {
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4", PeerInterfaces: map[string]string{"r1": "em0"}})
	var text, table bytes.Buffer
	l := NewText(&text, time.Second, "s1")
	for i := range 2 {
		at := t0.Add(time.Duration(i) * time.Second)
		s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(hereIrqs, at, time.Second, 8000)},
			Events: []sources.Event{{At: at, Kind: sources.Mark, Text: "a"}}})
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	s.Finish()
	if err := Markdown(&table, s, "s1"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# 09:03:00.000 s1 mark a\n", "\n09:03:01 s1 "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not said:\n%s", want, text.String())
		}
	}
	lines := strings.Split(table.String(), "\n")
	if !strings.HasPrefix(lines[0], "### netwatch s1:em4 r1:em0, ") || !strings.HasPrefix(lines[2], "| host |") || !strings.HasPrefix(lines[4], "| s1 |") ||
		strings.Count(lines[2], "|") != strings.Count(lines[3], "|") || strings.Count(lines[2], "|") != strings.Count(lines[4], "|") {
		t.Errorf("the table:\n%s", table.String())
	}
}

func TestCSVOfBothEnds(t *testing.T) {
	var out bytes.Buffer
	l := NewCSV(&out, time.Second, "s1")
	playBoth(ticks(t, l))
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]int{}
	for _, r := range rows[1:] {
		hosts[r[1]]++
	}
	// 18 intervals each; events: the run and the turn here and of both, the turn and the end there.
	if d := cmp.Diff(map[string]int{"s1": 18 + 3, "r1": 18 + 2}, hosts); d != "" {
		t.Error(d)
	}
}
