package panes

import (
	"slices"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// A plot is one chart of the stack: a quantity, and what is drawn with it.
type plot struct {
	name string
	q    *experiment.Quantity
	ink  theme.Ink
	with *experiment.Quantity // a second line in the same unit, or nil
	lost *experiment.Quantity // marks on the baseline, or nil

	spare bool // it has a place only where all others have one
}

// plots returns the charts that are wanted, in order. Goodput takes the place of
// the interface's throughput once anything tells it, with the stack's figure as a
// second line, because the two are never the same thing.
func (f *Frame) plots() []plot {
	tx := plot{name: "tx", q: experiment.Tx, ink: theme.Stack}
	rx := plot{name: "rx", q: experiment.Rx, ink: theme.Stack}
	top, other := tx, rx
	if q, t := f.throughput(); q == experiment.Sampled {
		top = plot{name: t.Origin.Metric.Name, q: q, ink: theme.Goodput, with: experiment.Tx}
		if t.Origin.Metric == sources.RxSampled {
			top.with, other = experiment.Rx, tx
		}
	} else if t != nil {
		top = plot{name: "goodput", q: experiment.Goodput, ink: theme.Goodput, with: experiment.Tx}
		if t.Origin.Metric == sources.RxGood {
			top.name, top.with, other = "goodput in", experiment.Rx, tx
		}
	}
	all := []plot{
		top,
		{name: "ping rtt", q: experiment.PingRTT, ink: theme.Ping, lost: experiment.PingLost},
		{name: "srtt", q: experiment.SRTT, ink: theme.SRTT},
		{name: "cwnd", q: experiment.Cwnd, ink: theme.Cwnd},
		f.irqPlot(),
		f.segmentPlot(),
		other,
		{name: "cpu", q: experiment.CPU, ink: theme.CPU},
		{name: "tx pkt", q: experiment.TxPkts, ink: theme.Packets},
		f.retransPlot(),
		{name: "rx pkt", q: experiment.RxPkts, ink: theme.Packets},
		{name: "inflight", q: experiment.Inflight, ink: theme.Cwnd},
	}
	all = slices.Insert(all, slices.IndexFunc(all, func(p plot) bool { return p.q == experiment.Irqs }), f.lossPlots()...)
	return append(slices.Insert(all, 1, f.loadPlots()...), append(f.cardPlots(), f.logPlots()...)...)
}

// retransPlot is what was sent again. Where only a siftr log tells of a connection,
// which counts no such thing, the share of its packets in loss recovery stands there.
func (f *Frame) retransPlot() plot {
	if f.find(experiment.Retrans) == nil && f.find(experiment.Recovery) != nil {
		return recovery
	}
	return plot{name: "retrans", q: experiment.Retrans, ink: theme.Lost}
}

var recovery = plot{name: "recovery", q: experiment.Recovery, ink: theme.Lost}

// logPlots are what siftr logs tell beside. Losses and a full send buffer have a chart
// once there was one in what is shown.
func (f *Frame) logPlots() []plot {
	var out []plot
	if f.find(experiment.Retrans) != nil {
		out = f.appendHappened(out, recovery)
	}
	out = f.appendHappened(out, plot{name: "sndbuf lim", q: experiment.SndLimited, ink: theme.Cwnd})
	if f.find(experiment.FlowPkts) != nil {
		out = append(out, plot{name: "flow pkt", q: experiment.FlowPkts, ink: theme.Packets, spare: true})
	}
	return out
}

func (f *Frame) appendHappened(out []plot, p plot) []plot {
	if t := f.find(p.q); t != nil && f.happened(t) {
		out = append(out, p)
	}
	return out
}

// cardPlots are what only some cards tell. Losses have a chart once there was one
// in what is shown.
func (f *Frame) cardPlots() []plot {
	var out []plot
	if f.find(experiment.TSOFactor) != nil {
		out = append(out, plot{name: "tso factor", q: experiment.TSOFactor, ink: theme.Packets})
	}
	for _, p := range []plot{
		{name: "missed", q: experiment.Missed, ink: theme.Lost},
		{name: "no buffer", q: experiment.NoBuffer, ink: theme.Lost},
		{name: "qdrops", q: experiment.QueueDrops, ink: theme.Lost},
		{name: "rx pause", q: experiment.RxPause, ink: theme.Lost},
		{name: "tx pause", q: experiment.TxPause, ink: theme.Lost},
	} {
		out = f.appendHappened(out, p)
	}
	return out
}

// happened says whether anything was counted in the window.
func (f *Frame) happened(t *experiment.Track) bool {
	const columns = 60
	var bins [columns]series.Bin
	t.Ring.Window(bins[:], f.right().Add(-f.View.Window), f.View.Window/columns)
	return slices.ContainsFunc(bins[:], func(b series.Bin) bool { return b.Sum > 0 })
}

// irqPlot is named after whose interrupts it shows: the card's own, as the kernel
// takes them or the card counts them, or those of a line it shares.
func (f *Frame) irqPlot() plot {
	p := plot{name: "irq", q: experiment.Irqs, ink: theme.Interrupts}
	if t := f.find(p.q); t != nil {
		p.name = t.Origin.Metric.Name
	}
	return p
}

// segmentPlot is the segment as a log tells it. Where none ever did, the mean size
// of the packets at the interface, headers and all, is an estimate of it and says so.
func (f *Frame) segmentPlot() plot {
	estimate := plot{name: "seg est.", q: experiment.TxSize, ink: theme.Segment}
	if f.goodputIn() {
		estimate.q = experiment.RxSize
	}
	if f.find(experiment.Segment) == nil && f.find(estimate.q) != nil {
		return estimate
	}
	return plot{name: "avg seg", q: experiment.Segment, ink: theme.Segment}
}

// loadPlots are what only some loads tell: each has its place as soon as it is told.
func (f *Frame) loadPlots() []plot {
	var out []plot
	for _, p := range []plot{
		{name: "load in", q: experiment.LoadIn, ink: theme.Goodput},
		{name: "latency", q: experiment.Latency, ink: theme.SRTT},
		{name: "jitter", q: experiment.Jitter, ink: theme.SRTT},
		{name: "udp lost", q: experiment.UDPLost, ink: theme.Lost},
		{name: "iperf rtt", q: experiment.IperfRTT, ink: theme.SRTT},
		{name: "netpwr", q: experiment.NetPower, ink: theme.Packets},
	} {
		switch {
		case f.find(p.q) == nil:
		case p.q == experiment.LoadIn && f.goodputIn(): // the first chart shows it
		case p.q == experiment.IperfRTT && f.find(experiment.SRTT) != nil: // the kernel tells it finer
		default:
			out = append(out, p)
		}
	}
	return out
}

// goodputIn says whether the first chart is what the load receives.
func (f *Frame) goodputIn() bool {
	t := f.find(experiment.Goodput)
	return t != nil && t.Origin.Metric == sources.RxGood
}

// throughput is the goodput, or where only a log tells it that holds some of the
// packets, what those moved. The Track is nil when nothing tells it.
func (f *Frame) throughput() (*experiment.Quantity, *experiment.Track) {
	t := f.find(experiment.Goodput)
	part := f.find(experiment.Sampled)
	if part != nil {
		if t == nil {
			return experiment.Sampled, part
		}
		if f.silent(t) && !f.silent(part) {
			return experiment.Sampled, part
		}
	}
	return experiment.Goodput, t
}

// silent says whether a Track tells nothing at the right edge of the view.
func (f *Frame) silent(t *experiment.Track) bool {
	g, ok := f.figure(t)
	return !ok || g.Stale
}

// choose takes n plots: those that somebody tells first, and the others while
// there is room, all in their order. What is spare comes after both.
func (f *Frame) choose(n int) []plot {
	all := f.plots()
	first := func(p plot) bool {
		lost := p.lost != nil && f.find(p.lost) != nil // a ping without any answer
		return (f.find(p.q) != nil || lost) && !p.spare
	}
	told := 0
	for _, p := range all {
		if first(p) {
			told++
		}
	}
	untold := max(n-told, 0)
	var out []plot
	for _, p := range all {
		if !first(p) {
			if untold == 0 {
				continue
			}
			untold--
		}
		if len(out) < n {
			out = append(out, p)
		}
	}
	return out
}
