package testbed

import (
	"time"

	"netwatch/sources"
)

// Octets around the payload: Ethernet, IPv4 and TCP with timestamps; on the wire
// the MAC counts the frame check sequence as well.
const (
	stackHeader = 14 + 20 + 32
	wireHeader  = stackHeader + 4
)

// card is the simulated em4 and the host's cores: counters since the last poll.
type card struct {
	fast     time.Time // newest poll of the interface counters
	slow     time.Time // newest poll of the MAC, interrupts and cores
	pinged   time.Time
	saidDown bool
	acks     float64 // acknowledgements owed

	stack, wire traffic // since fast, since slow
	irqs, busy  float64 // since slow
	series      map[sources.Metric]*sources.Series
	cores       []*sources.Series
}

type traffic struct{ rxOctets, txOctets, rxPackets, txPackets float64 }

func newCard() card {
	c := card{series: map[sources.Metric]*sources.Series{}}
	for _, m := range []sources.Metric{
		sources.RxOctets, sources.TxOctets, sources.RxPackets, sources.TxPackets, sources.RxDrops, sources.TxDrops, sources.RxErrors, sources.TxErrors,
		sources.RxWireOctets, sources.TxWireOctets, sources.RxWirePkts, sources.TxWirePkts,
	} {
		c.series[m] = &sources.Series{Source: "nic", Subject: Interface, Metric: m}
	}
	for _, m := range []sources.Metric{sources.Irqs, sources.IrqCap} {
		c.series[m] = &sources.Series{Source: "irq", Subject: Interface, Metric: m}
	}
	for _, core := range []string{"all", "cpu0", "cpu1"} {
		c.cores = append(c.cores, &sources.Series{Source: "cpu", Subject: core, Metric: sources.CPUBusy})
	}
	return c
}

func (c *card) start(now time.Time, sink sources.Sink) {
	c.fast, c.slow = now, now
	for _, name := range []string{"nic", "irq", "cpu"} {
		sink.Event(sources.Event{At: now, Kind: sources.SourceUp, Source: name, Subject: Interface})
	}
}

// data counts one data packet and returns how many acknowledgements it brings:
// one for two segments on the wire, as a receiver without LRO sends them.
func (c *card) data(payload int, s *state) int {
	segments := (payload + mss - 1) / mss
	c.stack.txOctets += float64(payload + stackHeader)
	c.stack.txPackets++
	c.wire.txOctets += float64(payload + segments*wireHeader)
	c.wire.txPackets += float64(segments)
	c.acks += float64(segments) / 2
	n := int(c.acks)
	c.acks -= float64(n)
	c.stack.rxOctets += float64(n * stackHeader)
	c.stack.rxPackets += float64(n)
	c.wire.rxOctets += float64(n * wireHeader)
	c.wire.rxPackets += float64(n)
	return n
}

// poll says what a tick of the real pollers would: the interface each 100 ms,
// the rest each second.
func (c *card) poll(now time.Time, dt time.Duration, s *state, sink sources.Sink) {
	row, sec := aimRows[s.aim], dt.Seconds()
	switch {
	case s.loaded() && s.up():
		c.irqs += row.irqs * sec * (1 + s.rng.NormFloat64()*0.05)
		busy := row.busy
		if !s.superPackets() {
			busy += noTSOBusy
		}
		c.busy += min(1, busy*(1+s.rng.NormFloat64()*0.08)) * sec
	case s.up():
		c.irqs += 24 * sec
		c.busy += 0.015 * sec * (1 + s.rng.NormFloat64()*0.2)
	default:
		c.busy += 0.015 * sec
	}
	if span := now.Sub(c.fast); span >= 100*time.Millisecond {
		c.fast = now
		t := c.stack
		c.stack = traffic{}
		c.say(sink, now, span, map[sources.Metric]float64{
			sources.RxOctets: t.rxOctets, sources.TxOctets: t.txOctets, sources.RxPackets: t.rxPackets, sources.TxPackets: t.txPackets,
			sources.RxDrops: 0, sources.TxDrops: 0, sources.RxErrors: 0, sources.TxErrors: 0,
		})
	}
	if span := now.Sub(c.slow); span >= time.Second {
		c.slow = now
		w := c.wire
		c.say(sink, now, span, map[sources.Metric]float64{
			sources.RxWireOctets: w.rxOctets, sources.TxWireOctets: w.txOctets, sources.RxWirePkts: w.rxPackets, sources.TxWirePkts: w.txPackets,
			sources.Irqs: c.irqs,
		})
		ceiling := row.caps.idle
		if s.loaded() {
			ceiling = row.caps.loaded
		}
		sink.Sample(sources.Reading(c.series[sources.IrqCap], now, span, ceiling)) // as queue_rx_0.interrupt_rate
		for i, lean := range []float64{1, 1.12, 0.88} {                            // the card's interrupts go to core 0
			sink.Sample(sources.Amount(c.cores[i], now, span, min(c.busy*lean, span.Seconds())))
		}
		c.wire, c.irqs, c.busy = traffic{}, 0, 0
	}
}

func (c *card) say(sink sources.Sink, now time.Time, span time.Duration, sums map[sources.Metric]float64) {
	for m, v := range sums {
		sink.Sample(sources.Amount(c.series[m], now, span, v))
	}
}
