package linux

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

const (
	typeTCPDiag  = 18 // TCPDIAG_GETSOCK, linux/inet_diag.h
	typeSockDiag = 20 // SOCK_DIAG_BY_FAMILY, linux/sock_diag.h
)

// Address families and the protocol number as the kernel counts them.
const (
	FamilyIPv4  = 2
	FamilyIPv6  = 10
	protocolTCP = 6
)

// Attributes of an answer, linux/inet_diag.h, and the bits that ask for them.
const (
	diagInfo = 2 // INET_DIAG_INFO: struct tcp_info
	diagCong = 4 // INET_DIAG_CONG: name of the congestion control
	diagWant = 1<<(diagInfo-1) | 1<<(diagCong-1)
)

// States of a connection, net/tcp_states.h.
const (
	StateEstablished = 1
	StateFinWait1    = 4
	StateFinWait2    = 5
	StateCloseWait   = 8
	StateLastAck     = 9
	StateClosing     = 11
)

// openStates are the states in which data may still move.
const openStates = 1<<StateEstablished | 1<<StateFinWait1 | 1<<StateFinWait2 | 1<<StateCloseWait | 1<<StateLastAck | 1<<StateClosing

const (
	sockIDLen  = 48 // struct inet_diag_sockid
	diagMsgLen = 72 // struct inet_diag_msg
	sockIDAt   = 4  // the id's place in struct inet_diag_msg
)

// A SockID is the kernel's own handle of a socket, opaque but for the
// addresses: it names one socket for good, also when the ports are used again.
type SockID [sockIDLen]byte

// A Socket is one TCP connection as INET_DIAG gives it. IPv4 addresses mapped
// into IPv6 are given as IPv4.
type Socket struct {
	ID            SockID
	Family        uint8 // FamilyIPv4 or FamilyIPv6, as an exact request wants it
	State         uint8
	Local, Remote netip.AddrPort
	SendQueue     uint32 // bytes written and not yet acknowledged
	CC            string // congestion control, "" if not told
	Info          TCPInfo
	HasInfo       bool // false for sockets that carry no tcp_info (TIME_WAIT, SYN_RECV)
}

// DiagDump asks for all connections of a family that may still move data, into dst.
func DiagDump(dst []byte, seq uint32, family uint8) []byte {
	return diagRequest(dst, seq, flagRequest|flagDump, family, openStates, SockID{})
}

// DiagDumpAll asks for the connections of both families at once, into dst. It is
// the request of Linux 2.6 (struct inet_diag_req): the newer one takes a family
// and walks the whole table of connections for each.
func DiagDumpAll(dst []byte, seq uint32) []byte {
	b := request(dst, typeTCPDiag, flagRequest|flagDump, seq)
	b = append(b, 0, 0, 0, diagWant)
	b = append(b, make([]byte, sockIDLen)...)
	b = binary.NativeEndian.AppendUint32(b, openStates)
	return finish(binary.NativeEndian.AppendUint32(b, 0))
}

// DiagExact asks for the one socket with this id, into dst.
func DiagExact(dst []byte, seq uint32, family uint8, id SockID) []byte {
	return diagRequest(dst, seq, flagRequest, family, ^uint32(0), id)
}

// diagRequest builds struct inet_diag_req_v2.
func diagRequest(dst []byte, seq uint32, flags uint16, family uint8, states uint32, id SockID) []byte {
	b := request(dst, typeSockDiag, flags, seq)
	b = append(b, family, protocolTCP, diagWant, 0)
	b = binary.NativeEndian.AppendUint32(b, states)
	return finish(append(b, id[:]...))
}

// ParseSocket decodes one answer of INET_DIAG.
// known is a name the congestion control is likely to have: it saves a string
// per call when it is right, and may be empty.
func ParseSocket(m Message, known string) (Socket, error) {
	if m.Type != typeSockDiag && m.Type != typeTCPDiag {
		return Socket{}, fmt.Errorf("inet_diag: message type %d: %w", m.Type, ErrFormat)
	}
	if len(m.Data) < diagMsgLen {
		return Socket{}, fmt.Errorf("inet_diag: answer of %d bytes, want %d: %w", len(m.Data), diagMsgLen, ErrFormat)
	}
	s := Socket{Family: m.Data[0], State: m.Data[1], SendQueue: binary.NativeEndian.Uint32(m.Data[60:])}
	copy(s.ID[:], m.Data[sockIDAt:])
	var err error
	if s.Local, s.Remote, err = sockAddrs(s.Family, s.ID); err != nil {
		return Socket{}, err
	}
	for rest := m.Data[diagMsgLen:]; len(rest) > 0; {
		var kind uint16
		var value []byte
		if kind, value, rest, err = nextAttr(rest); err != nil {
			return Socket{}, fmt.Errorf("inet_diag: %w", err)
		}
		switch kind {
		case diagInfo:
			if s.Info, err = parseTCPInfo(value); err != nil {
				return Socket{}, err
			}
			s.HasInfo = true
		case diagCong:
			s.CC = known
			if name := trimNul(value); string(name) != known {
				s.CC = string(name)
			}
		}
	}
	return s, nil
}

// sockAddrs reads the addresses of struct inet_diag_sockid; ports and addresses
// are in network order.
func sockAddrs(family uint8, id SockID) (local, remote netip.AddrPort, err error) {
	lport, rport := binary.BigEndian.Uint16(id[0:]), binary.BigEndian.Uint16(id[2:])
	switch family {
	case FamilyIPv4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(id[4:8])), lport),
			netip.AddrPortFrom(netip.AddrFrom4([4]byte(id[20:24])), rport), nil
	case FamilyIPv6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(id[4:20])).Unmap(), lport),
			netip.AddrPortFrom(netip.AddrFrom16([16]byte(id[20:36])).Unmap(), rport), nil
	}
	return local, remote, fmt.Errorf("inet_diag: address family %d: %w", family, ErrFormat)
}

func trimNul(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}
