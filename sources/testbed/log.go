package testbed

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"netwatch/parsers/siftr"
)

// Values that the simulated records carry without meaning for
// netwatch: windows, buffers, flags.
const (
	flagsNoTSO = 0x3e1
	flags2     = 0x2
	sndBuf     = 1 << 21
	rcvBuf     = 1 << 16
	rto        = 230_000 // microseconds
)

// A kernelLog is the file that siftr or siftr2 writes while it is switched on.
type kernelLog struct {
	hex     bool // siftr2, else stock siftr
	on      bool
	enabled time.Time
	now     time.Time
	id      uint32
	port    int
	records int
	flows   string // the footer's list
	prefix  string // time and addresses of stock records of this moment
}

// follow switches the log on or off as the knob says, and gives a new connection
// its place in the footer.
func (l *kernelLog) follow(on bool, now time.Time, s *state, out *[]byte) {
	l.now = now
	switch {
	case on && !l.on:
		*l = kernelLog{hex: l.hex, on: true, enabled: now, now: now}
		*out = l.header(*out)
	case !on && l.on:
		l.list()
		*out = l.footer(*out)
		l.on = false
	}
	if l.on && !l.hex {
		l.prefix = fmt.Sprintf(",%d.%06d,%s,%d,%s,%d", now.Unix(), now.Nanosecond()/1000, localIP, s.conn.port, remoteIP, loadPort)
	}
	if l.on && s.loaded() && l.port != s.conn.port {
		l.list()
		l.port = s.conn.port
		local := netip.AddrPortFrom(netip.MustParseAddr(localIP), uint16(l.port))
		remote := netip.AddrPortFrom(netip.MustParseAddr(remoteIP), loadPort)
		l.id = siftr.FlowID(local, remote)
	}
}

// list adds the connection that was logged last to the footer.
func (l *kernelLog) list() {
	if l.port == 0 || l.records == 0 {
		return
	}
	if l.hex {
		l.flows += fmt.Sprintf("%08x,4,%s,%d,%s,%d,freebsd,cubic,%d,1,8,8,%d,%d;", l.id, localIP, l.port, remoteIP, loadPort, mss, l.records, l.records)
	} else {
		l.flows += fmt.Sprintf("%s;%d-%s;%d,", localIP, l.port, remoteIP, loadPort)
	}
	l.records = 0
}

func (l *kernelLog) header(b []byte) []byte {
	b = fmt.Appendf(b, "enable_time_secs=%d\tenable_time_usecs=%06d\t", l.enabled.Unix(), l.enabled.Nanosecond()/1000)
	if l.hex {
		return append(b, "siftrver=2.5\trec_fmt=txt\tsysver=FreeBSD SIMULATED\n"...)
	}
	return append(b, "siftrver=1.3.0\tsysname=FreeBSD\tsysver=1500068\tipmode=4\n"...)
}

func (l *kernelLog) footer(b []byte) []byte {
	b = fmt.Appendf(b, "disable_time_secs=%d\tdisable_time_usecs=%06d\t", l.now.Unix(), l.now.Nanosecond()/1000)
	if l.hex {
		return fmt.Appendf(b, "global_flow_cnt=1\tring_drops=0\tmax_str_size=104\tgen_flowid_cnt=0\tflow_list=%s\n", l.flows)
	}
	return fmt.Appendf(b, "num_inbound_tcp_pkts=0\tnum_outbound_tcp_pkts=0\ttotal_tcp_pkts=0\tnum_inbound_skipped_pkts_malloc=0\t"+
		"num_outbound_skipped_pkts_malloc=0\tnum_inbound_skipped_pkts_tcpcb=0\tnum_outbound_skipped_pkts_tcpcb=0\t"+
		"num_inbound_skipped_pkts_inpcb=0\tnum_outbound_skipped_pkts_inpcb=0\ttotal_skipped_tcp_pkts=0\tflow_list=%s\n", l.flows)
}

// data writes the record of a data packet, ack that of an acknowledgement.
func (l *kernelLog) data(out *[]byte, s *state, payload int) { l.record(out, s, 'o', payload) }
func (l *kernelLog) ack(out *[]byte, s *state)               { l.record(out, s, 'i', 0) }

func (l *kernelLog) record(out *[]byte, s *state, dir byte, payload int) {
	l.records++
	flags := uint64(flagsNoTSO)
	if s.conn.tso {
		flags |= siftr.FlagTSO
	}
	cwnd := uint64(s.conn.cwnd) / mss * mss
	srtt := uint64(ticked(s.conn.srtt))
	flight := uint64(s.conn.inflight)
	if l.hex {
		*out = l.siftr2(*out, dir, cwnd, srtt, uint64(payload), flags, flight)
	} else {
		*out = l.stock(*out, dir, cwnd, srtt, flags, flight)
	}
}

// siftr2 writes a record of siftr2 2.5: flow id, direction, milliseconds since
// the enable, then cwnd, ssthresh, srtt, payload, the windows, the flags, rto, the
// buffers, inflight and the reassembly queue, all hexadecimal.
func (l *kernelLog) siftr2(b []byte, dir byte, cwnd, srtt, payload, flags, flight uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, digits[l.id>>shift&15])
	}
	b = append(b, ',', dir)
	for _, v := range [...]uint64{
		uint64(l.now.Sub(l.enabled).Milliseconds()), cwnd, siftr.SsthreshUnset, srtt, payload, rcvBuf, rcvBuf, flags, flags2, rto,
		sndBuf, flight, rcvBuf, 0, flight, 0,
	} {
		b = append(b, ',')
		b = strconv.AppendUint(b, v, 16)
	}
	return append(b, '\n')
}

// stock writes a record of siftr 1.3.0, all decimal: direction, time, addresses,
// ssthresh, cwnd, t_flags2, the windows and their scales, state, mss, srtt, sack,
// t_flags, rto, the buffers, inflight, reassembly queue, flow id and its type.
func (l *kernelLog) stock(b []byte, dir byte, cwnd, srtt, flags, flight uint64) []byte {
	b = append(b, dir)
	b = append(b, l.prefix...)
	for _, v := range [...]uint64{
		siftr.SsthreshUnset, cwnd, flags2, rcvBuf, rcvBuf, 8, 8, siftr.StateEstablished, mss, srtt, 1, flags, rto,
		sndBuf, flight, rcvBuf, 0, flight, 0, uint64(l.id), 63,
	} {
		b = append(b, ',')
		b = strconv.AppendUint(b, v, 10)
	}
	return append(b, '\n')
}
