package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// pinged tells of five probes a second for some seconds: of each second so many are
// answered, the others are lost, which shows a second later.
func pinged(s *experiment.Session, seconds, answered int, events ...sources.Event) {
	rtt := &sources.Series{Source: "ping", Subject: "r1", Metric: sources.PingRTT}
	lost := &sources.Series{Source: "ping", Subject: "r1", Metric: sources.PingLost}
	const each = 200 * time.Millisecond
	from := s.Now()
	for i := range 5 * (seconds + 1) {
		at := from.Add(time.Duration(i+1) * each)
		b := sources.Batch{At: at, Events: events}
		events = nil
		if i < 5*seconds && i%5 < answered {
			b.Samples = append(b.Samples, sources.Reading(rtt, at, each, 150))
		}
		if i >= 5 && (i-5)%5 >= answered {
			b.Samples = append(b.Samples, sources.Amount(lost, at.Add(-time.Second), each, 1))
		}
		s.Apply(b)
	}
}

// A ping whose probes are lost is not said to be well, whatever ping complains of.
func TestPingWord(t *testing.T) {
	complaint := sources.Event{At: storyStart, Kind: sources.SourceNote, Source: "ping", Text: "10.1.1.2 says: Destination Host Unreachable", Error: true}
	for _, c := range []struct {
		name string
		tell func(*experiment.Session)
		want string
	}{
		{"all answered", func(s *experiment.Session) { pinged(s, 9, 5) }, "ping 5/s"},
		{"never an answer", func(s *experiment.Session) { pinged(s, 9, 0, complaint) }, "ping no reply, lost 45 of 45"},
		{"one in five lost", func(s *experiment.Session) { pinged(s, 30, 4) }, "ping lost 11 of 55"},
		{"no answer any more", func(s *experiment.Session) { pinged(s, 9, 5); pinged(s, 10, 0) }, "ping no reply 12.0s"},
		{"well again", func(s *experiment.Session) { pinged(s, 5, 0, complaint); pinged(s, 20, 5) }, "ping 5/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
			c.tell(s)
			line := strings.Split(Screen(frame(s, theme.Options{}), 80, 24), "\n")[2]
			tiny := strings.ReplaceAll(Screen(frame(s, theme.Options{}), 39, 7), "\n", " ")
			if loses := strings.Contains(c.want, "lost") || strings.Contains(c.want, "no reply"); strings.Contains(tiny, c.want) != loses {
				t.Errorf("the screen of one line is %q, want %q: %v", tiny, c.want, loses)
			}
			if !strings.Contains(line, c.want) || strings.Contains(line, "ping ok") {
				t.Errorf("the line of the sources is %q, want %q", line, c.want)
			}
		})
	}
}

// A ping that never had an answer has its chart, with the losses in it, before others that
// nobody tells: also where there is room for few.
func TestChartOfLostPings(t *testing.T) {
	s := experiment.New(experiment.Options{Start: storyStart, Interface: "em4"})
	var series []*sources.Series
	for _, m := range []sources.Metric{sources.TxOctets, sources.RxOctets, sources.TxPackets, sources.RxPackets} {
		series = append(series, &sources.Series{Source: "nic", Subject: "em4", Metric: m})
	}
	pinged(s, 9, 0)
	for range 20 {
		b := sources.Batch{At: s.Now().Add(100 * time.Millisecond)}
		for _, sr := range series {
			b.Samples = append(b.Samples, sources.Amount(sr, b.At, 100*time.Millisecond, 1e6))
		}
		s.Apply(b)
	}
	screen := Screen(frame(s, theme.Options{}), 60, 15)
	if !strings.Contains(screen, "\nping rtt ") || !strings.Contains(screen, "lost 45") || !strings.Contains(screen, "x") {
		t.Errorf("no chart of the lost pings:\n%s", screen)
	}
}

// The empty chart of a ping that is never answered says so.
func TestNoReplyInTheChart(t *testing.T) {
	at := newStory().at(1)
	session := experiment.New(experiment.Options{Start: at.Add(-time.Second), Interface: "em4"})
	lost := sources.Series{Source: "ping", Subject: "nobody", Metric: sources.PingLost}
	session.Apply(sources.Batch{At: at, Events: []sources.Event{{At: at, Kind: sources.SourceUp, Source: "ping"}},
		Samples: []sources.Sample{{Series: &lost, At: at, N: 1, Sum: 1, Min: 1, Max: 1, Last: 1}}})
	f := frame(session, theme.Options{})
	if screen := Screen(f, 120, 40); !strings.Contains(screen, "no reply") || strings.Contains(screen, "does not tell ping rtt") {
		t.Errorf("%s", screen)
	}
}
