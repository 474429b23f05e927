package nic

import (
	"fmt"
	"slices"

	"netwatch/sources"
)

// A driver is what one family of FreeBSD drivers tells of its card, as leaves
// below dev.NAME.UNIT that are asked by name. Every leaf is optional: a release
// or a chip that does not have it costs that figure and no other. Nobody walks
// the tree, for reading dev.em.N.reg_dump clears interrupt causes.
type driver struct {
	names  []string // as in dev.NAME
	mac    []leaf   // copied from the card now and then, all together
	queues []leaf   // a counter for each queue (%d): counted at once, zeroed by a re-initialisation
	// stepped: the octets and packets of if_data are copied from the card as well.
	stepped bool
	// handed: if_data counts what the stack handed over, a super-packet once.
	handed bool
	// line: the link's speed is that of a wire and bounds what can be true.
	line bool
	// documented: from manual pages and driver sources; no such card was seen.
	documented bool
}

// A leaf is one counter; leaves of the same metric are added up.
type leaf struct {
	metric sources.Metric
	name   string
}

// maxQueues bounds the search for queues.
const maxQueues = 64

// intelQueues are the transmit rings of iflib(4), which count from 0 without
// leading zeroes up to ten queues, with one up to a hundred.
var intelQueues = []leaf{
	{sources.QueueDrops, "iflib.txq%d.r_drops"},
	{sources.QueueDrops, "iflib.txq%02d.r_drops"},
}

// drivers is the table. Names: sys/dev/*/if_*.c of FreeBSD 14 and 15, where em's
// were read from running kernels.
var drivers = []driver{
	{names: []string{"em", "igb", "igc"}, handed: true, line: true, queues: intelQueues, mac: []leaf{
		{sources.RxWireOctets, "mac_stats.good_octets_recvd"}, {sources.TxWireOctets, "mac_stats.good_octets_txd"},
		{sources.RxWirePkts, "mac_stats.good_pkts_recvd"}, {sources.TxWirePkts, "mac_stats.good_pkts_txd"},
		{sources.MissedPkts, "mac_stats.missed_packets"}, {sources.NoBuffer, "mac_stats.recv_no_buff"},
		{sources.RxPause, "mac_stats.xon_recvd"}, {sources.RxPause, "mac_stats.xoff_recvd"},
		{sources.TxPause, "mac_stats.xon_txd"}, {sources.TxPause, "mac_stats.xoff_txd"},
		{sources.TSOSends, "mac_stats.tso_txd"}, {sources.IrqAsserts, "interrupts.asserts"}}},
	{names: []string{"ix"}, stepped: true, line: true, documented: true,
		queues: append([]leaf{{sources.QueueDrops, "queue%d.rx_discarded"}}, intelQueues...), mac: []leaf{
			{sources.RxWireOctets, "mac_stats.good_octets_rcvd"}, {sources.TxWireOctets, "mac_stats.good_octets_txd"},
			{sources.RxWirePkts, "mac_stats.good_pkts_rcvd"}, {sources.TxWirePkts, "mac_stats.good_pkts_txd"},
			{sources.MissedPkts, "mac_stats.rx_missed_packets"},
			{sources.RxPause, "mac_stats.xon_recvd"}, {sources.RxPause, "mac_stats.xoff_recvd"},
			{sources.TxPause, "mac_stats.xon_txd"}, {sources.TxPause, "mac_stats.xoff_txd"}}},
	{names: []string{"ixl"}, stepped: true, line: true, documented: true, queues: intelQueues, mac: []leaf{
		{sources.RxWireOctets, "mac.good_octets_rcvd"}, {sources.TxWireOctets, "mac.good_octets_txd"},
		{sources.MissedPkts, "mac.rx_discards"},
		{sources.RxPause, "mac.xon_recvd"}, {sources.RxPause, "mac.xoff_recvd"},
		{sources.TxPause, "mac.xon_txd"}, {sources.TxPause, "mac.xoff_txd"}}},
	{names: []string{"ice"}, stepped: true, line: true, documented: true, queues: intelQueues, mac: []leaf{
		{sources.RxWireOctets, "hw.mac.good_octets_rcvd"}, {sources.TxWireOctets, "hw.mac.good_octets_txd"},
		{sources.MissedPkts, "hw.mac.rx_discards"},
		{sources.RxPause, "hw.mac.xon_recvd"}, {sources.RxPause, "hw.mac.xoff_recvd"},
		{sources.TxPause, "hw.mac.xon_txd"}, {sources.TxPause, "hw.mac.xoff_txd"}}},
	{names: []string{"cxgbe", "cxl", "cc"}, stepped: true, line: true, documented: true, mac: []leaf{
		{sources.RxWireOctets, "stats.rx_octets"}, {sources.TxWireOctets, "stats.tx_octets"},
		{sources.RxWirePkts, "stats.rx_frames"}, {sources.TxWirePkts, "stats.tx_frames"},
		{sources.MissedPkts, "stats.rx_ovflow0"}, {sources.MissedPkts, "stats.rx_ovflow1"},
		{sources.MissedPkts, "stats.rx_ovflow2"}, {sources.MissedPkts, "stats.rx_ovflow3"},
		{sources.RxPause, "stats.rx_pause"}, {sources.TxPause, "stats.tx_pause"}}},
	{names: []string{"mce"}, stepped: true, line: true, documented: true, mac: []leaf{
		{sources.RxWireOctets, "pstats.octets_received"}, {sources.TxWireOctets, "pstats.octets_tx"},
		{sources.RxWirePkts, "pstats.frames_rx"}, {sources.TxWirePkts, "pstats.frames_tx"},
		{sources.NoBuffer, "vstats.rx_out_of_buffer"}, {sources.QueueDrops, "vstats.tx_queue_dropped"},
		{sources.TSOSends, "vstats.tso_packets"},
		{sources.RxPause, "pstats.pause_ctrl_rx"}, {sources.TxPause, "pstats.pause_ctrl_tx"}}},
	{names: []string{"bge"}, stepped: true, line: true, documented: true, mac: []leaf{
		{sources.RxWireOctets, "stats.rx.ifHCInOctets"}, {sources.TxWireOctets, "stats.tx.ifHCOutOctets"},
		{sources.MissedPkts, "stats.InputDiscards"}, {sources.NoBuffer, "stats.NoMoreRxBDs"}}},
	{names: []string{"re"}, line: true, documented: true}, // its counters go to the console only
	{names: []string{"vtnet"}, documented: true, queues: []leaf{
		{sources.QueueDrops, "rxq%d.iqdrops"}, {sources.TSOSends, "txq%d.tso"}}},
	{names: []string{"vmx"}, documented: true, queues: intelQueues},
}

// driverOf returns the row of a driver; the zero row, which tells nothing beside
// if_data, for one that the table does not know.
func driverOf(name string) driver {
	if i := slices.IndexFunc(drivers, func(d driver) bool { return slices.Contains(d.names, name) }); i >= 0 {
		return drivers[i]
	}
	return driver{}
}

// macLeaves returns the leaves below prefix ("dev.em.4") that has says are there.
func (d driver) macLeaves(prefix string, has func(name string) bool) []leaf {
	return present(prefix, d.mac, has)
}

// queueLeaves returns one leaf for each queue, from queue 0 to the first that is not there.
func (d driver) queueLeaves(prefix string, has func(name string) bool) []leaf {
	var found []leaf
	for _, l := range d.queues {
		for q := range maxQueues {
			one := present(prefix, []leaf{{l.metric, fmt.Sprintf(l.name, q)}}, has)
			if one == nil {
				break
			}
			found = append(found, one...)
		}
	}
	return found
}

func present(prefix string, leaves []leaf, has func(name string) bool) []leaf {
	var found []leaf
	for _, l := range leaves {
		l.name = prefix + "." + l.name
		if has(l.name) {
			found = append(found, l)
		}
	}
	return found
}

// add puts the value of one counter into a group, to the one of the same metric
// if there is one.
func (g *group) add(m sources.Metric, v uint64) {
	if i := slices.Index(g.metrics, m); i >= 0 {
		g.values[i] += v
		return
	}
	g.metrics, g.values = append(g.metrics, m), append(g.values, v)
}

// reset empties the group and keeps its room.
func (g *group) reset() { g.metrics, g.values = g.metrics[:0], g.values[:0] }

// A wide makes one 64-bit counter out of one of 32 bits: a step of less than half
// of its range forward is a step, anything else a count that began again.
type wide struct {
	raw   uint32
	value uint64
	seen  bool
}

func (w *wide) take(raw uint32) uint64 {
	if step := raw - w.raw; w.seen && step < 1<<31 {
		w.value += uint64(step)
	} else {
		w.value = uint64(raw)
	}
	w.raw, w.seen = raw, true
	return w.value
}
