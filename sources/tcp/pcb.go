package tcp

import (
	"encoding/binary"
	"fmt"

	"netwatch/parsers/bsd"
	"netwatch/parsers/siftr"
)

// fromPCB makes a socket of an entry of FreeBSD's pcblist. It stands apart from the
// call so that it is tested on any system.
func fromPCB(p bsd.PCB) socket {
	s := socket{local: p.Local, remote: p.Remote, stack: p.Stack, cc: p.CC, mss: int(p.MaxSeg),
		queue: p.SendQueue, retrans: uint64(p.RexmitPackets)}
	s.key, s.logID = pcbKey(p), logID(p)
	if p.MaxSeg > 0 {
		s.knows = knowsCwnd
		s.cwnd = float64(p.Cwnd)
		if p.Ssthresh < ssthreshUnset {
			s.ssthresh = float64(p.Ssthresh)
		}
	}
	return s
}

// logID is the id that a siftr2 log gives the connection: the kernel's own where
// the connection has one, else the hash of the addresses.
func logID(p bsd.PCB) string {
	id := p.FlowID
	if id == 0 {
		id = siftr.FlowID(p.Local, p.Remote)
	}
	return fmt.Sprintf("%08x", id)
}

// ssthreshUnset is TCP_MAXWIN << TCP_MAX_WINSHIFT of netinet/tcp.h: what ssthresh
// is before the first loss.
const ssthreshUnset = 65535 << 14

// pcbKey is the addresses and the generation of a connection.
func pcbKey(p bsd.PCB) (k key) {
	l, r := p.Local.Addr().As16(), p.Remote.Addr().As16()
	copy(k[0:], l[:])
	copy(k[16:], r[:])
	binary.LittleEndian.PutUint16(k[32:], p.Local.Port())
	binary.LittleEndian.PutUint16(k[34:], p.Remote.Port())
	binary.LittleEndian.PutUint64(k[36:], p.Gen)
	return k
}
