package panes

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// logOnly is half a minute of em4 with one siftr log and no load generator: what a
// thinned or a stock log leaves out is seen.
func logOnly(source string, flow sources.Flow, events ...sources.Event) *experiment.Session {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	series := map[sources.Metric]*sources.Series{}
	of := func(source, subject string, m sources.Metric) *sources.Series {
		if series[m] == nil {
			series[m] = &sources.Series{Source: source, Subject: subject, Metric: m}
		}
		return series[m]
	}
	const span = 100 * time.Millisecond
	for tick := range 300 {
		b := sources.Batch{At: storyStart.Add(time.Duration(tick+1) * span)}
		if tick == 0 {
			b.Events = append(b.Events, sources.Event{At: b.At, Kind: sources.SourceUp, Source: source, Text: source})
			b.Events = append(b.Events, sources.Event{At: b.At, Kind: sources.FlowSeen, Source: source, Subject: flow.ID, Flow: &flow})
			for _, k := range storyKnobs {
				b.Events = append(b.Events, sources.Event{At: b.At, Kind: sources.KnobSeen, Source: "knobs", Subject: k.spec.Name, New: k.value, Knob: &k.spec})
			}
			for _, e := range events {
				e.At = b.At
				b.Events = append(b.Events, e)
			}
		}
		b.Samples = append(b.Samples,
			sources.Amount(of("nic", "em4", sources.TxOctets), b.At, span, 11.77e6),
			sources.Amount(of(source, flow.ID, sources.Records), b.At, span, 661),
			sources.Reading(of(source, flow.ID, sources.Cwnd), b.At, span, 733<<10),
			sources.Reading(of(source, flow.ID, sources.SRTT), b.At, span, 260),
			sources.Reading(of(source, flow.ID, sources.Inflight), b.At, span, 240<<10))
		if !flow.NoPayload {
			b.Samples = append(b.Samples,
				sources.Reading(of(source, flow.ID, sources.Segment), b.At, span, 4784),
				sources.Amount(of(source, flow.ID, sources.Sampled), b.At, span, 1.16e6))
		}
		s.Apply(b)
	}
	return s
}

// TestGoldenSiftr: what is particular to siftr logs, on the screens where it shows.
func TestGoldenSiftr(t *testing.T) {
	local, remote := netip.MustParseAddrPort("10.1.1.2:54321"), netip.MustParseAddrPort("10.1.1.3:5201")
	thinned := logOnly("siftr2", sources.Flow{ID: storyFlow, TSO: "on"},
		sources.Event{Kind: sources.LogSampled, Source: "siftr2", Subject: "siftr2.log", Text: "ppl=10"})
	stock := logOnly("siftr", sources.Flow{ID: local.String() + ">" + remote.String(), Local: local, Remote: remote, NoPayload: true, TSO: "on"})
	behind := newStory().tell(well)
	lag := &sources.Series{Source: "siftr2", Subject: "siftr2.log", Metric: sources.Lag}
	behind.Apply(sources.Batch{At: behind.Now(), Samples: []sources.Sample{sources.Reading(lag, behind.Now(), time.Second, 12.3e6)}})
	unused := newStory().tell(well)
	unused.Apply(sources.Batch{At: unused.Now(), Events: []sources.Event{
		{At: unused.Now(), Kind: sources.FlowSeen, Source: "siftr2", Flow: &sources.Flow{ID: storyFlow, TSO: "off", Mixed: true}}}})

	for _, c := range []struct {
		name    string
		session *experiment.Session
		page    Page
		w, h    int
		log     string
	}{
		{"sampled", thinned, Charts, 120, 40, ""},
		{"sampled", thinned, Flows, 120, 20, ""},
		{"sampled", thinned, Settings, 80, 24, ""},
		{"stock", stock, Charts, 120, 40, ""},
		{"stock", stock, Flows, 120, 20, ""},
		{"behind", behind, Charts, 80, 24, "siftr: next run"},
		{"unused", unused, Charts, 120, 40, "siftr2 812 MB, room for 71 min"},
		{"unused", unused, Flows, 80, 24, ""},
		{"unused", unused, Charts, 60, 15, ""},
	} {
		name := fmt.Sprintf("siftr-%s-%s-%dx%d", c.name, pageNames[c.page], c.w, c.h)
		t.Run(name, func(t *testing.T) {
			f := frame(c.session, theme.Options{})
			f.View.Page, f.Log = c.page, c.log
			golden(t, name, Screen(f, c.w, c.h)+"\n")
		})
	}
}

// TestSiftrPrompts fit, in their short form, on the smallest screen with a footer.
func TestSiftrPrompts(t *testing.T) {
	for _, p := range []Prompt{ProposeLog(strings.Repeat("long ", 20), "siftr2, port 5201"), EndLog("siftr2 812 MB, room for 71 min")} {
		if n := theme.Width(p.Short); n > 60 {
			t.Errorf("%q has %d cells", p.Short, n)
		}
		if !strings.Contains(p.Long, "Enter") || !strings.Contains(p.Long, "S ") && !strings.Contains(p.Long, "S:") {
			t.Errorf("%q does not say what Enter and S do", p.Long)
		}
	}
}
