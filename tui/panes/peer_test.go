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

// A peerStory is the story with a receiver r1, whose knobs are turned together with
// those here. It can refuse a turn at 56 and be gone from 60.
type peerStory struct {
	*story
	refuses, goes bool
}

func newPeerStory() *peerStory { return &peerStory{story: newStory()} }

func (s *peerStory) tell(seconds float64) *experiment.Session {
	for float64(s.tick)/10 < seconds {
		s.tick++
		s.next()
		s.peer(float64(s.tick) / 10)
		s.session.Apply(s.batch)
	}
	return s.session
}

func (s *peerStory) peer(t float64) {
	s.peerEvents(t)
	if s.refuses {
		s.refusal(t)
	}
	if s.goes && t > 60 {
		return
	}
	s.peerSamples(t)
}

// both says an event of each end.
func (s *peerStory) both(e sources.Event) {
	e.At = s.batch.At
	s.say(e)
	e.Host = "r1"
	s.say(e)
}

func (s *peerStory) far(e sources.Event) {
	e.At, e.Host = s.batch.At, "r1"
	s.say(e)
}

func (s *peerStory) peerEvents(t float64) {
	switch t {
	case 0.2:
		s.far(sources.Event{Kind: sources.SourceUp, Source: experiment.PeerSource, Subject: "em4", Text: "em(4) 82546EB UP 1000baseT-fdx mtu 1500"})
		for _, k := range storyKnobs {
			s.far(sources.Event{Kind: sources.KnobSeen, Source: "knobs", Subject: k.spec.Name, New: k.value, Knob: &k.spec})
		}
		s.far(sources.Event{Kind: sources.SourceUp, Source: "siftr2"})
	case 1:
		s.far(sources.Event{Kind: sources.SourceNote, Source: experiment.PeerSource, Text: "clock +0.31 ms +-0.20, ssh 12 kB/s"})
	case 5:
		s.far(sources.Event{Kind: sources.FlowSeen, Source: "tcp", Flow: &sources.Flow{
			ID: "a", Local: netip.MustParseAddrPort("10.1.1.3:5201"), Remote: netip.MustParseAddrPort("10.1.1.2:54321"), Stack: "freebsd", CC: "cubic", MSS: 1448}})
	case 29.9:
		s.far(sources.Event{Kind: sources.KnobTurning, Source: "knobs", Subject: "aim", Old: "1", Asked: "2"})
	case 30:
		s.far(sources.Event{Span: 18 * time.Millisecond, Kind: sources.KnobTurned, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2"})
		s.say(sources.Event{At: s.batch.At, Span: 9 * time.Millisecond, Kind: sources.KnobBoth, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2"})
	case 50:
		s.far(sources.Event{Kind: sources.LinkDown, Source: "nic", Subject: "em4", Text: "em4 link down"})
	case 53.1:
		s.far(sources.Event{Span: 3100 * time.Millisecond, Kind: sources.LinkUp, Source: "nic", Subject: "em4", Text: "em4 link up"})
	case 60:
		if s.goes {
			s.far(sources.Event{Kind: sources.SourceGone, Source: experiment.PeerSource, Text: "ssh: Connection to r1 closed by remote host.", Error: true})
		}
	}
}

// refusal is a turn to 0 that r1 refuses: it is put back here.
func (s *peerStory) refusal(t float64) {
	at := s.batch.At
	here := sources.Event{At: at, Span: time.Millisecond, Kind: sources.KnobTurned, Source: "knobs", Subject: "aim", Old: "2", Asked: "0", New: "0"}
	switch t {
	case 56:
		s.both(sources.Event{Kind: sources.KnobTurning, Source: "knobs", Subject: "aim", Old: "2", Asked: "0"})
		s.say(here)
		s.far(sources.Event{Kind: sources.KnobFailed, Source: "knobs", Subject: "aim", Old: "2", Asked: "0", New: "2", Text: "operation not permitted", Error: true})
	case 56.1:
		s.say(sources.Event{At: at, Kind: sources.KnobTurning, Source: "knobs", Subject: "aim", Old: "0", Asked: "2"})
		here.Old, here.Asked, here.New = "0", "2", "2"
		s.say(here)
		s.say(sources.Event{At: at, Kind: sources.KnobBoth, Source: "knobs", Subject: "aim", Asked: "0", Text: "r1: operation not permitted; s1 put back to 2", Error: true})
	}
}

func (s *peerStory) farOf(source, subject string, m sources.Metric) *sources.Series {
	key := "r1" + source + subject + m.Name
	if s.series[key] == nil {
		s.series[key] = &sources.Series{Host: "r1", Source: source, Subject: subject, Metric: m}
	}
	return s.series[key]
}

func (s *peerStory) farAmount(source, subject string, m sources.Metric, perSecond float64) {
	const span = time.Second
	s.batch.Samples = append(s.batch.Samples, sources.Amount(s.farOf(source, subject, m), s.batch.At, span, perSecond*span.Seconds()))
}

// peerSamples come once a second: the receiver's card, cores and connection.
func (s *peerStory) peerSamples(t float64) {
	if s.tick%10 != 0 || t >= 50 && t <= 54 {
		return
	}
	loaded := t > 5
	rx := pick(loaded, pick(s.aim2(), 117.6e6, 114.5e6)+2e6*s.noise(11), 20e3)
	s.farAmount("nic", "em4", sources.RxOctets, rx)
	s.farAmount("nic", "em4", sources.TxOctets, rx/50)
	s.farAmount("nic", "em4", sources.RxPackets, rx/1500)
	s.farAmount("nic", "em4", sources.TxPackets, rx/3000)
	s.farAmount("irq", "em4", sources.Irqs, pick(loaded, pick(s.aim2(), 19700, 7900), 420)+300*s.noise(12))
	s.farAmount("cpu", "all", sources.CPUBusy, pick(loaded, pick(s.aim2(), 0.58, 0.44), 0.02)+0.02*s.noise(13))
	if loaded {
		s.farAmount("tcp", "a", sources.RxGood, pick(s.aim2(), 927.9e6, 903.6e6)/8+1e6*s.noise(14))
		s.farAmount("tcp", "a", sources.Goodput, 0)
	}
}

func TestGoldenScreensOfBothEnds(t *testing.T) {
	stories := []struct {
		name    string
		seconds float64
		story   func() *peerStory
	}{
		{"peer", well, newPeerStory},
		{"peer-gone", 63.1, func() *peerStory { return &peerStory{story: newStory(), goes: true} }},
		{"peer-refuses", well, func() *peerStory { return &peerStory{story: newStory(), refuses: true} }},
	}
	for _, s := range stories {
		for _, z := range [][2]int{{200, 50}, {120, 40}, {99, 49}, {80, 24}, {59, 39}, {60, 15}} {
			name := fmt.Sprintf("%s-%dx%d", s.name, z[0], z[1])
			t.Run(name, func(t *testing.T) {
				golden(t, name, Screen(frame(s.story().tell(s.seconds), theme.Options{}), z[0], z[1])+"\n")
			})
		}
	}
	set := func(p Page, host string, act int) func(*Frame) {
		return func(f *Frame) { f.View.Page, f.View.Host, f.View.Act = p, host, act }
	}
	views := []struct {
		name string
		w, h int
		gone bool
		set  func(*Frame)
	}{
		{"peer-other", 99, 49, false, set(Charts, "r1", 2)},
		{"peer-other", 60, 15, false, set(Charts, "r1", 2)},
		{"peer-other", 39, 7, true, set(Charts, "r1", 0)},
		{"peer-other-gone", 80, 24, true, set(Charts, "r1", 0)},
		{"peer-settings", 120, 40, false, set(Settings, "", 0)},
		{"peer-settings", 59, 39, false, set(Settings, "", 0)},
		{"peer-settings-gone", 80, 50, true, set(Settings, "", 0)},
		{"peer-flows", 120, 40, false, set(Flows, "", 1)},
		{"peer-knobs", 120, 40, true, set(Knobs, "", 0)},
		{"peer-help", 80, 40, false, set(Help, "", 0)},
	}
	for _, c := range views {
		name := fmt.Sprintf("%s-%dx%d", c.name, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			s := &peerStory{story: newStory(), goes: c.gone}
			f := frame(s.tell(pick(c.gone, 63.1, well)), theme.Options{})
			c.set(f)
			golden(t, name, Screen(f, c.w, c.h)+"\n")
		})
	}
}

// TestNeverDroppedOfBothEnds holds the knobs of all ends, what keys act on, the run
// and a peer that is gone on every screen that has room for more than one line.
func TestNeverDroppedOfBothEnds(t *testing.T) {
	wide, high := 7, 4
	if testing.Short() { // an emulated machine
		wide, high = 29, 11
	}
	for _, gone := range []bool{false, true} {
		s := &peerStory{story: newStory(), goes: gone}
		f := frame(s.tell(pick(gone, 63.1, well)), theme.Options{})
		for p := range Pages {
			f.View.Page = p
			for w := smallW; w <= 200; w += wide {
				for h := smallH; h <= 60; h += high {
					wants := []string{"aim=2", "TSO on", "tcp.tso=1", "LRO on", "run 1 0:5", "em4", "both"}
					if gone {
						wants = []string{"aim=2", "2?", "run 1 0:58", "em4", "both", "r1 GONE 3.1s"}
					}
					got := Screen(f, w, h)
					for _, want := range wants {
						if !strings.Contains(got, want) {
							t.Fatalf("page %s at %dx%d lacks %q:\n%s", pageNames[p], w, h, want, got)
						}
					}
				}
			}
		}
	}
}

// TestEverySizeOfBothEnds is TestEverySize with a peer, and with a third host.
func TestEverySizeOfBothEnds(t *testing.T) {
	s := &peerStory{story: newStory(), goes: true}
	f := frame(s.tell(63.1), theme.Options{})
	s.session.Apply(sources.Batch{At: s.session.Now(), Events: []sources.Event{{At: s.session.Now(), Kind: sources.KnobSeen, Host: "r2", Subject: "aim", New: "1", Knob: &storyKnobs[0].spec}}})
	step := 3
	if testing.Short() {
		step = 11
	}
	for _, host := range []string{"", "r1", "r2"} {
		f.View.Host = host
		for w := 0; w <= 210; w += step {
			for h := 0; h <= 60; h += step {
				lines := strings.Split(Screen(f, w, h), "\n")
				if len(lines) > max(h, 1) {
					t.Fatalf("%dx%d: %d lines", w, h, len(lines))
				}
				for i, l := range lines {
					if n := theme.Width(l); n > w {
						t.Fatalf("%dx%d: line %d is %d wide: %q", w, h, i, n, l)
					}
				}
			}
		}
	}
}

func TestKnobsOfAllEnds(t *testing.T) {
	seen := func(host, name, value string) sources.Event {
		return sources.Event{Kind: sources.KnobSeen, Host: host, Subject: name, New: value, Knob: &sources.KnobSpec{Name: name}}
	}
	turned := func(host, name, old, value string) sources.Event {
		return sources.Event{Kind: sources.KnobTurned, Host: host, Subject: name, Old: old, Asked: value, New: value}
	}
	both := []sources.Event{seen("", "aim", "1"), seen("r1", "aim", "1")}
	with := func(more ...sources.Event) []sources.Event {
		return append(append([]sources.Event(nil), both...), more...)
	}
	tests := []struct {
		name               string
		events             []sources.Event
		full, brief, terse string
	}{
		{"they agree", both, "[a] aim=1 both", "aim=1 both", "aim=1"},
		{"both are turned", with(turned("", "aim", "1", "2"), turned("r1", "aim", "1", "2")), "[a] aim=2 (start 1) both", "aim=2* both", "aim=2*"},
		{"one is turned", with(turned("", "aim", "1", "2")), "[a] aim=2* r1 aim=1", "aim=2* r1 aim=1", "aim=2*|1"},
		{"the other is", with(turned("r1", "aim", "1", "2")), "[a] aim=1 r1 aim=2*", "aim=1 r1 aim=2*", "aim=1|2*"},
		{"a turn of both is under way", with(sources.Event{Kind: sources.KnobTurning, Subject: "aim", Asked: "2"}, sources.Event{Kind: sources.KnobTurning, Host: "r1", Subject: "aim", Asked: "2"}),
			"[a] aim=1>2 both", "aim=1>2 both", "aim=1>2"},
		{"one is still turning", with(turned("", "aim", "1", "2"), sources.Event{Kind: sources.KnobTurning, Host: "r1", Subject: "aim", Asked: "2"}),
			"[a] aim=2* r1 aim=1>2", "aim=2* r1 aim=1>2", "aim=2*|1>2"},
		{"r1 is gone", with(sources.Event{Kind: sources.SourceGone, Host: "r1", Source: experiment.PeerSource}), "[a] aim=1 r1 1?", "aim=1 r1 1?", "aim=1|1?"},
		{"only here", []sources.Event{seen("", "lro", "on"), {Kind: sources.SourceUp, Host: "r1"}}, "lro on s1", "lro on s1", "lro on|-"},
		{"only there", []sources.Event{seen("r1", "lro", "on")}, "lro on r1", "lro on r1", "lro -|on"},
		{"the driver has none", []sources.Event{seen("", "aim", ""), seen("r1", "aim", "")}, "[a] aim - both", "aim - both", "aim -"},
		{"one without a key that the driver does not have", with(seen("", "lro", ""), seen("r1", "lro", "")), "[a] aim=1 both", "aim=1 both", "aim=1"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
			s.Apply(sources.Batch{At: storyStart, Events: c.events})
			words := frame(s, theme.Options{}).knobWords()
			if len(words) != 2 || words[0].full() != "[b] both ON" {
				t.Fatalf("words %+v", words)
			}
			if w := words[1]; w.full() != c.full || w.brief() != c.brief || w.least() != c.terse {
				t.Errorf("got %q, %q, %q", w.full(), w.brief(), w.least())
			}
		})
	}
}

// BenchmarkFramesOfBothEnds draws 24 frames of both ends at 200x50.
func BenchmarkFramesOfBothEnds(b *testing.B) {
	f := frame(newPeerStory().tell(60), theme.Options{})
	f.Theme = theme.New(theme.Options{})
	b.ReportAllocs()
	for b.Loop() {
		for i := range 24 {
			f.View.End = storyStart.Add(50*time.Second + time.Duration(i)*250*time.Millisecond)
			Screen(f, 200, 50)
		}
	}
}
