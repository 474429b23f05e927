package experiment

import "netwatch/sources"

// A Scope says whose figure a Quantity is.
type Scope uint8

const (
	OfInterface Scope = iota + 1 // the watched interface
	OfFlow                       // the busiest connection, or the load generator's sum
	OfTarget                     // what is pinged
	OfHost                       // all cores
)

// An Origin is one way to learn a Quantity: a source and the metric it sends.
type Origin struct {
	Source string
	Metric sources.Metric
}

// A Quantity is a figure an experimenter follows, whoever measures it. From
// lists who can tell it, the best first; figures of different origins are kept
// apart and never averaged together.
type Quantity struct {
	Name  string // "goodput", "ping rtt", …
	Scope Scope
	From  []Origin
}

// seldom are quantities that mostly are zero. Tables have a column for one of them as
// soon as it was not.
var seldom = map[*Quantity]bool{Recovery: true, SndLimited: true}

// The quantities, in the order of screens and tables.
var (
	Tx     = &Quantity{"tx", OfInterface, []Origin{{"nic", sources.TxOctets}}}
	Rx     = &Quantity{"rx", OfInterface, []Origin{{"nic", sources.RxOctets}}}
	TxPkts = &Quantity{"tx pkt/s", OfInterface, []Origin{{"nic", sources.TxPackets}}}
	RxPkts = &Quantity{"rx pkt/s", OfInterface, []Origin{{"nic", sources.RxPackets}}}
	TxWire = &Quantity{"tx wire", OfInterface, []Origin{{"nic", sources.TxWireOctets}}}
	RxWire = &Quantity{"rx wire", OfInterface, []Origin{{"nic", sources.RxWireOctets}}}
	// The cards' own counters, as far as drivers tell them.
	TxWirePkts = &Quantity{"tx wire pkt/s", OfInterface, []Origin{{"nic", sources.TxWirePkts}}}
	RxWirePkts = &Quantity{"rx wire pkt/s", OfInterface, []Origin{{"nic", sources.RxWirePkts}}}
	Missed     = &Quantity{"missed", OfInterface, []Origin{{"nic", sources.MissedPkts}}}
	NoBuffer   = &Quantity{"no buffer", OfInterface, []Origin{{"nic", sources.NoBuffer}}}
	QueueDrops = &Quantity{"queue drops", OfInterface, []Origin{{"nic", sources.QueueDrops}}}
	RxPause    = &Quantity{"rx pause", OfInterface, []Origin{{"nic", sources.RxPause}}}
	TxPause    = &Quantity{"tx pause", OfInterface, []Origin{{"nic", sources.TxPause}}}
	// The mean size of the packets between stack and driver, with headers: what
	// stands in for Segment, as an estimate, while no log tells it.
	TxSize    = &Quantity{"tx size", OfInterface, []Origin{{"nic", sources.TxSize}}}
	RxSize    = &Quantity{"rx size", OfInterface, []Origin{{"nic", sources.RxSize}}}
	TSOFactor = &Quantity{"tso factor", OfInterface, []Origin{{"nic", sources.TSOFactor}}}

	RxDrops  = &Quantity{"rx drops", OfInterface, []Origin{{"nic", sources.RxDrops}}}
	TxDrops  = &Quantity{"tx drops", OfInterface, []Origin{{"nic", sources.TxDrops}}}
	RxErrors = &Quantity{"rx errors", OfInterface, []Origin{{"nic", sources.RxErrors}}}
	TxErrors = &Quantity{"tx errors", OfInterface, []Origin{{"nic", sources.TxErrors}}}
	Goodput  = &Quantity{"goodput", OfFlow, []Origin{{"iperf3", sources.Goodput}, {"iperf2", sources.Goodput}, {"iperf3", sources.RxGood}, {"iperf2", sources.RxGood}, {"siftr2", sources.Goodput}, {"siftr2", sources.RxGood}, {"siftr", sources.Goodput}, {"siftr", sources.RxGood}, {"tcp", sources.Goodput}, {"tcp", sources.RxGood}}}
	Sampled  = &Quantity{"sampled", OfFlow, []Origin{{"siftr2", sources.Sampled}, {"siftr2", sources.RxSampled}, {"siftr", sources.Sampled}, {"siftr", sources.RxSampled}}} // what of the payload a thinned log holds
	PingRTT  = &Quantity{"ping rtt", OfTarget, []Origin{{"ping", sources.PingRTT}}}
	PingLost = &Quantity{"ping lost", OfTarget, []Origin{{"ping", sources.PingLost}}}
	SRTT     = &Quantity{"srtt", OfFlow, []Origin{{"siftr2", sources.SRTT}, {"siftr", sources.SRTT}, {"tcp", sources.SRTT}}}
	Cwnd     = &Quantity{"cwnd", OfFlow, []Origin{{"siftr2", sources.Cwnd}, {"siftr", sources.Cwnd}, {"tcp", sources.Cwnd}, {"iperf3", sources.Cwnd}, {"iperf2", sources.Cwnd}}}
	Inflight = &Quantity{"inflight", OfFlow, []Origin{{"siftr2", sources.Inflight}, {"siftr", sources.Inflight}, {"tcp", sources.Inflight}}}
	Segment  = &Quantity{"segment", OfFlow, []Origin{{"siftr2", sources.Segment}, {"siftr2", sources.RxSegment}, {"siftr", sources.Segment}, {"siftr", sources.RxSegment}}}
	Retrans  = &Quantity{"retransmits", OfFlow, []Origin{{"iperf3", sources.Retrans}, {"iperf2", sources.Retrans}, {"tcp", sources.Retrans}}}
	// What a siftr log tells of its packets: how many there were (with TSO a burst is
	// one), and which share of them was in loss recovery or met a full send buffer.
	Recovery   = &Quantity{"recovery", OfFlow, []Origin{{"siftr2", sources.Recovery}, {"siftr", sources.Recovery}}}
	SndLimited = &Quantity{"sndbuf limited", OfFlow, []Origin{{"siftr2", sources.SndLimited}, {"siftr", sources.SndLimited}}}
	FlowPkts   = &Quantity{"flow pkt/s", OfFlow, []Origin{{"siftr2", sources.Records}, {"siftr", sources.Records}}}

	LoadIn   = &Quantity{"load in", OfFlow, []Origin{{"iperf3", sources.RxGood}, {"iperf2", sources.RxGood}}} // the other direction of a load that goes both ways
	IperfRTT = &Quantity{"iperf rtt", OfFlow, []Origin{{"iperf3", sources.IperfRTT}, {"iperf2", sources.IperfRTT}}}
	Latency  = &Quantity{"latency", OfFlow, []Origin{{"iperf2", sources.Latency}}}
	NetPower = &Quantity{"netpwr", OfFlow, []Origin{{"iperf2", sources.NetPower}}}
	Jitter   = &Quantity{"jitter", OfFlow, []Origin{{"iperf3", sources.Jitter}, {"iperf2", sources.Jitter}}}
	UDPLost  = &Quantity{"udp lost", OfFlow, []Origin{{"iperf3", sources.Lost}, {"iperf2", sources.Lost}}}
	Irqs     = &Quantity{"irq", OfInterface, []Origin{{"irq", sources.Irqs}, {"nic", sources.IrqAsserts}, {"irq", sources.IrqsShared}}} // of a shared line the card's own count is the better one
	CPU      = &Quantity{"cpu", OfHost, []Origin{{"cpu", sources.CPUBusy}}}
)

// Quantities returns all of them, in order.
func Quantities() []*Quantity {
	return []*Quantity{Tx, Rx, TxPkts, RxPkts, TxWire, RxWire, TxWirePkts, RxWirePkts, Missed, NoBuffer, QueueDrops, RxPause, TxPause,
		TxSize, RxSize, TSOFactor, RxDrops, TxDrops, RxErrors, TxErrors,
		Goodput, Sampled, PingRTT, PingLost, SRTT, Cwnd, Inflight, Segment, Retrans, Recovery, SndLimited, FlowPkts,
		LoadIn, IperfRTT, Latency, NetPower, Jitter, UDPLost, Irqs, CPU}
}

// Metric is that of the first origin: every origin of a Quantity has its unit and Agg.
func (q *Quantity) Metric() sources.Metric { return q.From[0].Metric }

// rank is the place of an origin in From, or -1.
func (q *Quantity) rank(o Origin) int {
	for i, f := range q.From {
		if f == o {
			return i
		}
	}
	return -1
}
