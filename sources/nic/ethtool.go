package nic

import (
	"slices"
	"strings"

	"netwatch/sources"
)

// An ethtoolDriver is what one family of Linux drivers tells by ETHTOOL_GSTATS
// beside rtnetlink. What rtnetlink has already (rx_missed_errors is i40e's
// port.rx_discards and mlx5's rx_out_of_buffer) is not asked for again.
type ethtoolDriver struct {
	names      []string // as drvinfo has them
	stats      []leaf   // a '#' in a name stands for the number of a queue
	line       bool     // the link's speed is that of a wire and bounds what can be true
	documented bool     // from the driver's source; no such card was seen
}

// intelPause are the flow control frames of Intel's older drivers.
var intelPause = []leaf{
	{sources.RxPause, "rx_flow_control_xon"}, {sources.RxPause, "rx_flow_control_xoff"},
	{sources.TxPause, "tx_flow_control_xon"}, {sources.TxPause, "tx_flow_control_xoff"},
}

// ethtoolDrivers is the table; the names are those of the *_ethtool.c files (en_stats.c
// of mlx5) of Linux 6.
var ethtoolDrivers = []ethtoolDriver{
	{names: []string{"e1000e", "e1000"}, line: true, documented: true, stats: append([]leaf{
		{sources.RxWireOctets, "rx_bytes"}, {sources.TxWireOctets, "tx_bytes"},
		{sources.RxWirePkts, "rx_packets"}, {sources.TxWirePkts, "tx_packets"},
		{sources.NoBuffer, "rx_no_buffer_count"}}, intelPause...)},
	{names: []string{"igb", "igc"}, line: true, documented: true, stats: append([]leaf{
		{sources.RxWireOctets, "rx_bytes"}, {sources.TxWireOctets, "tx_bytes"},
		{sources.RxWirePkts, "rx_packets"}, {sources.TxWirePkts, "tx_packets"},
		{sources.NoBuffer, "rx_no_buffer_count"}, {sources.QueueDrops, "rx_queue_#_drops"}}, intelPause...)},
	{names: []string{"ixgbe"}, line: true, documented: true, stats: append([]leaf{
		{sources.RxWireOctets, "rx_bytes_nic"}, {sources.TxWireOctets, "tx_bytes_nic"},
		{sources.RxWirePkts, "rx_pkts_nic"}, {sources.TxWirePkts, "tx_pkts_nic"},
		{sources.NoBuffer, "rx_no_dma_resources"}}, intelPause...)},
	{names: []string{"i40e"}, line: true, documented: true, stats: []leaf{
		{sources.RxWireOctets, "port.rx_bytes"}, {sources.TxWireOctets, "port.tx_bytes"},
		{sources.RxWirePkts, "port.rx_unicast"}, {sources.RxWirePkts, "port.rx_multicast"}, {sources.RxWirePkts, "port.rx_broadcast"},
		{sources.TxWirePkts, "port.tx_unicast"}, {sources.TxWirePkts, "port.tx_multicast"}, {sources.TxWirePkts, "port.tx_broadcast"},
		{sources.RxPause, "port.link_xon_rx"}, {sources.RxPause, "port.link_xoff_rx"},
		{sources.TxPause, "port.link_xon_tx"}, {sources.TxPause, "port.link_xoff_tx"}}},
	{names: []string{"ice"}, line: true, documented: true, stats: []leaf{
		{sources.RxWireOctets, "rx_bytes.nic"}, {sources.TxWireOctets, "tx_bytes.nic"},
		{sources.RxWirePkts, "rx_unicast.nic"}, {sources.RxWirePkts, "rx_multicast.nic"}, {sources.RxWirePkts, "rx_broadcast.nic"},
		{sources.TxWirePkts, "tx_unicast.nic"}, {sources.TxWirePkts, "tx_multicast.nic"}, {sources.TxWirePkts, "tx_broadcast.nic"},
		{sources.RxPause, "link_xon_rx.nic"}, {sources.RxPause, "link_xoff_rx.nic"},
		{sources.TxPause, "link_xon_tx.nic"}, {sources.TxPause, "link_xoff_tx.nic"}}},
	{names: []string{"mlx5_core"}, line: true, documented: true, stats: []leaf{
		{sources.RxWireOctets, "rx_bytes_phy"}, {sources.TxWireOctets, "tx_bytes_phy"},
		{sources.RxWirePkts, "rx_packets_phy"}, {sources.TxWirePkts, "tx_packets_phy"},
		{sources.QueueDrops, "tx_queue_dropped"},
		{sources.RxPause, "rx_pause_ctrl_phy"}, {sources.TxPause, "tx_pause_ctrl_phy"}}},
	{names: []string{"r8169"}, line: true, documented: true, stats: []leaf{
		{sources.RxWirePkts, "rx_packets"}, {sources.TxWirePkts, "tx_packets"}}},
	{names: []string{"virtio_net"}, stats: []leaf{ // the second is of Linux 5.14 only
		{sources.QueueDrops, "rx_queue_#_drops"}, {sources.QueueDrops, "rx#_drops"}}},
	{names: []string{"ena"}, documented: true}, // its drops are in rtnetlink's
}

// ethtoolDriverOf returns the row of a driver; the zero row tells nothing.
func ethtoolDriverOf(name string) ethtoolDriver {
	i := slices.IndexFunc(ethtoolDrivers, func(d ethtoolDriver) bool { return slices.Contains(d.names, name) })
	if i < 0 {
		return ethtoolDriver{}
	}
	return ethtoolDrivers[i]
}

// A place is where one counter stands in the driver's array.
type place struct {
	metric sources.Metric
	index  int
}

// places finds the row's counters among the driver's names.
func (d ethtoolDriver) places(names []string) []place {
	var found []place
	for i, name := range names {
		for _, l := range d.stats {
			if queueName(name, l.name) {
				found = append(found, place{l.metric, i})
				break
			}
		}
	}
	return found
}

// queueName says whether a name is the pattern, with digits where it has a '#'.
func queueName(name, pattern string) bool {
	before, after, queues := strings.Cut(pattern, "#")
	if !queues {
		return name == pattern
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	number, ok := strings.CutSuffix(rest, after)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
