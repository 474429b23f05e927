package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// router tells of two interfaces for a minute: 10000 packets/s come into em0, one
// in a hundred does not leave by em1; back go acknowledgements, all of them. At
// the end em1 has no link where that is wanted.
func router(down bool) *experiment.Session {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em0", Second: "em1", Simulated: true})
	made := map[string]*sources.Series{}
	series := func(source, iface string, m sources.Metric) *sources.Series {
		k := iface + m.Name
		if made[k] == nil {
			made[k] = &sources.Series{Source: source, Subject: iface, Metric: m}
		}
		return made[k]
	}
	for tick := 1; tick <= 600; tick++ {
		at := storyStart.Add(time.Duration(tick) * 100 * time.Millisecond)
		b := sources.Batch{At: at}
		amount := func(iface string, m sources.Metric, perSecond float64) {
			b.Samples = append(b.Samples, sources.Amount(series("nic", iface, m), at, 100*time.Millisecond, perSecond/10))
		}
		for iface, rates := range map[string][4]float64{"em0": {10000, 5000, 15_140_000, 330_000}, "em1": {5000, 9900, 330_000, 14_988_600}} {
			if down && iface == "em1" && tick > 500 {
				continue
			}
			amount(iface, sources.RxPackets, rates[0])
			amount(iface, sources.TxPackets, rates[1])
			amount(iface, sources.RxOctets, rates[2])
			amount(iface, sources.TxOctets, rates[3])
			amount(iface, sources.RxDrops, 0)
			amount(iface, sources.TxDrops, 0)
			size := sources.Reading(series("nic", iface, sources.TxSize), at, 100*time.Millisecond, rates[3]/rates[1])
			b.Samples = append(b.Samples, size)
			if tick%10 == 0 {
				b.Samples = append(b.Samples, sources.Amount(series("irq", iface, sources.Irqs), at, time.Second, 8000))
			}
		}
		if tick%10 == 0 {
			b.Samples = append(b.Samples, sources.Amount(series("nic", "em0", sources.MissedPkts), at, time.Second, 100))
		}
		if down && tick == 501 {
			b.Events = append(b.Events, sources.Event{At: at, Kind: sources.LinkDown, Source: "nic", Subject: "em1", Text: "em1 link down"})
		}
		s.Apply(b)
	}
	return s
}

func TestForwarding(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		down bool
	}{
		{"forward", 120, 40, false}, {"forward", 80, 24, false}, {"forward", 40, 15, false}, {"forward-down", 80, 24, true},
	} {
		name := fmt.Sprintf("%s-%dx%d", c.name, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			golden(t, name, Screen(frame(router(c.down), theme.Options{}), c.w, c.h)+"\n")
		})
	}
}

// What must be on a screen of forwarding, whatever its size: the loss comes first.
func TestForwardingSays(t *testing.T) {
	f := frame(router(false), theme.Options{})
	for w := smallW; w <= 200; w += 8 {
		for h := smallH; h <= 60; h += 4 {
			s := Screen(f, w, h)
			for _, want := range []string{"em0 > em1  not forwarded 100/s", "em1 > em0  all forwarded"} {
				if !strings.Contains(s, want) {
					t.Fatalf("%dx%d lacks %q:\n%s", w, h, want, s)
				}
			}
			for _, l := range strings.Split(s, "\n") {
				if theme.Width(l) > w {
					t.Fatalf("%dx%d: %q", w, h, l)
				}
			}
		}
	}
}

func TestSI(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 7: "7", 0.25: "0.25", 12.34: "12.3", 999.4: "999", 999.6: "1.00k", 9900: "9.90k", 121_120_000: "121M", 1.5e10: "15.0G", -60: "-60",
	} {
		if got := si(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// An estimate is called one, and only while no log tells the segment.
func TestSegmentEstimate(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	at := storyStart.Add(time.Second)
	size := sources.Sample{Series: &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxSize}, At: at, Span: 100 * time.Millisecond,
		N: 10, Sum: 652260, Min: 65226, Max: 65226, Last: 65226}
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{size}})
	f := frame(s, theme.Options{})
	if p := f.segmentPlot(); p.name != "seg est." || p.q != experiment.TxSize {
		t.Errorf("%+v", p)
	}
	if screen := Screen(f, 120, 60); !strings.Contains(screen, "seg est.") || strings.Contains(screen, "avg seg") {
		t.Error(screen)
	}
	log := sources.Reading(&sources.Series{Source: "siftr2", Subject: "dd7fc950", Metric: sources.Segment}, at, 100*time.Millisecond, 1448)
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{log}})
	if p := f.segmentPlot(); p.name != "avg seg" || p.q != experiment.Segment {
		t.Errorf("%+v", p)
	}
}

// Losses of the card have a chart once there are any, and the factor when it is told.
func TestCardPlots(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	f := frame(s, theme.Options{})
	names := func() (out []string) {
		for _, p := range f.cardPlots() {
			out = append(out, p.name)
		}
		return out
	}
	at := storyStart.Add(time.Second)
	of := func(m sources.Metric) *sources.Series {
		return &sources.Series{Source: "nic", Subject: "em4", Metric: m}
	}
	missed, factor := of(sources.MissedPkts), of(sources.TSOFactor)
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{
		sources.Amount(missed, at, time.Second, 0), sources.Reading(factor, at, time.Second, 45)}})
	if got := strings.Join(names(), " "); got != "tso factor" {
		t.Error(got)
	}
	at = at.Add(time.Second)
	s.Apply(sources.Batch{At: at, Samples: []sources.Sample{sources.Amount(missed, at, time.Second, 3)}})
	if got := strings.Join(names(), " "); got != "tso factor missed" {
		t.Error(got)
	}
}
