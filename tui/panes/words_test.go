package panes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.1512: "0.151", 0.9996: "1.000", 9.9994: "9.999", 9.9996: "10.00", 20.449: "20.45",
		99.994: "99.99", 99.996: "100.0", 928.24: "928.2", 999.94: "999.9", 999.96: "1000", 4784.4: "4784", 65483: "65483", -12.5: "-12.50",
	} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	tests := []struct {
		v     float64
		m     sources.Metric
		bytes bool
		want  string
	}{
		{928.2e6 / 8, sources.Goodput, false, "928 Mbit/s"},
		{928.2e6 / 8, sources.Goodput, true, "116 MB/s"},
		{9.28e9 / 8, sources.TxOctets, false, "9280 Mbit/s"},
		{12.5e9 / 8, sources.TxOctets, false, "12.5 Gbit/s"},
		{12, sources.TxOctets, false, "96.0 bit/s"},
		{0, sources.TxOctets, false, "0 bit/s"},
		{733 * 1024, sources.Cwnd, false, "733 KiB"},
		{1448, sources.Cwnd, false, "1448 bytes"},
		{65160, sources.Segment, false, "65160 bytes"},
		{258, sources.SRTT, false, "258 us"},
		{25800, sources.SRTT, false, "25.8 ms"},
		{151, sources.PingRTT, false, "0.151 ms"},
		{0.71, sources.CPUBusy, false, "71.0 %"},
		{20450, sources.Irqs, false, "20.4 k/s"},
	}
	for _, c := range tests {
		if got := short(c.v, c.m, c.bytes); got != c.want {
			t.Errorf("short(%v, %s, %v) = %q, want %q", c.v, c.m.Name, c.bytes, got, c.want)
		}
	}
}

func TestSmallWords(t *testing.T) {
	for got, want := range map[string]string{
		percent(0.027): "+2.7%", percent(-0.244): "-24.4%", percent(1.562): "+156%", percent(0): "0.0%",
		percent(-0.0004): "0.0%", percent(12.75): "+1275%", percent(99.98): "+9998%", percent(127.54): "x129", percent(1e7): "x1e+07",
		count(9999): "9999", count(66_123): "66k", count(12_345_678): "12M",
		age(4200 * time.Millisecond): "4.2s", age(190 * time.Second): "3m10s", age(125 * time.Minute): "2h05m", age(-1): "0s",
		experiment.Took(240 * time.Microsecond): "0.2 ms", experiment.Took(15 * time.Millisecond): "15 ms", experiment.Took(3100 * time.Millisecond): "3.1 s",
		stopwatch(41 * time.Second): "0:41", stopwatch(3723 * time.Second): "1:02:03",
		rate(66_100): "66.1k", rate(5): "5", span(30 * time.Second): "30s", span(5 * time.Minute): "5m", span(time.Hour): "1h",
		tight(928.2e6/8, sources.TxOctets): "928M", tight(12.5e9/8, sources.TxOctets): "12G", tight(12, sources.TxOctets): "96",
		whole("em(4) 82546EB UP", 13): "em(4) 82546EB", whole("em(4) 82546EB UP", 3): "", whole("up", -1): "",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSay(t *testing.T) {
	tests := []struct {
		e    sources.Event
		want string
	}{
		{sources.Event{Kind: sources.KnobTurned, Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 9 * time.Millisecond}, "aim 1 -> 2 (9.0 ms)"},
		{sources.Event{Kind: sources.KnobTurned, Subject: "aim", Old: "1", Asked: "7", New: "2"}, "aim 1 -> 2, asked 7"},
		{sources.Event{Kind: sources.KnobFailed, Subject: "tso", Asked: "off", New: "on", Text: "operation not permitted"}, "tso stays on, asked off: operation not permitted"},
		{sources.Event{Kind: sources.KnobDrifted, Host: "r1", Subject: "aim", Old: "1", New: "0"}, "r1 aim 1 -> 0, not by netwatch"},
		{sources.Event{Kind: sources.LinkDown, Subject: "em4"}, "em4 link down"},
		{sources.Event{Kind: sources.LinkUp, Subject: "em4", Span: 3100 * time.Millisecond}, "em4 link up after 3.1 s"},
		{sources.Event{Kind: sources.CounterReset, Subject: "em4"}, "em4 counters reset, no rate across it"},
		{sources.Event{Kind: sources.RunEnded, Subject: "iperf3 #1", Text: "928 Mbit/s"}, "iperf3 #1 ended: 928 Mbit/s"},
		{sources.Event{Kind: sources.SourceNote, Source: "siftr2", Text: "line 7: no flow id"}, "siftr2: line 7: no flow id"},
		{sources.Event{Kind: sources.SourceGone, Source: "ping", Text: "unknown host r9"}, "ping ended: unknown host r9"},
		{sources.Event{Kind: sources.PingLate, Subject: "r1", Text: "seq 41 after 1.3 s"}, "ping r1 late answer: seq 41 after 1.3 s"},
		{sources.Event{Kind: sources.Mark, Text: "1"}, "mark 1"},
		{sources.Event{Kind: "later-kind", Subject: "x", Text: "y"}, "later-kind x: y"},
	}
	for _, c := range tests {
		if got, _ := say(c.e); got != c.want {
			t.Errorf("%s: got %q, want %q", c.e.Kind, got, c.want)
		}
	}
	if _, ink := say(sources.Event{Kind: sources.SourceNote, Error: true}); ink != theme.Alert {
		t.Error("an error is not loud")
	}
}

func TestFewest(t *testing.T) {
	rows := func(current int) []mean {
		out := make([]mean, 5)
		for i := range out {
			out[i].labels[0], out[i].current = string(rune('a'+i)), i == current
		}
		return out
	}
	tests := []struct {
		current, n int
		want       string
	}{
		{4, 9, "abcde"}, {4, 3, "ade"}, {1, 3, "abe"}, {0, 2, "ae"}, {2, 2, "ac"}, {4, 2, "ae"},
		{0, 1, "a"}, {2, 1, "c"}, {4, 1, "e"}, {2, 0, ""}, {2, -1, ""},
	}
	for _, c := range tests {
		var got strings.Builder
		for _, m := range fewest(rows(c.current), c.n) {
			got.WriteString(m.labels[0])
		}
		if got.String() != c.want {
			t.Errorf("%d of abcde with %d present: got %q, want %q", c.n, c.current, got.String(), c.want)
		}
	}
}

// TestWhyNone holds an empty chart to the words of the source that should fill it.
func TestWhyNone(t *testing.T) {
	tests := []struct {
		name   string
		events []sources.Event
		want   string
	}{
		{"nobody", nil, "no source: siftr2, siftr, tcp"},
		{"gone", []sources.Event{{Kind: sources.SourceGone, Source: "siftr2", Text: "module not loaded (kldload siftr2)", Error: true}}, "no siftr2: module not loaded (kldload siftr2)"},
		{"an error", []sources.Event{{Kind: sources.SourceNote, Source: "siftr", Text: "no siftr log", Error: true}}, "no siftr: no siftr log"},
		{"it has not spoken", []sources.Event{{Kind: sources.SourceUp, Source: "tcp"}}, "tcp has told nothing yet"},
		{"a source of something else", []sources.Event{{Kind: sources.SourceGone, Source: "ping", Text: "unknown host"}}, "no source: siftr2, siftr, tcp"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
			s.Apply(sources.Batch{At: storyStart, Events: c.events})
			if got := frame(s, theme.Options{}).whyNone(experiment.SRTT); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestChoose gives told quantities the room first, and keeps the order.
func TestChoose(t *testing.T) {
	f := frame(newStory().tell(2), theme.Options{}) // only the interface, ping, irq and cpu speak
	names := func(n int) string {
		var out []string
		for _, p := range f.choose(n) {
			out = append(out, p.name)
		}
		return strings.Join(out, ", ")
	}
	if got, want := names(3), "tx, ping rtt, irq"; got != want {
		t.Errorf("three charts: %s, want %s", got, want)
	}
	if got, want := names(8), "tx, ping rtt, srtt, irq, rx, cpu, tx pkt, rx pkt"; got != want {
		t.Errorf("eight charts: %s, want %s", got, want)
	}
}

// TestAfterTheRun keeps the run's means on the screen when it is over, and does
// not call the silence of its sources trouble.
func TestAfterTheRun(t *testing.T) {
	s := newStory().tell(well)
	end := s.Now()
	s.Apply(sources.Batch{At: end, Events: []sources.Event{{At: end, Kind: sources.RunEnded, Source: "iperf3", Subject: "iperf3 #1"}}})
	for i := range 80 {
		s.Apply(sources.Batch{At: end.Add(time.Duration(i) * 100 * time.Millisecond)})
	}
	got := Screen(frame(s, theme.Options{}), 120, 40)
	for _, want := range []string{"idle", "run mean", "aim=1           904.8", "silent 7.9s", "? 7.9s"} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen lacks %q:\n%s", want, got)
		}
	}
}

// TestKnobsLine takes the longest form that fits and never drops a turned knob.
func TestKnobsLine(t *testing.T) {
	f := frame(newStory().tell(well), theme.Options{})
	for w, want := range map[int]string{
		60: "[a] aim=2 (start 1)  [t] TSO on  [T] tcp.tso=1  LRO on",
		50: "aim=2*  TSO on  tcp.tso=1  LRO on",
		20: "aim=2*  TSO on    +2",
		16: "aim=2*        +3",
	} {
		g := theme.NewGrid(w, 1)
		knobsLine(f, g)
		if got := g.String(f.Theme); got != want {
			t.Errorf("%d wide: %q, want %q", w, got, want)
		}
	}
	f.Session.Apply(sources.Batch{At: f.Session.Now(), Events: []sources.Event{{At: f.Session.Now(), Kind: sources.KnobTurning, Subject: "tso", Asked: "off"}}})
	g := theme.NewGrid(80, 1)
	knobsLine(f, g)
	if got := g.String(f.Theme); !strings.Contains(got, "[t] TSO on>off") {
		t.Errorf("a turn under way does not show: %q", got)
	}
}

// TestTinyCountsKnobs: the smallest screen with words shows turned knobs first, and
// counts those that find no room.
func TestTinyCountsKnobs(t *testing.T) {
	s := longList()
	turn := func(name, old, value string) {
		s.Apply(sources.Batch{At: s.Now().Add(time.Millisecond), Events: []sources.Event{{Kind: sources.KnobTurned, Subject: name, Old: old, Asked: value, New: value}}})
	}
	lines := func() string {
		var out []string
		for _, l := range strings.Split(Screen(frame(s, theme.Options{}), 20, 3), "\n") {
			out = append(out, strings.TrimRight(l, " "))
		}
		return strings.Join(out, "|")
	}
	if got, want := lines(), "em4 aim=1 itr=488|TSO off txcsum on|rxcsum on fc=3 +4"; got != want {
		t.Errorf("nothing turned: %q, want %q", got, want)
	}
	turn("cc", "cubic", "newreno")
	turn("rxcsum", "on", "off")
	if got, want := lines(), "em4 rxcsum off|cc=newreno aim=1|itr=488 TSO off +5"; got != want {
		t.Errorf("two turned: %q, want %q", got, want)
	}
}

// TestLosses: packets a second stand on the line of the sources, drops and errors
// while there are any; both have charts as long as there were some in the window.
func TestLosses(t *testing.T) {
	s := newStory()
	s.tell(40)
	f := frame(s.session, theme.Options{})
	calm := Screen(f, 120, 40)
	for s.tick < 420 {
		s.tick++
		b := s.next()
		s.amount("nic", "em4", sources.RxDrops, 100*time.Millisecond, 390)
		s.amount("nic", "em4", sources.TxDrops, 100*time.Millisecond, 8)
		s.amount("nic", "em4", sources.RxErrors, 100*time.Millisecond, 0)
		s.amount("nic", "em4", sources.TxErrors, 100*time.Millisecond, 2)
		b.Samples = s.batch.Samples
		s.session.Apply(b)
	}
	lossy := map[[2]int]string{}
	for _, z := range [][2]int{{200, 50}, {120, 40}, {99, 49}, {80, 24}, {60, 15}, {59, 39}, {80, 11}, {40, 8}, {39, 7}} {
		lossy[z] = Screen(f, z[0], z[1])
		for _, want := range []string{"drops 398/s", "errors 2/s"} {
			if !strings.Contains(lossy[z], want) {
				t.Errorf("%v lacks %q:\n%s", z, want, lossy[z])
			}
			if strings.Contains(calm, want) {
				t.Errorf("calm, and yet %q:\n%s", want, calm)
			}
		}
	}
	if want := "nic tx 77.3k rx 38.7k pkt/s  drops 398/s  errors 2/s  ping"; !strings.Contains(lossy[[2]int{200, 50}], want) {
		t.Errorf("lacks %q:\n%s", want, lossy[[2]int{200, 50}])
	}
	for _, name := range []string{"rx drops", "tx drops", "tx errors"} {
		if !strings.Contains(lossy[[2]int{120, 40}], "\n"+name) || strings.Contains(calm, "\n"+name) {
			t.Errorf("the chart of %s is not there, or was before:\n%s", name, lossy[[2]int{120, 40}])
		}
	}
	if strings.Contains(lossy[[2]int{120, 40}], "\nrx errors") {
		t.Error("a chart of errors that there were none of")
	}
	s.tell(45)
	if got := Screen(f, 120, 40); strings.Contains(got, "drops 398/s") || !strings.Contains(got, "\nrx drops") {
		t.Errorf("after it: the figure must go and the chart stay:\n%s", got)
	}
}

// TestNothingIsCutInMidWord: the real tmux halves show whole words and whole pairs.
func TestNothingIsCutInMidWord(t *testing.T) {
	for words, want := range map[string]map[int]string{
		"veth  10 Gbit/s  full-duplex  mtu 1500": {40: "veth  10 Gbit/s  full-duplex  mtu 1500", 36: "veth  10 Gbit/s  full-duplex", 12: "veth", 8: "veth", 7: "veth", 3: ""},
		"em(4) 82546EB UP":                       {16: "em(4) 82546EB UP", 15: "em(4) 82546EB"},
		"mlx5 100 Gbit/s below 8 GT/s":           {25: "mlx5 100 Gbit/s below", 9: "mlx5"},
	} {
		for w, want := range want {
			if got := facts(words, w); got != want {
				t.Errorf("%q in %d: %q, want %q", words, w, got, want)
			}
		}
	}
	f := frame(newStory().tell(well), theme.Options{})
	for _, p := range []Page{Help, Settings} {
		f.View.Page, f.View.Row = p, 0
		for _, z := range [][2]int{{59, 39}, {60, 80}} {
			screen := strings.Join(strings.Fields(Screen(f, z[0], z[1])), " ")
			for _, want := range map[Page][]string{
				Help:     {"x lost ping", "the second time quit and restore"},
				Settings: {"delta: to the first row of that load"},
			}[p] {
				if !strings.Contains(screen, want) {
					t.Errorf("%v lacks %q: %s", z, want, screen)
				}
			}
		}
	}
}

// TestLossesOfTheOtherEnd: a host that is not looked at is told to lose packets, too.
func TestLossesOfTheOtherEnd(t *testing.T) {
	s := newPeerStory()
	s.tell(40)
	for s.tick < 420 {
		s.tick++
		s.next()
		s.peer(float64(s.tick) / 10)
		drops := &sources.Series{Host: "r1", Source: "nic", Subject: "em4", Metric: sources.RxDrops}
		if old, ok := s.series["r1 drops"]; ok {
			drops = old
		}
		s.series["r1 drops"] = drops
		s.batch.Samples = append(s.batch.Samples, sources.Amount(drops, s.batch.At, 100*time.Millisecond, 0.5))
		s.session.Apply(s.batch)
	}
	f := frame(s.session, theme.Options{})
	for _, c := range []struct {
		host string
		w    int
		want string
	}{{"", 120, "r1:drops 5/s"}, {"r1", 120, "\ndrops 5/s  s1:ping lost 1 of 60"}, {"", 200, "pkt/s  drops 5/s"}} {
		f.View.Host = c.host
		if got := Screen(f, c.w, 40); !strings.Contains(got, c.want) {
			t.Errorf("at %q, %d wide, lacks %q:\n%s", c.host, c.w, c.want, got)
		}
	}
}

// TestShortState: a word stands for a reason that has no room, and says no less than it
// may: the name of the tool is none.
func TestShortState(t *testing.T) {
	for reason, want := range map[string][]string{
		"not permitted: net.inet.tcp.pcblist":                {"not permitted", "none"},
		"ping: r9: Name or service not known":                {"none"},
		"veth0 has no line in /proc/interrupts":              {"none"},
		"module not loaded (kldload siftr2): try: kldload x": {"module not loaded (kldload siftr2)", "none"},
	} {
		s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
		s.Apply(sources.Batch{At: storyStart, Events: []sources.Event{{Kind: sources.SourceGone, Source: "x", Text: reason, Error: true}}})
		f := frame(s, theme.Options{})
		if got := f.wordsOf(s.Sources()[0]).brief; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}
