package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment"
	"netwatch/sources"
)

var t0 = time.Date(2024, 10, 24, 9, 3, 0, 0, time.UTC)

var (
	goodput = &sources.Series{Source: "iperf3", Subject: experiment.LoadSum, Metric: sources.Goodput}
	ping    = &sources.Series{Source: "ping", Subject: "r1", Metric: sources.PingRTT}
	lost    = &sources.Series{Source: "ping", Subject: "r1", Metric: sources.PingLost}
	cwnd    = &sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Cwnd}
)

// A script plays batches into a session, each at the script's time, and shows it
// after each.
type script struct {
	s    *experiment.Session
	at   time.Time
	each func(*experiment.Session)
}

func (p *script) apply(b sources.Batch) {
	b.At = p.at
	for i := range b.Events {
		b.Events[i].At = p.at
	}
	p.s.Apply(b)
	p.each(p.s)
}

// ticks lets l look after each batch.
func ticks(t *testing.T, l *Lines) func(*experiment.Session) {
	return func(s *experiment.Session) {
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
}

// play is a run of 8 s at aim=1 and one of 8 s at aim=2, 900 and 927 Mbit/s, with
// a ping each second of 200, 210, … and of 150, 160, … us.
func play(each func(*experiment.Session)) *experiment.Session {
	p := &script{experiment.New(experiment.Options{Start: t0, Interface: "em4", Simulated: true}), t0, each}
	p.apply(sources.Batch{Events: []sources.Event{
		{Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}},
		{Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1", Text: "iperf3 -c r1"},
	}})
	seconds := func(mbit, rtt float64) {
		for i := range 8 {
			p.at = p.at.Add(time.Second)
			p.apply(sources.Batch{Samples: []sources.Sample{
				sources.Amount(goodput, p.at, time.Second, mbit*1e6/8),
				sources.Reading(ping, p.at, time.Second, rtt+10*float64(i)),
				{Series: cwnd, At: p.at, Span: time.Second, N: 1000, Sum: 1000 * 512 * 1024, Min: 1024, Max: 1 << 20, Last: 5},
			}})
		}
	}
	seconds(900, 200)
	p.apply(sources.Batch{Events: []sources.Event{
		{Kind: sources.KnobTurning, Subject: "aim", Old: "1", Asked: "2"},
		{Kind: sources.KnobTurned, Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 9 * time.Millisecond},
	}})
	seconds(927, 150)
	p.apply(sources.Batch{Samples: []sources.Sample{sources.Amount(lost, p.at.Add(-2*time.Second), 200*time.Millisecond, 1)}})
	p.s.Finish()
	return p.s
}

// Six of eight readings count (2 s of settling): 220..270 has the mean 245 and
// 170..220 the mean 195; the spread of six equidistant steps of 10 is
// sqrt(10^2 * 17.5 / 5) = 18.708; 195/245-1 = -20.4 %; 927/900-1 = 3 %.
func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, play(func(*experiment.Session) {}), ""); err != nil {
		t.Fatal(err)
	}
	want := `### netwatch em4 SIMULATED, 2024-10-24 09:03:00 UTC, 16s

| setting | load | runs | s | goodput Mbit/s | n | delta | ping rtt ms | ping min/avg/max/sd ms | lost | n | delta | cwnd KiB | n | delta |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| aim=1 | run | 1 | 6 | 900.0 | 6 | - | 0.245 | 0.220/0.245/0.270/0.019 | 0 | 6 | - | 512 | 6000 | - |
| aim=2 | run | 1 | 6 | 927.0 | 6 | +3.0 % | 0.195 | 0.170/0.195/0.220/0.019 | 1 | 6 | -20.4 % | 512 | 6000 | 0.0 % |

Means without the first 2s after a turn and of a run, and without link gaps; n counts readings; delta is to the first row of the same load state, not tested.
- goodput: from iperf3; whole-run means (Mbit/s): aim=1 900.0 (n 8), aim=2 927.0 (n 8)
- ping rtt: from ping; whole-run means (ms): aim=1 0.235 (n 8), aim=2 0.185 (n 8)
- cwnd: from siftr2; whole-run means (KiB): aim=1 512 (n 8000), aim=2 512 (n 8000)
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestMarkdownOfNothing(t *testing.T) {
	var out bytes.Buffer
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
	if err := Markdown(&out, s, ""); err != nil || !strings.Contains(out.String(), "Nothing was counted.") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestTextLines(t *testing.T) {
	var out bytes.Buffer
	l := NewText(&out, time.Second, "")
	play(ticks(t, l))
	lines := strings.Split(out.String(), "\n")
	var plain, events []string
	for _, v := range lines {
		if strings.HasPrefix(v, "#") {
			events = append(events, v)
		} else {
			plain = append(plain, strings.Join(strings.Fields(v), " "))
		}
	}
	if want := []string{"# 09:03:00.000 iperf3 #1 began: iperf3 -c r1", "# 09:03:08.000 aim 1 -> 2 (9.0 ms)"}; !cmp.Equal(events, want) {
		t.Errorf("events: %s", cmp.Diff(want, events))
	}
	want := []string{
		"em4 SIMULATED",
		"tx rx tx pkt/s rx pkt/s drop err goodput in ping rtt lost srtt cwnd segment retr irq cpu",
		"time Mbit/s Mbit/s pkt/s pkt/s /s /s Mbit/s Mbit/s ms probes us KiB bytes /s /s %",
		"09:03:01 - - - - - - 900.0 - 0.200 0 - 512 - - - - run 1 aim=1",
	}
	if got := plain[:4]; !cmp.Equal(got, want) {
		t.Errorf("lines: %s", cmp.Diff(want, got))
	}
	if n := strings.Count(out.String(), "SIMULATED"); n != 1 {
		t.Errorf("%d headers in 16 lines", n)
	}
}

// The drops and errors of both directions are one figure each; a knob that the driver
// does not have is not named.
func TestLineOfACard(t *testing.T) {
	var out bytes.Buffer
	p := &script{experiment.New(experiment.Options{Start: t0, Interface: "em4"}), t0, func(*experiment.Session) {}}
	l := NewCSV(&out, time.Second, "")
	card := func(m sources.Metric, n float64) sources.Sample {
		return sources.Amount(&sources.Series{Source: "nic", Subject: "em4", Metric: m}, t0.Add(time.Second), time.Second, n)
	}
	p.apply(sources.Batch{Events: []sources.Event{
		{Kind: sources.KnobSeen, Subject: "lro", Knob: &sources.KnobSpec{Name: "lro", Locked: "em4 cannot do LRO"}},
		{Kind: sources.KnobSeen, Subject: "aim", New: "1", Knob: &sources.KnobSpec{Name: "aim"}},
	}})
	if err := l.Tick(p.s); err != nil {
		t.Fatal(err)
	}
	p.at = t0.Add(time.Second)
	p.apply(sources.Batch{Samples: []sources.Sample{card(sources.RxDrops, 40), card(sources.TxDrops, 2), card(sources.RxErrors, 0), card(sources.TxErrors, 3)}})
	if err := l.Tick(p.s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for i, want := range map[int][2]string{5: {"tx pkt/s", "-"}, 7: {"drops /s", "42"}, 8: {"errors /s", "3"}, len(rows[0]) - 2: {"knobs", "aim=1"}} {
		if rows[0][i] != want[0] || rows[1][i] != want[1] {
			t.Errorf("column %d: %q %q, want %q", i, rows[0][i], rows[1][i], want)
		}
	}
}

// 900 Mbit/s are 112.5 MB/s. The pings stay as they are.
func TestLinesInBytes(t *testing.T) {
	for name, c := range map[string]struct {
		make        func(*bytes.Buffer) *Lines
		unit, value string
	}{
		"text": {func(b *bytes.Buffer) *Lines { return NewText(b, time.Second, "") }, " MB/s ", "  112.50 "},
		"csv":  {func(b *bytes.Buffer) *Lines { return NewCSV(b, time.Second, "") }, ",goodput MB/s,", ",112.50,"},
	} {
		var out bytes.Buffer
		l := c.make(&out)
		l.InBytes()
		play(ticks(t, l))
		for _, want := range []string{c.unit, c.value, "0.200"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, out.String())
			}
		}
		if strings.Contains(out.String(), "Mbit") {
			t.Errorf("%s tells Mbit/s, too:\n%s", name, out.String())
		}
	}
}

// What a log tells that holds only some of the packets is no goodput, and not nothing. It
// stands in the column of its direction as long as nothing better tells.
func TestLinesOfASampledLog(t *testing.T) {
	for _, c := range []struct {
		metric      sources.Metric
		goodput, in string
	}{{sources.Sampled, "sampled", "-"}, {sources.RxSampled, "-", "sampled"}} {
		var out bytes.Buffer
		l := NewCSV(&out, time.Second, "")
		s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
		log := &sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: c.metric}
		for i := range 12 {
			b := sources.Batch{At: t0.Add(time.Duration(i) * time.Second)}
			if i > 0 && i <= 4 {
				b.Samples = append(b.Samples, sources.Amount(log, b.At, time.Second, 1e6))
			}
			if i > 2 && i <= 4 {
				b.Samples = append(b.Samples, sources.Amount(goodput, b.At, time.Second, 1e6))
			}
			s.Apply(b)
			if err := l.Tick(s); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := func(name string) int { return slices.Index(rows[0], name) }
		for line, want := range map[int][2]string{1: {c.goodput, c.in}, 3: {"8.0", c.in}, 11: {"-", "-"}} {
			got := [2]string{rows[line][column("goodput Mbit/s")], rows[line][column("load in Mbit/s")]}
			if got != want {
				t.Errorf("%s, line %d: %q, want %q", c.metric.Name, line, got, want)
			}
		}
	}
}

func TestCSVHasOneShape(t *testing.T) {
	var out bytes.Buffer
	l := NewCSV(&out, time.Second, "")
	play(ticks(t, l))
	rows, err := csv.NewReader(&out).ReadAll() // refuses rows of another length
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+2+16 {
		t.Errorf("%d rows, want a header, two events and sixteen lines", len(rows))
	}
	if h := rows[0]; h[0] != "time" || h[len(h)-1] != "event SIMULATED" {
		t.Errorf("header %q", h)
	}
}

// A line tells what was told since the line before, once: a slow source has figures
// in some lines, a loss that is told late is in the line after, and the last line
// has what came after the last full interval.
func TestALineTellsEverythingOnce(t *testing.T) {
	var out bytes.Buffer
	s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
	l := NewText(&out, time.Second, "")
	at := t0
	tick := func(d time.Duration, samples ...sources.Sample) {
		at = at.Add(d)
		s.Apply(sources.Batch{At: at, Samples: samples})
		if err := l.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	tick(0)
	tick(time.Second, sources.Amount(goodput, t0.Add(time.Second), time.Second, 100e6/8), sources.Reading(ping, t0.Add(time.Second), 0, 250))
	tick(time.Second)
	tick(time.Second, sources.Amount(goodput, t0.Add(2*time.Second), 2*time.Second, 2*200e6/8), // two seconds in one row
		sources.Amount(lost, t0.Add(1200*time.Millisecond), 200*time.Millisecond, 1), sources.Amount(lost, t0.Add(1400*time.Millisecond), 200*time.Millisecond, 1))
	tick(300*time.Millisecond, sources.Amount(goodput, at, 300*time.Millisecond, 0.3*300e6/8))
	if err := l.Finish(s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range strings.Split(strings.TrimSpace(out.String()), "\n")[2:] {
		f := strings.Fields(v)
		got = append(got, f[7]+" "+f[9]+" "+f[10])
	}
	want := []string{"100.0 0.250 0", "- - 0", "200.0 - 2", "300.0 - 0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Two directions of a source that follow each other in turn are named once each.
func TestFootnoteNamesASourceOnce(t *testing.T) {
	p := &script{experiment.New(experiment.Options{Start: t0, Interface: "em4"}), t0, func(*experiment.Session) {}}
	by := map[string]*sources.Series{}
	for _, name := range []string{"siftr2", "iperf3"} {
		by[name] = &sources.Series{Source: name, Subject: "SUM", Metric: sources.Goodput}
	}
	p.apply(sources.Batch{Events: []sources.Event{{Kind: sources.KnobSeen, Subject: "aim", New: "0", Knob: &sources.KnobSpec{Name: "aim"}}}})
	for i, name := range []string{"siftr2", "iperf3", "siftr2", "iperf3", "siftr2"} {
		value := string(rune('1' + i))
		p.apply(sources.Batch{Events: []sources.Event{{Kind: sources.KnobTurned, Subject: "aim", Old: string(rune('0' + i)), Asked: value, New: value}}})
		for range 5 {
			p.at = p.at.Add(time.Second)
			p.apply(sources.Batch{Samples: []sources.Sample{sources.Amount(by[name], p.at, time.Second, 1e8)}})
		}
	}
	p.s.Finish()
	var out bytes.Buffer
	if err := Markdown(&out, p.s, ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n- goodput: from siftr2 (of the one connection that moves most), iperf3\n") {
		t.Errorf("the footnote is another one:\n%s", out.String())
	}
}

// Of several connections that nobody sums up goodput is that of one, which is said when it
// becomes so, once.
func TestLinesOfOneConnection(t *testing.T) {
	for _, c := range []struct {
		source string
		flows  []float64 // MB/s
		said   int
	}{{"tcp", []float64{10, 9, 8}, 1}, {"siftr2", []float64{10, 9}, 1}, {"tcp", []float64{10, 0}, 0}} {
		var text, table bytes.Buffer
		l, rows := NewText(&text, time.Second, ""), NewCSV(&table, time.Second, "")
		s := experiment.New(experiment.Options{Start: t0, Interface: "em4"})
		var series []*sources.Series
		for i := range c.flows {
			series = append(series, &sources.Series{Source: c.source, Subject: string(rune('a' + i)), Metric: sources.Goodput})
		}
		for i := range 6 {
			b := sources.Batch{At: t0.Add(time.Duration(i) * time.Second)}
			for j, rate := range c.flows {
				b.Samples = append(b.Samples, sources.Amount(series[j], b.At, time.Second, rate*1e6))
			}
			s.Apply(b)
			if err := errors.Join(l.Tick(s), rows.Tick(s)); err != nil {
				t.Fatal(err)
			}
		}
		words := fmt.Sprintf("%s: goodput is of 1 of %d connections that move data", c.source, len(c.flows))
		if n := strings.Count(text.String(), "# 09:03:01.000 "+words+"\n"); n != c.said || strings.Count(text.String(), "1 of") != c.said {
			t.Errorf("%v: %q is said %d times:\n%s", c.flows, words, n, text.String())
		}
		all, err := csv.NewReader(&table).ReadAll()
		if err != nil || len(all) != 1+5+c.said {
			t.Errorf("%v: %d rows, %v:\n%s", c.flows, len(all), err, table.String())
		}
	}
}
