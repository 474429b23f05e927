package panes

import (
	"math"
	"net/netip"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
)

// A story is a deterministic experiment on em4, told in batches of 100 ms: a run
// from second 5, aim 1 to 2 at 30, a lost ping at 41, no link from 50 to 53.1,
// siftr2 silent from 66, the interface gone from 70.
type story struct {
	session *experiment.Session
	tick    int // 100 ms each
	series  map[string]*sources.Series
	batch   sources.Batch
	queues  []string // interrupt lines that are told beside the total, the last one shared; and the cap
}

var storyStart = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

const storyFlow = "dd7fc950"

func newStory() *story {
	return &story{
		session: experiment.New(experiment.Options{Start: storyStart, Interface: "em4", Simulated: true}),
		series:  map[string]*sources.Series{},
	}
}

// tell goes on until so many seconds of the story have passed.
func (s *story) tell(seconds float64) *experiment.Session {
	for float64(s.tick)/10 < seconds {
		s.tick++
		s.session.Apply(s.next())
	}
	return s.session
}

func (s *story) at(seconds float64) time.Time {
	return storyStart.Add(time.Duration(seconds * float64(time.Second)))
}

func (s *story) next() sources.Batch {
	t := float64(s.tick) / 10
	s.batch = sources.Batch{At: s.at(t)}
	s.events(t)
	if t < 70 && (t < 50 || t > 53.1) {
		s.interfaceSamples(t)
	}
	s.second(t)
	if t > 5 && t < 66 && (t < 50 || t > 53.3) {
		s.flowSamples(t)
	}
	if s.tick%2 == 0 && t < 70 {
		s.ping(t)
	}
	return s.batch
}

// noise is between -1 and 1 and the same in every telling.
func (s *story) noise(salt float64) float64 {
	x := math.Sin(float64(s.tick)*12.9898+salt*78.233) * 43758.5453
	return 2*(x-math.Floor(x)) - 1
}

func (s *story) of(source, subject string, m sources.Metric) *sources.Series {
	key := source + subject + m.Name
	if s.series[key] == nil {
		s.series[key] = &sources.Series{Source: source, Subject: subject, Metric: m}
	}
	return s.series[key]
}

func (s *story) say(e sources.Event) { s.batch.Events = append(s.batch.Events, e) }

func (s *story) amount(source, subject string, m sources.Metric, span time.Duration, perSecond float64) {
	s.batch.Samples = append(s.batch.Samples, sources.Amount(s.of(source, subject, m), s.batch.At, span, perSecond*span.Seconds()))
}

func (s *story) reading(source, subject string, m sources.Metric, span time.Duration, v float64) {
	s.batch.Samples = append(s.batch.Samples, sources.Reading(s.of(source, subject, m), s.batch.At, span, v))
}

func (s *story) aim2() bool { return s.tick >= 300 }

func pick(b bool, yes, no float64) float64 {
	if b {
		return yes
	}
	return no
}

// storyKnobs are one that is gentle, one that drops the link, one that is locked.
var storyKnobs = []struct {
	value string
	spec  sources.KnobSpec
}{
	{"1", sources.KnobSpec{Name: "aim", Label: "aim", Subject: "em4", Values: []string{"0", "1", "2"}, Meanings: []string{"off", "bulk", "low latency"}, Command: "sysctl dev.em.4.enable_aim=%s"}},
	{"on", sources.KnobSpec{Name: "tso", Label: "TSO", Subject: "em4", Values: []string{"off", "on"}, Disruption: sources.LinkReset, Command: "ifconfig em4 tso %s"}},
	{"1", sources.KnobSpec{Name: "tcp.tso", Label: "tcp.tso", Values: []string{"0", "1"}, Note: "running connections follow at once"}},
	{"on", sources.KnobSpec{Name: "lro", Label: "LRO", Subject: "em4", Values: []string{"off", "on"}, Locked: "needs root", Command: "ifconfig em4 lro %s"}},
}

func (s *story) events(t float64) {
	at := s.batch.At
	switch t {
	case 0.1:
		for _, k := range storyKnobs {
			s.say(sources.Event{At: at, Kind: sources.KnobSeen, Source: "knobs", Subject: k.spec.Name, New: k.value, Knob: &k.spec})
		}
		for _, name := range []string{"nic", "irq", "cpu", "siftr2", "ping", "iperf3"} {
			s.say(sources.Event{At: at, Kind: sources.SourceUp, Source: name})
		}
		s.say(sources.Event{At: at, Kind: sources.SourceGone, Source: "tcp", Text: "not permitted: net.inet.tcp.pcblist", Error: true})
	case 5:
		s.say(sources.Event{At: at, Kind: sources.RunStarted, Source: "iperf3", Subject: "iperf3 #1", Text: "iperf3 -c r1 -t 120"})
		s.say(sources.Event{At: at, Kind: sources.FlowSeen, Source: "siftr2", Flow: &sources.Flow{
			ID: storyFlow, Local: netip.MustParseAddrPort("10.1.1.2:54321"), Remote: netip.MustParseAddrPort("10.1.1.3:5201"), Stack: "freebsd", CC: "cubic", MSS: 1448}})
	case 29.9:
		s.say(sources.Event{At: at, Kind: sources.KnobTurning, Source: "knobs", Subject: "aim", Old: "1", Asked: "2"})
	case 30:
		s.say(sources.Event{At: at, Span: 9 * time.Millisecond, Kind: sources.KnobTurned, Source: "knobs", Subject: "aim", Old: "1", Asked: "2", New: "2"})
	case 50:
		s.say(sources.Event{At: at, Kind: sources.LinkDown, Source: "nic", Subject: "em4", Text: "em4 link down"})
	case 53.1:
		s.say(sources.Event{At: at, Span: 3100 * time.Millisecond, Kind: sources.LinkUp, Source: "nic", Subject: "em4", Text: "em4 link up"})
	case 70:
		s.say(sources.Event{At: at, Kind: sources.LinkDown, Source: "nic", Subject: "em4", Text: "em4 GONE"})
	}
}

func (s *story) interfaceSamples(t float64) {
	const span = 100 * time.Millisecond
	tx := 20e3 + 2e3*s.noise(1)
	if t > 5 {
		tx = pick(s.aim2(), 117.7e6, 114.6e6) + 2e6*s.noise(1)
	}
	s.amount("nic", "em4", sources.TxOctets, span, tx)
	s.amount("nic", "em4", sources.RxOctets, span, tx/50)
	s.amount("nic", "em4", sources.TxPackets, span, tx/1500)
	s.amount("nic", "em4", sources.RxPackets, span, tx/3000)
}

func (s *story) second(t float64) {
	if s.tick%10 != 0 {
		return
	}
	loaded := t > 5
	if t < 70 && (t < 50 || t > 54) {
		s.amount("irq", "em4", sources.Irqs, time.Second, pick(loaded, pick(s.aim2(), 20400, 8000), 420)+300*s.noise(2))
		s.lines()
	}
	s.amount("cpu", "all", sources.CPUBusy, time.Second, pick(loaded, pick(s.aim2(), 0.71, 0.61), 0.03)+0.02*s.noise(3))
	if loaded && (t < 50 || t > 54) {
		s.amount("iperf3", experiment.LoadSum, sources.Goodput, time.Second, pick(t <= 70, pick(s.aim2(), 928.2e6, 904e6)/8+1e6*s.noise(4), 0))
		s.amount("iperf3", experiment.LoadSum, sources.Retrans, time.Second, 0)
	}
}

// lines tells each interrupt line, the nth 1/n of 3901/s, and the cap.
func (s *story) lines() {
	for i, name := range s.queues {
		m := sources.Irqs
		if i == len(s.queues)-1 {
			m = sources.IrqsShared
		}
		s.amount("irq", "em4:"+name, m, time.Second, 3901/float64(i+1))
	}
	if s.queues != nil {
		s.reading("irq", "em4", sources.IrqCap, time.Second, pick(s.aim2(), 71022, 8004))
	}
}

func (s *story) flowSamples(float64) {
	const span = 100 * time.Millisecond
	s.reading("siftr2", storyFlow, sources.Cwnd, span, 1024*(pick(s.aim2(), 733, 489)+10*s.noise(5)))
	s.reading("siftr2", storyFlow, sources.SRTT, span, pick(s.aim2(), 260, 311)+20*s.noise(6))
	s.reading("siftr2", storyFlow, sources.Segment, span, pick(s.aim2(), 4784, 4789)+100*s.noise(7))
	s.reading("siftr2", storyFlow, sources.Inflight, span, 1024*(240+20*s.noise(8)))
	s.amount("siftr2", storyFlow, sources.Goodput, span, pick(s.aim2(), 928.2e6, 904e6)/8+1e6*s.noise(9))
	s.amount("siftr2", storyFlow, sources.Records, span, 66100)
}

func (s *story) ping(t float64) {
	const span = 200 * time.Millisecond
	if t == 41 {
		s.amount("ping", "10.1.1.3", sources.PingLost, span, 1/span.Seconds())
		return
	}
	if t > 50 && t < 53.1 {
		s.amount("ping", "10.1.1.3", sources.PingLost, span, 1/span.Seconds())
		return
	}
	s.reading("ping", "10.1.1.3", sources.PingRTT, span, pick(t > 5, pick(s.aim2(), 155, 205), 120)+30*s.noise(10))
}
