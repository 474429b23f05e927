package sources

// A Unit says what the number in a Sample counts.
type Unit uint8

const (
	Octets       Unit = iota + 1 // octets moved over time; shown as bit/s (SI, 1000)
	Bytes                        // bytes standing in a buffer or window; shown IEC (1024)
	Packets                      // packets or segments
	Interrupts                   // interrupts taken
	Microseconds                 // a duration
	Share                        // seconds of work per second of one core: 1 is one whole core
	Count                        // anything else that is counted
)

// Agg says how the Sums of several Samples make one figure.
type Agg uint8

const (
	// PerReading: the mean is Sum/N (cwnd, srtt, a ping RTT).
	PerReading Agg = iota + 1
	// PerTime: Sum is an amount that came over Span; the rate is Sum/Span and the
	// mean of several samples is the sum of Sums over the sum of Spans.
	PerTime
)

// Draw says how a chart shows a Metric.
type Draw uint8

const (
	Line Draw = iota + 1 // a line through the means
	Area                 // filled from zero
	Dots                 // one dot a reading, never joined
)

// A Metric names a quantity. Metrics are compared by value; the table below
// holds all that exist, so a recording may name them by Name alone.
type Metric struct {
	Name string // as in the field's own words; unique in the table
	Unit Unit
	Agg  Agg
	Draw Draw
}

// The metrics. "Stack" throughput is what the interface counters of the kernel
// say; with segmentation offload they see super-packets with one header each.
// "Wire" is what the MAC counted. The two are never mixed.
var (
	RxOctets     = Metric{"rx", Octets, PerTime, Line}            // stack receive throughput
	TxOctets     = Metric{"tx", Octets, PerTime, Line}            // stack transmit throughput
	RxWireOctets = Metric{"rx wire", Octets, PerTime, Line}       // MAC good octets received
	TxWireOctets = Metric{"tx wire", Octets, PerTime, Line}       // MAC good octets sent
	RxPackets    = Metric{"rx packets", Packets, PerTime, Line}   // stack packets received
	TxPackets    = Metric{"tx packets", Packets, PerTime, Line}   // stack packets sent (super-packets with TSO)
	RxWirePkts   = Metric{"rx wire pkts", Packets, PerTime, Line} // MAC good packets received
	TxWirePkts   = Metric{"tx wire pkts", Packets, PerTime, Line} // MAC good packets sent
	RxDrops      = Metric{"rx drops", Packets, PerTime, Line}
	TxDrops      = Metric{"tx drops", Packets, PerTime, Line}
	RxErrors     = Metric{"rx errors", Packets, PerTime, Line}
	TxErrors     = Metric{"tx errors", Packets, PerTime, Line}
	MissedPkts   = Metric{"missed", Packets, PerTime, Line}         // the card had no buffer or no bus time
	NoBuffer     = Metric{"no buffer", Packets, PerTime, Line}      // arrived while the host had given the card no free buffer; held in the card or lost
	QueueDrops   = Metric{"queue drops", Packets, PerTime, Line}    // lost in a queue of the driver, summed over its queues
	RxPause      = Metric{"rx pause", Packets, PerTime, Line}       // flow control frames received (XON and XOFF)
	TxPause      = Metric{"tx pause", Packets, PerTime, Line}       // flow control frames sent
	TSOSends     = Metric{"tso sends", Packets, PerTime, Line}      // super-packets that the card was told to cut
	TxSize       = Metric{"tx size", Bytes, PerReading, Line}       // octets of a packet as handed to the driver, with headers; N is packets
	RxSize       = Metric{"rx size", Bytes, PerReading, Line}       // octets of a packet as the driver handed it up, with headers; N is packets
	TSOFactor    = Metric{"tso factor", Count, PerReading, Line}    // packets on the wire for each one handed to the driver; N is packets handed
	Irqs         = Metric{"irq", Interrupts, PerTime, Area}         // interrupts of the subject (a card or one of its queues)
	IrqsShared   = Metric{"irq shared", Interrupts, PerTime, Area}  // interrupts of lines that other devices raise too: not the card's alone
	IrqAsserts   = Metric{"irq asserts", Interrupts, PerTime, Area} // interrupts the card itself counts to have raised
	IrqCap       = Metric{"irq cap", Interrupts, PerReading, Line}  // the moderation's upper bound (em: queue_rx_0.interrupt_rate), not a rate
	CPUBusy      = Metric{"cpu busy", Share, PerTime, Area}         // subject "cpu0", "cpu1", … or "all" (all: mean of the cores)

	Goodput    = Metric{"goodput", Octets, PerTime, Line}          // payload the application or TCP moved, out of this host unless the subject says "in"
	RxGood     = Metric{"goodput in", Octets, PerTime, Line}       // payload received
	Sampled    = Metric{"sampled", Octets, PerTime, Line}          // payload sent in those packets that a thinned log holds: no goodput
	RxSampled  = Metric{"sampled in", Octets, PerTime, Line}       // the same of the packets received
	Cwnd       = Metric{"cwnd", Bytes, PerReading, Area}           // congestion window
	Ssthresh   = Metric{"ssthresh", Bytes, PerReading, Line}       // slow start threshold; unset is never sampled
	Inflight   = Metric{"inflight", Bytes, PerReading, Line}       // bytes sent and not yet acknowledged (the source's own definition)
	SRTT       = Metric{"srtt", Microseconds, PerReading, Line}    // TCP's smoothed RTT: a packet mean of a smoothed, tick-stepped value
	RTTVar     = Metric{"rttvar", Microseconds, PerReading, Line}  // TCP's RTT variation
	Segment    = Metric{"segment", Bytes, PerReading, Line}        // payload of a data packet as handed to IP, before segmentation
	RxSegment  = Metric{"segment in", Bytes, PerReading, Line}     // payload of a received data packet, after LRO
	Retrans    = Metric{"retransmits", Packets, PerTime, Line}     // segments sent again
	Records    = Metric{"records", Count, PerTime, Line}           // siftr records read
	Recovery   = Metric{"recovery", Share, PerReading, Line}       // share of records written in loss recovery
	SndLimited = Metric{"sndbuf limited", Share, PerReading, Line} // share of records with a full send buffer
	Lag        = Metric{"lag", Microseconds, PerReading, Line}     // age of the newest record read of a log whose reader is behind

	IperfRTT  = Metric{"iperf rtt", Microseconds, PerReading, Line} // what the load generator reads from TCP_INFO
	Jitter    = Metric{"jitter", Microseconds, PerReading, Line}    // UDP jitter at the receiver
	Datagrams = Metric{"datagrams", Packets, PerTime, Line}         // UDP datagrams
	Lost      = Metric{"lost", Packets, PerTime, Line}              // UDP datagrams lost
	Latency   = Metric{"latency", Microseconds, PerReading, Line}   // iperf2 write-to-read latency
	NetPower  = Metric{"netpwr", Count, PerReading, Line}           // iperf2 network power

	PingRTT  = Metric{"ping rtt", Microseconds, PerReading, Dots}
	PingLost = Metric{"ping lost", Count, PerTime, Dots} // probes without an answer after their grace time
)

// Metrics returns every Metric in the table, in the order above.
func Metrics() []Metric {
	return []Metric{
		RxOctets, TxOctets, RxWireOctets, TxWireOctets, RxPackets, TxPackets, RxWirePkts, TxWirePkts,
		RxDrops, TxDrops, RxErrors, TxErrors, MissedPkts, NoBuffer, QueueDrops, RxPause, TxPause, TSOSends, TxSize, RxSize, TSOFactor,
		Irqs, IrqsShared, IrqAsserts, IrqCap, CPUBusy,
		Goodput, RxGood, Sampled, RxSampled, Cwnd, Ssthresh, Inflight, SRTT, RTTVar, Segment, RxSegment, Retrans, Records, Recovery, SndLimited, Lag,
		IperfRTT, Jitter, Datagrams, Lost, Latency, NetPower, PingRTT, PingLost,
	}
}
