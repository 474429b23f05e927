package tui

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"netwatch/experiment"
	"netwatch/sources"
)

// A fakeLogger writes down what it is asked for.
type fakeLogger struct {
	asked   []string
	port    uint16
	packets float64
	refuses error
	state   string
}

func (l *fakeLogger) Propose(port uint16, packets float64) (words, brief string, err error) {
	l.port, l.packets = port, packets
	return "siftr2: port 5201 into /var/log/siftr2-TIME.log", "siftr2, port 5201", l.refuses
}

func (l *fakeLogger) Arm(stay bool) {
	l.asked = append(l.asked, map[bool]string{false: "next", true: "stay"}[stay])
	l.state = "siftr: next run"
}

func (l *fakeLogger) Disarm() { l.asked, l.state = append(l.asked, "none"), "" }
func (l *fakeLogger) Load(on bool) {
	l.asked = append(l.asked, map[bool]string{false: "idle", true: "run"}[on])
}
func (l *fakeLogger) State() string { return l.state }

func TestLogKey(t *testing.T) {
	tests := []struct {
		name  string
		state string
		keys  string
		asked []string
		shows string
	}{
		{"proposes", "", "S", nil, "siftr2: port 5201 into /var/log/siftr2-TIME.log.  Enter: the next run, S: now and on, Esc"},
		{"next run", "", "S enter", []string{"next"}, "[S] siftr: next run"},
		{"stays on", "", "S S", []string{"stay"}, ""},
		{"taken back", "", "S esc", nil, ""},
		{"other keys wait", "", "S q x enter", []string{"next"}, ""},
		{"ends it", "siftr2 812 MB", "S enter", []string{"none"}, ""},
		{"leaves it on", "siftr2 812 MB", "S S", []string{"stay"}, ""},
		{"asks before", "siftr2 812 MB", "S", nil, "siftr2 812 MB.  Enter ends it, S leaves it on, Esc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &fakeLogger{state: tt.state}
			b := newBench(func(c *Config) { c.Logger = l })
			b.press(tt.keys)
			if !slices.Equal(l.asked, tt.asked) {
				t.Errorf("asked for %q, want %q", l.asked, tt.asked)
			}
			if !strings.Contains(b.screen, tt.shows) {
				t.Errorf("the screen lacks %q:\n%s", tt.shows, b.screen)
			}
		})
	}
}

func TestLogKeySaysWhyNot(t *testing.T) {
	l := &fakeLogger{refuses: errors.New("siftr is a module of FreeBSD's kernel; this system has none")}
	for _, tt := range []struct {
		name, words string
		change      func(*Config)
	}{
		{"Linux", "this system has none", func(c *Config) { c.Logger = l }},
		{"no logger", "nothing is logged here", nil},
		{"simulated", "the log of the simulation is a knob: K", func(c *Config) {
			c.Session = experiment.New(experiment.Options{Start: start, Interface: "em4", Simulated: true})
		}},
		{"read only", "read only", func(c *Config) { c.Logger, c.Turner = l, nil }},
	} {
		b := newBench(tt.change)
		b.press("S")
		if b.ask != nil || !strings.Contains(b.frame.Notice, tt.words) {
			t.Errorf("%s: notice %q, want %q in it", tt.name, b.frame.Notice, tt.words)
		}
	}
}

// TestLoggerHearsOfRuns: each run is told once, and the proposal knows the load's
// port and the packets of the interface.
func TestLoggerHearsOfRuns(t *testing.T) {
	l := &fakeLogger{}
	feed := make(chan sources.Batch, 3)
	b := newBench(func(c *Config) { c.Logger, c.Feed = l, feed })
	at := b.cfg.Session.Now()
	run := func(kind sources.EventKind) sources.Batch {
		return sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: kind, Source: "iperf3", Subject: "iperf3 #1"}}}
	}
	flow := &sources.Series{Source: "tcp", Subject: "10.1.1.2:54321>10.1.1.3:5201", Metric: sources.Cwnd}
	pkts := &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxPackets}
	first := run(sources.RunStarted)
	first.Samples = []sources.Sample{sources.Reading(flow, at, 1e8, 1), sources.Amount(pkts, at, 1e8, 7800)}
	first.Events = append(first.Events, sources.Event{At: at, Kind: sources.FlowSeen, Source: "tcp", Flow: &sources.Flow{
		ID: flow.Subject, Local: netip.MustParseAddrPort("10.1.1.2:54321"), Remote: netip.MustParseAddrPort("10.1.1.3:5201")}})
	for _, batch := range []sources.Batch{first, {At: at}, run(sources.RunEnded)} {
		b.feed.keep(batch, true)
		b.Update(newsMsg{})
		if len(l.asked) == 1 {
			b.press("S esc")
		}
	}
	if !slices.Equal(l.asked, []string{"run", "idle"}) {
		t.Errorf("told %q", l.asked)
	}
	if l.port != 5201 || l.packets != 78_000 {
		t.Errorf("proposed with port %d and %v packets/s, want 5201 and 78000", l.port, l.packets)
	}
}
