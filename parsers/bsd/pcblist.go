package bsd

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// TCPState is t_state, netinet/tcp_fsm.h.
type TCPState int32

// The states.
const (
	StateClosed TCPState = iota
	StateListen
	StateSynSent
	StateSynReceived
	StateEstablished
	StateCloseWait
	StateFinWait1
	StateClosing
	StateLastAck
	StateFinWait2
	StateTimeWait
)

// Moving is true in the states in which data may still be sent or acknowledged.
func (s TCPState) Moving() bool { return s >= StateEstablished && s <= StateFinWait2 }

const (
	xinpgenLen = 64
	// xtcpcbLen is sizeof(struct xtcpcb) of FreeBSD 13 to 15 on 64-bit machines. The same
	// length had spare words in the place of cwnd, ssthresh and mss before; a zero
	// maxseg tells.
	xtcpcbLen = 744
)

// A PCB is one TCP connection of net.inet.tcp.pcblist.
type PCB struct {
	Local, Remote netip.AddrPort // IPv4 for connections over IPv4, also on an IPv6 socket
	State         TCPState
	Stack, CC     string
	FlowID        uint32 // as the card or the kernel gave it; 0 where it gave none
	FlowType      uint8  // 0: none
	SendQueue     uint32 // bytes in the send buffer
	Gen           uint64 // never used again for another connection
	RexmitPackets uint32 // segments sent again in the life of the connection

	Cwnd, Ssthresh uint32 // bytes
	MaxSeg         uint32 // bytes, with room for TCP options; 0: this kernel tells none of the three
}

// AppendPCBs decodes net.inet.tcp.pcblist into dst: a struct xinpgen, the
// connections, a struct xinpgen. All fields are read at the offsets of struct
// xtcpcb (netinet/tcp_var.h) of that length; another length is refused.
func AppendPCBs(dst []PCB, b []byte) ([]PCB, error) {
	head, rest, err := record(b)
	if err != nil || len(head) != xinpgenLen {
		return dst, fmt.Errorf("pcblist: head of %d bytes, want %d: %w", len(head), xinpgenLen, ErrFormat)
	}
	for n := 1; len(rest) > 0; n++ {
		var entry []byte
		if entry, rest, err = record(rest); err != nil {
			return dst, fmt.Errorf("pcblist: entry %d: %w", n, err)
		}
		switch len(entry) {
		case xinpgenLen:
			return dst, nil
		case xtcpcbLen:
			dst = append(dst, parsePCB(entry))
		default:
			return dst, fmt.Errorf("pcblist: entry %d has %d bytes, want %d: %w", n, len(entry), xtcpcbLen, ErrFormat)
		}
	}
	return dst, fmt.Errorf("pcblist: no trailer: %w", ErrFormat)
}

// record cuts off a structure that begins with its own 64-bit length.
func record(b []byte) (entry, rest []byte, err error) {
	if len(b) < 8 {
		return nil, nil, fmt.Errorf("%d bytes left: %w", len(b), ErrFormat)
	}
	n := order.Uint64(b)
	if n < 8 || n > uint64(len(b)) {
		return nil, nil, fmt.Errorf("length %d of %d bytes: %w", n, len(b), ErrFormat)
	}
	return b[:n], b[n:], nil
}

func parsePCB(b []byte) PCB {
	u32 := func(at int) uint32 { return order.Uint32(b[at:]) }
	v4 := b[400]&3 == 1 // inp_vflag: INP_IPV4 without INP_IPV6; a listener for both has both
	return PCB{
		Local:         address(v4, b[280:296], b[262:]),
		Remote:        address(v4, b[264:280], b[260:]),
		State:         TCPState(u32(568)),
		Stack:         cString(b[408:440]),
		CC:            cString(b[504:520]),
		FlowID:        u32(356),
		FlowType:      uint8(u32(360)),
		SendQueue:     u32(220),
		Gen:           order.Uint64(b[304:]),
		RexmitPackets: u32(580),
		Cwnd:          u32(616),
		Ssthresh:      u32(620),
		MaxSeg:        u32(624),
	}
}

// address reads a union in_dependaddr (IPv4 in the last four of 16 bytes) and a
// port in network order.
func address(v4 bool, addr, port []byte) netip.AddrPort {
	p := binary.BigEndian.Uint16(port)
	if v4 {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr[12:16])), p)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(addr)), p)
}
