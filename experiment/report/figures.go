package report

import (
	"strconv"

	"netwatch/experiment"
	"netwatch/sources"
)

// A scale turns a figure in a Metric's own unit into what people read.
type scale struct {
	unit   string
	factor float64
	digits int
}

// scales: bits are SI, bytes of buffers IEC; a ping is milliseconds, TCP's own
// RTTs are microseconds, as each tool prints them.
var scales = map[*experiment.Quantity]scale{
	experiment.Tx:       {"Mbit/s", 8e-6, 1},
	experiment.Rx:       {"Mbit/s", 8e-6, 1},
	experiment.TxWire:   {"Mbit/s", 8e-6, 1},
	experiment.RxWire:   {"Mbit/s", 8e-6, 1},
	experiment.TxPkts:   {"pkt/s", 1, 0},
	experiment.RxPkts:   {"pkt/s", 1, 0},
	experiment.RxDrops:  {"/s", 1, 0},
	experiment.TxDrops:  {"/s", 1, 0},
	experiment.RxErrors: {"/s", 1, 0},
	experiment.TxErrors: {"/s", 1, 0},
	experiment.Goodput:  {"Mbit/s", 8e-6, 1},
	experiment.Sampled:  {"Mbit/s", 8e-6, 1},
	experiment.PingRTT:  {"ms", 1e-3, 3},
	experiment.PingLost: {"probes", 1, 0},
	experiment.SRTT:     {"us", 1, 0},
	experiment.Cwnd:     {"KiB", 1.0 / 1024, 0},
	experiment.Inflight: {"KiB", 1.0 / 1024, 0},
	experiment.Segment:  {"bytes", 1, 0},
	experiment.TxSize:   {"bytes", 1, 0},
	experiment.RxSize:   {"bytes", 1, 0},
	experiment.Retrans:  {"/s", 1, 0},
	experiment.Recovery: {"%", 100, 1},
	experiment.FlowPkts: {"pkt/s", 1, 0},
	experiment.LoadIn:   {"Mbit/s", 8e-6, 1},
	experiment.IperfRTT: {"us", 1, 0},
	experiment.Latency:  {"ms", 1e-3, 3},
	experiment.NetPower: {"", 1, 0},
	experiment.Jitter:   {"us", 1, 0},
	experiment.UDPLost:  {"/s", 1, 1},
	experiment.Irqs:     {"/s", 1, 0},
	experiment.CPU:      {"%", 100, 1},

	experiment.SndLimited: {"%", 100, 1},
}

func (s scale) text(v float64) string { return strconv.FormatFloat(v*s.factor, 'f', s.digits, 64) }

// percent writes a change as "+2.7 %".
func percent(v float64) string {
	t := strconv.FormatFloat(v*100, 'f', 1, 64)
	switch {
	case t == "-0.0" || t == "0.0":
		t = "0.0"
	case v > 0:
		t = "+" + t
	}
	return t + " %"
}

// origin names who told a figure: "iperf3", "siftr2 dd7fc950" would be the flow of
// one moment, so only the source is named, and the direction where it is the other one.
func origin(t *experiment.Track) string {
	if t.Origin.Metric == sources.RxGood || t.Origin.Metric == sources.RxSampled || t.Origin.Metric == sources.RxSegment {
		return t.Origin.Source + " in"
	}
	return t.Origin.Source
}
