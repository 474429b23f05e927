package siftr

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// The functions here write what the kernel writes, for tests, benchmarks and the
// simulated testbed.

// AppendHeader25 appends the header line of siftr2 2.5: Time, Binary and System
// of h.
func AppendHeader25(dst []byte, h *Header) []byte {
	dst = appendClock(dst, "enable", h.Time)
	dst = append(dst, "\tsiftrver=2.5\trec_fmt="...)
	if h.Binary {
		dst = append(dst, "binary"...)
	} else {
		dst = append(dst, "txt"...)
	}
	dst = append(dst, "\tsysver="...)
	dst = append(dst, h.System...)
	return append(dst, '\n')
}

// AppendRecord25 appends a text record of siftr2 2.5; enable is the Time of the
// header.
func AppendRecord25(dst []byte, r *Record, enable int64) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[r.Flow.ID>>shift&15])
	}
	dst = append(dst, ',', r.Dir.String()[0])
	for _, v := range numbers25(r, enable) {
		dst = append(dst, ',')
		dst = strconv.AppendUint(dst, uint64(v), 16)
	}
	return append(dst, '\n')
}

// AppendBinary25 appends the same as a binary record.
func AppendBinary25(dst []byte, r *Record, enable int64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, r.Flow.ID)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Dir))
	for _, v := range numbers25(r, enable) {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// numbers25 are the numbers of a record in the order that emitHex reads them.
func numbers25(r *Record, enable int64) [hexNumbers]uint32 {
	return [hexNumbers]uint32{
		uint32((r.Time - enable) / 1000), r.Cwnd, r.Ssthresh, uint32(r.SRTT), r.Payload, r.Wnd.Snd, r.Wnd.Rcv,
		r.Flags, r.Flags2, uint32(r.RTO), r.SndBuf.Limit, r.SndBuf.Used, r.RcvBuf.Limit, r.RcvBuf.Used,
		r.Inflight, uint32(r.Reass),
	}
}

// AppendFooter25 appends the footer of siftr2 2.5: Footer, Flows and Binary of c.
// The names and counts of a flow are those of its Entry.
func AppendFooter25(dst []byte, c *Cycle) []byte {
	size := "\tmax_str_size=155"
	if c.Binary {
		dst = append(dst, '\n')
		size = "\trecord_size=72"
	}
	dst = appendClock(dst, "disable", c.Footer.Time)
	dst = appendPair(dst, "global_flow_cnt", int64(len(c.Flows)))
	dst = appendPair(dst, "ring_drops", max(0, c.Footer.RingDrops))
	dst = append(dst, size...)
	dst = appendPair(dst, "gen_flowid_cnt", max(0, c.Footer.GeneratedIDs))
	dst = append(dst, "\tflow_list="...)
	for _, f := range c.Flows {
		dst = appendFlow25(dst, f)
	}
	return append(dst, '\n')
}

func appendFlow25(dst []byte, f *Flow) []byte {
	e := &f.Entry
	version := uint64(4)
	if f.Local.Addr().Is6() {
		version = 6
	}
	dst = append(dst, strconv.FormatUint(1<<32|uint64(f.ID), 16)[1:]...)
	dst = appendNumber(dst, version)
	dst = appendEnds(dst, f)
	dst = append(append(dst, ','), e.Stack...)
	dst = append(append(dst, ','), e.CC...)
	dst = appendNumber(dst, uint64(f.MSS))
	dst = appendNumber(dst, flag(e.SACK))
	dst = appendNumber(dst, uint64(e.SndScale))
	dst = appendNumber(dst, uint64(e.RcvScale))
	dst = appendNumber(dst, uint64(e.Records))
	dst = appendNumber(dst, uint64(e.Packets))
	return append(dst, ';')
}

// AppendHeader130 appends the header line of siftr 1.3.0: Time, System and IPv6 of h.
func AppendHeader130(dst []byte, h *Header) []byte {
	dst = appendClock(dst, "enable", h.Time)
	dst = append(dst, "\tsiftrver=1.3.0\tsysname=FreeBSD\tsysver="...)
	dst = append(dst, h.System...)
	if h.IPv6 {
		return append(dst, "\tipmode=6\n"...)
	}
	return append(dst, "\tipmode=4\n"...)
}

// AppendRecord130 appends a record of siftr 1.3.0.
func AppendRecord130(dst []byte, r *Record) []byte {
	const softwareHash = 63 // M_HASHTYPE_OPAQUE with hash, what a card without RSS gets
	f := r.Flow
	dst = append(dst, r.Dir.String()[0], ',')
	dst = strconv.AppendInt(dst, r.Time/1e6, 10)
	dst = append(dst, '.')
	dst = append(dst, strconv.FormatInt(1e6+r.Time%1e6, 10)[1:]...)
	dst = appendEnds(dst, f)
	for _, v := range [...]uint32{
		r.Ssthresh, r.Cwnd, r.Flags2, r.Wnd.Snd, r.Wnd.Rcv, uint32(f.Entry.SndScale), uint32(f.Entry.RcvScale),
		uint32(r.State), r.MSS, uint32(r.SRTT), uint32(flag(f.Entry.SACK)), r.Flags, uint32(r.RTO),
		r.SndBuf.Limit, r.SndBuf.Used, r.RcvBuf.Limit, r.RcvBuf.Used, r.Inflight, uint32(r.Reass), f.ID, softwareHash,
	} {
		dst = appendNumber(dst, uint64(v))
	}
	return append(dst, '\n')
}

// AppendFooter130 appends the footer of siftr 1.3.0: Footer and Flows of c.
func AppendFooter130(dst []byte, c *Cycle) []byte {
	f := &c.Footer
	dst = appendClock(dst, "disable", f.Time)
	dst = appendPair(dst, "num_inbound_tcp_pkts", f.InPackets)
	dst = appendPair(dst, "num_outbound_tcp_pkts", f.OutPackets)
	dst = appendPair(dst, "total_tcp_pkts", f.InPackets+f.OutPackets)
	for _, why := range []string{"malloc", "tcpcb", "inpcb"} {
		for _, dir := range []string{"in", "out"} {
			n := int64(0)
			if why == "tcpcb" && dir == "in" {
				n = max(0, f.Skipped)
			}
			dst = appendPair(dst, "num_"+dir+"bound_skipped_pkts_"+why, n)
		}
	}
	dst = appendPair(dst, "total_skipped_tcp_pkts", max(0, f.Skipped))
	dst = append(dst, "\tflow_list="...)
	for _, flow := range c.Flows {
		dst = appendEnd(dst, flow.Local, ';')
		dst = appendEnd(append(dst, '-'), flow.Remote, ';')
		dst = append(dst, ',')
	}
	return append(dst, '\n')
}

func appendClock(dst []byte, what string, micros int64) []byte {
	dst = append(append(dst, what...), "_time_secs="...)
	dst = strconv.AppendInt(dst, micros/1e6, 10)
	dst = append(append(append(dst, '\t'), what...), "_time_usecs="...)
	return append(dst, strconv.FormatInt(1e6+micros%1e6, 10)[1:]...)
}

func appendPair(dst []byte, key string, v int64) []byte {
	dst = append(append(append(dst, '\t'), key...), '=')
	return strconv.AppendInt(dst, v, 10)
}

func appendNumber(dst []byte, v uint64) []byte {
	return strconv.AppendUint(append(dst, ','), v, 10)
}

// appendEnds appends `,laddr,lport,faddr,fport`.
func appendEnds(dst []byte, f *Flow) []byte {
	dst = appendEnd(append(dst, ','), f.Local, ',')
	return appendEnd(append(dst, ','), f.Remote, ',')
}

func appendEnd(dst []byte, a netip.AddrPort, sep byte) []byte {
	dst = append(a.Addr().AppendTo(dst), sep)
	return strconv.AppendUint(dst, uint64(a.Port()), 10)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
