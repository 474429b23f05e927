package testbed

import (
	"net/netip"
	"time"

	"netwatch/parsers/siftr"
)

// Values that the simulated records carry without meaning for netwatch: flags,
// windows, buffers.
const (
	flagsNoTSO = 0x3e1
	flags2     = 0x2
	sndBuf     = 1 << 21
	rcvBuf     = 1 << 16
	rto        = 230_000 // microseconds
	winScale   = 8
)

// A kernelLog is the file that siftr or siftr2 writes while it is switched on.
type kernelLog struct {
	hex   bool // siftr2, else stock siftr
	on    bool
	cycle siftr.Cycle
	rec   siftr.Record
	port  int
}

// follow switches the log on or off as the knob says, and gives a new connection
// its place in the footer.
func (l *kernelLog) follow(on bool, now time.Time, s *state, out *[]byte) {
	switch {
	case on && !l.on:
		*l = kernelLog{hex: l.hex, on: true}
		l.cycle.Header = siftr.Header{Time: now.UnixMicro(), System: "1500068 SIMULATED"}
		if l.hex {
			*out = siftr.AppendHeader25(*out, &l.cycle.Header)
		} else {
			*out = siftr.AppendHeader130(*out, &l.cycle.Header)
		}
	case !on && l.on:
		l.on = false
		l.cycle.Footer.Time = now.UnixMicro()
		if l.hex {
			*out = siftr.AppendFooter25(*out, &l.cycle)
		} else {
			*out = siftr.AppendFooter130(*out, &l.cycle)
		}
	}
	if !l.on || !s.loaded() {
		return
	}
	if l.port != s.conn.port {
		l.connect(s.conn.port)
	}
	l.fill(now, s)
}

// connect begins a connection in the log.
func (l *kernelLog) connect(port int) {
	l.port = port
	f := &siftr.Flow{
		Local:  netip.AddrPortFrom(netip.MustParseAddr(localIP), uint16(port)),
		Remote: netip.AddrPortFrom(netip.MustParseAddr(remoteIP), loadPort),
		MSS:    mss,
		Entry:  siftr.FlowEntry{Stack: "freebsd", CC: "cubic", SACK: true, SndScale: winScale, RcvScale: winScale},
	}
	f.ID = siftr.FlowID(f.Local, f.Remote)
	l.cycle.Flows = append(l.cycle.Flows, f)
	l.rec = siftr.Record{
		Flow: f, State: siftr.StateEstablished, Ssthresh: siftr.SsthreshUnset, MSS: mss, RTO: rto, Flags2: flags2,
		Wnd: siftr.Window{Snd: rcvBuf, Rcv: rcvBuf}, RcvBuf: siftr.Buffer{Limit: rcvBuf},
	}
}

// fill takes over what all records of this moment say of the connection.
func (l *kernelLog) fill(now time.Time, s *state) {
	r := &l.rec
	r.Time = now.UnixMicro()
	r.Flags = flagsNoTSO
	if s.conn.tso {
		r.Flags |= siftr.FlagTSO
	}
	r.Cwnd = uint32(s.conn.cwnd) / mss * mss
	r.SRTT = ticked(s.conn.srtt)
	r.Inflight = uint32(s.conn.inflight)
	r.SndBuf = siftr.Buffer{Limit: sndBuf, Used: r.Inflight}
}

// packet writes the record of a data packet going out, or with no payload of an
// acknowledgement that came in.
func (l *kernelLog) packet(out *[]byte, payload int) {
	r := &l.rec
	r.Dir, r.Payload = siftr.Out, uint32(payload)
	if payload == 0 {
		r.Dir = siftr.In
		l.cycle.Footer.InPackets++
	} else {
		l.cycle.Footer.OutPackets++
	}
	r.Flow.Entry.Records++
	r.Flow.Entry.Packets++
	if l.hex {
		*out = siftr.AppendRecord25(*out, r, l.cycle.Header.Time)
	} else {
		*out = siftr.AppendRecord130(*out, r)
	}
}
