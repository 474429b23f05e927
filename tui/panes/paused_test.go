package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// below is a screen without its header, and without the lines that say they are of now.
func below(screen string) []string {
	var out []string
	for _, l := range strings.Split(screen, "\n")[1:] {
		if !strings.HasPrefix(l, "now ") {
			out = append(out, l)
		}
	}
	return out
}

// TestPauseFreezes: what stood there when the view was paused stands there fifteen
// seconds later, on every page, also on those that are looked at then only. A turn, a
// link gap and other connections came in between.
func TestPauseFreezes(t *testing.T) {
	for page := Charts; page <= Events; page++ {
		if page == Knobs { // where one turns them: always the present
			continue
		}
		for _, z := range [][2]int{{200, 50}, {120, 40}, {99, 49}, {80, 24}, {59, 39}} {
			t.Run(fmt.Sprintf("%s-%dx%d", pageNames[page], z[0], z[1]), func(t *testing.T) {
				s := newStory()
				f := frame(s.tell(45), theme.Options{})
				f.View.End = f.Session.Now()
				f.View.Page = page
				s.tell(45.3) // what is of before and still on its way comes
				f.View.Page = Charts
				Screen(f, z[0], z[1])
				f.View.Page = page
				before := below(Screen(f, z[0], z[1]))
				s.tell(58)
				at := f.Session.Now()
				other := &sources.Series{Source: "tcp", Subject: "late", Metric: sources.Goodput}
				s.session.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(other, at, time.Second, 125e6)}})
				f.Session.Note(sources.Mark, "after")
				if d := cmp.Diff(before, below(Screen(f, z[0], z[1]))); d != "" {
					t.Errorf("the paused screen changed:\n%s", d)
				}
			})
		}
	}
}

// TestPauseSaysWhatIsOfNow: a run that began, knobs that were turned and an interface that
// went while the view was paused are told as what they are, of now; the figures of a
// screen of one line are of then.
func TestPauseSaysWhatIsOfNow(t *testing.T) {
	s := newStory()
	f := frame(s.tell(29), theme.Options{})
	f.View.End = f.Session.Now()
	s.tell(trouble)
	for _, c := range []struct {
		w, h int
		want []string
	}{
		{120, 40, []string{"em4 now GONE 3.1s", "PAUSED 44.1s behind, now:  run 1 1:08", "\nnow [a] aim=2 (start 1)", "\nnow cpu ok"}},
		{60, 15, []string{"em4 now GONE 3.1s", "PAUSED 44.1s, now:  run 1 1:08", "\nnow [a] aim=2", "\nnow nic ? 3.2s"}},
		{39, 7, []string{"em4 SIM now GONE 3.1s PAUSED\ntx 919 Mb/s", "now aim=2"}},
	} {
		screen := Screen(f, c.w, c.h)
		for _, want := range c.want {
			if !strings.Contains(screen, want) {
				t.Errorf("%dx%d lacks %q:\n%s", c.w, c.h, want, screen)
			}
		}
	}
}

// TestPauseKeepsTheSource: the log ends while the view is paused, and the load
// generator goes on telling the same.
func TestPauseKeepsTheSource(t *testing.T) {
	s := logOnly("siftr2", sources.Flow{ID: storyFlow, MSS: 1448})
	iperf := &sources.Series{Source: "iperf3", Subject: "5", Metric: sources.Cwnd}
	say := func() {
		at := s.Now().Add(time.Second)
		s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Reading(iperf, at, time.Second, 500<<10)}})
	}
	say()
	f := frame(s, theme.Options{})
	f.View.End = s.Now()
	before := Screen(f, 120, 40)
	if !strings.Contains(before, "\nsiftr2  ") {
		t.Fatalf("no chart is the log's:\n%s", before)
	}
	for range 20 {
		say()
	}
	after := Screen(f, 120, 40)
	charts := func(screen string) []string { return strings.Split(screen, "\n")[3:33] }
	if d := cmp.Diff(charts(before), charts(after)); d != "" {
		t.Errorf("the charts changed:\n%s", d)
	}
}

// TestPauseKeepsTheScale: a scale that was about to shrink stays as it is, and fits at
// once what one scrolls to.
func TestPauseKeepsTheScale(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	tx := &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}
	f := frame(s, theme.Options{})
	f.View.Window = 30 * time.Second
	tell := func(seconds int, mbit float64) {
		for range seconds {
			at := s.Now().Add(time.Second)
			s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(tx, at, time.Second, mbit*1e6/8)}})
			Screen(f, 120, 40)
		}
	}
	tell(20, 90)
	tell(1, 900)
	tell(28, 90)
	wide := func() bool { return strings.Contains(Screen(f, 120, 40), "1000⢸") }
	for ; wide(); tell(1, 90) {
		f.View.End = s.Now()
		was := wide()
		at := s.Now()
		for i := range 4 {
			s.Apply(sources.Batch{At: at.Add(time.Duration(i+1) * time.Second)})
			if wide() != was {
				t.Fatal("the scale changed while the view was paused")
			}
		}
		f.View.End = time.Time{}
	}
	f.View.End = storyStart.Add(15 * time.Second)
	if wide() {
		t.Error("the scale does not fit what is shown")
	}
}

// TestScrolledBack: the table is that of the pause and says so; flows and events are
// of the right edge.
func TestScrolledBack(t *testing.T) {
	f := frame(newStory().tell(58), theme.Options{})
	f.View.End = storyStart.Add(20 * time.Second)
	screen := Screen(f, 120, 40)
	for _, want := range []string{"by 14:00:58", "14:00:05  iperf3 #1 began", "> dd7fc950"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing:\n%s", want, screen)
		}
	}
	for _, not := range []string{"aim 1 -> 2 (9.0 ms)", "link down", "735 KiB"} {
		if strings.Contains(screen, not) {
			t.Errorf("%q is of later:\n%s", not, screen)
		}
	}
	for _, w := range []int{200, 120, 99, 80, 59, 45} {
		if screen := Screen(f, w, 40); !strings.Contains(screen, "14:00:58") {
			t.Errorf("at %d it is not said of when the table is:\n%s", w, screen)
		}
	}
	f.View.End = storyStart.Add(3 * time.Second)
	f.View.Page = Flows
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "no connection is known") {
		t.Errorf("the connection began at second five:\n%s", screen)
	}
	f.View.Page = Settings
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "as of 14:00:58, when the view was paused") {
		t.Errorf("the table does not say of when it is:\n%s", screen)
	}
	f.View.End = time.Time{}
	if screen := Screen(f, 120, 40); strings.Contains(screen, "as of") {
		t.Errorf("the table is of the present:\n%s", screen)
	}
}

// TestDeadFlowsHaveNoRate: two seconds after the last record the charts have question
// marks, and the rows have no figure.
func TestDeadFlowsHaveNoRate(t *testing.T) {
	s := newStory()
	f := frame(s.tell(65.9), theme.Options{})
	row := func() string {
		for _, l := range strings.Split(Screen(f, 120, 40), "\n") {
			if strings.Contains(l, "> "+storyFlow) {
				return l
			}
		}
		t.Fatal("no row")
		return ""
	}
	if r := row(); !strings.Contains(r, "Mbit/s") || !strings.Contains(r, "KiB") {
		t.Fatalf("it lives: %s", r)
	}
	s.tell(67.9)
	for _, unit := range []string{"bit/s", "KiB", " us", "bytes"} {
		if r := row(); strings.Contains(r, unit) {
			t.Errorf("two seconds later: %s", r)
		}
	}
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "?  ") {
		t.Errorf("the chart is not stale:\n%s", screen)
	}
}

// TestFlowColumns: the derived series have columns where there is room, the important
// ones first. 4784 bytes are 3.30 segments of 1448.
func TestFlowColumns(t *testing.T) {
	s := logOnly("siftr2", sources.Flow{ID: storyFlow, MSS: 1448})
	at := s.Now()
	var more []sources.Sample
	for _, m := range []sources.Metric{sources.Recovery, sources.SndLimited} {
		v := sources.Sample{Series: &sources.Series{Source: "siftr2", Subject: storyFlow, Metric: m}, At: at, Span: 100 * time.Millisecond, N: 200, Sum: 25, Max: 1}
		more = append(more, v)
	}
	s.Apply(sources.Batch{At: at, Samples: more})
	f := frame(s, theme.Options{})
	f.View.Page = Flows
	cells := func(w int) string {
		lines := strings.Split(Screen(f, w, 20), "\n")
		head, row := lines[3], lines[4]
		var out []string
		for _, c := range flowColumns {
			if i := strings.Index(head, " "+c.name); i >= 0 && c.right {
				end := i + 1 + len(c.name)
				out = append(out, c.name+"="+strings.TrimSpace(row[max(end-c.width, 0):min(end, len(row))]))
			}
		}
		return strings.Join(out, " ")
	}
	for w, want := range map[int]string{
		200: "burst=3.30 retr/s=- recov=12.5 % sndlim=12.5 % pkt/s=6.61k mss=1448",
		120: "burst=3.30 retr/s=- recov=12.5 %",
	} {
		_, got, _ := strings.Cut(cells(w), "seg=4784 bytes ")
		if got != want {
			t.Errorf("at %d: %q, want %q", w, got, want)
		}
	}
	if got := cells(80); strings.Contains(got, "burst") || !strings.Contains(got, "cwnd=733 KiB") {
		t.Errorf("at 80: %q", got)
	}
	f.Session.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.LogSampled, Source: "siftr2", Text: "ppl=10"}}})
	if got := cells(200); !strings.Contains(got, "pkt/s=sampled") {
		t.Errorf("of a thinned log: %q", got)
	}
}

// TestRecoveryWhereNothingIsCounted: a siftr log counts no retransmits; the chart has
// the share of packets in recovery then, and not the names of those who could.
func TestRecoveryWhereNothingIsCounted(t *testing.T) {
	s := logOnly("siftr2", sources.Flow{ID: storyFlow})
	f := frame(s, theme.Options{})
	if screen := Screen(f, 200, 60); !strings.Contains(screen, "a siftr log does not count retransmits") {
		t.Errorf("it is not said why there are none:\n%s", screen)
	}
	series := &sources.Series{Source: "siftr2", Subject: storyFlow, Metric: sources.Recovery}
	s.Apply(sources.Batch{At: s.Now(), Samples: []sources.Sample{sources.Reading(series, s.Now(), time.Second, 0)}})
	screen := Screen(f, 200, 60)
	if strings.Contains(screen, "retrans") || !strings.Contains(screen, "recovery %") {
		t.Errorf("recovery has no chart:\n%s", screen)
	}
}

// TestAReceiversChartsSayWhy: a host that only receives has no window to show, in the
// charts as in the row.
func TestAReceiversChartsSayWhy(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	series := map[sources.Metric]*sources.Series{}
	for _, m := range []sources.Metric{sources.Goodput, sources.RxGood, sources.Cwnd, sources.SRTT} {
		series[m] = &sources.Series{Source: "tcp", Subject: "a", Metric: m}
	}
	for i := range 90 {
		out, in := 1e6, 0.0
		if i >= 10 {
			out, in = 0, 117e6
		}
		at := storyStart.Add(time.Duration(i+1) * time.Second)
		s.Apply(sources.Batch{At: at, Samples: []sources.Sample{
			sources.Reading(series[sources.Cwnd], at, time.Second, 14480), sources.Reading(series[sources.SRTT], at, time.Second, 26),
			sources.Amount(series[sources.Goodput], at, time.Second, out), sources.Amount(series[sources.RxGood], at, time.Second, in)}})
	}
	f := frame(s, theme.Options{})
	screen := Screen(f, 120, 40)
	if n := strings.Count(screen, "no connection sends"); n < 2 {
		t.Errorf("%d charts say why they are empty:\n%s", n, screen)
	}
	if strings.Contains(screen, "14.1 KiB") || strings.Contains(screen, "26.0 us") {
		t.Errorf("the row has what the charts have not:\n%s", screen)
	}
}

func TestFullCPUEndsAtHundred(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	cpu := &sources.Series{Source: "cpu", Subject: "all", Metric: sources.CPUBusy}
	for i := range 30 {
		at := storyStart.Add(time.Duration(i+1) * time.Second)
		s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(cpu, at, time.Second, 1.003)}})
	}
	screen := Screen(frame(s, theme.Options{}), 120, 40)
	if strings.Contains(screen, "150⢸") || !strings.Contains(screen, "100⢸") {
		t.Errorf("the axis does not end at 100:\n%s", screen)
	}
}
