package bsd

import "fmt"

// TypeIfInfo is RTM_IFINFO of net/route.h: link state or flags of an interface changed.
const TypeIfInfo = 0x0e

// rtmVersion is RTM_VERSION; another one has other layouts.
const rtmVersion = 5

// ifMsgData is the offset of ifm_data in struct if_msghdr.
const ifMsgData = 16

// A RouteMessage is one message of the route socket. Data holds the whole message
// with its header and points into the buffer it was cut from.
type RouteMessage struct {
	Type uint8
	Data []byte
}

// NextRouteMessage cuts the first message off b and returns what follows it.
func NextRouteMessage(b []byte) (m RouteMessage, rest []byte, err error) {
	if len(b) < 4 {
		return m, nil, fmt.Errorf("route message: %d bytes: %w", len(b), ErrFormat)
	}
	n := int(order.Uint16(b))
	if n < 4 || n > len(b) {
		return m, nil, fmt.Errorf("route message: length %d of %d bytes: %w", n, len(b), ErrFormat)
	}
	if b[2] != rtmVersion {
		return m, nil, fmt.Errorf("route message: version %d, want %d: %w", b[2], rtmVersion, ErrFormat)
	}
	return RouteMessage{Type: b[3], Data: b[:n]}, b[n:], nil
}

// IfInfo is an RTM_IFINFO message, struct if_msghdr of net/if.h.
type IfInfo struct {
	Index int
	Flags uint32 // IFF_*
	Data  IfData
}

// Up is true when the interface is up and has a link, as far as the driver tells.
func (i IfInfo) Up() bool { return IfMIB{Flags: i.Flags, Data: i.Data}.Up() }

// ParseIfInfo decodes an RTM_IFINFO message.
func ParseIfInfo(m RouteMessage) (IfInfo, error) {
	if m.Type != TypeIfInfo || len(m.Data) < ifMsgData {
		return IfInfo{}, fmt.Errorf("RTM_IFINFO: type %#x, %d bytes: %w", m.Type, len(m.Data), ErrFormat)
	}
	data, err := parseIfData(m.Data[ifMsgData:])
	if err != nil {
		return IfInfo{}, fmt.Errorf("RTM_IFINFO: %w", err)
	}
	return IfInfo{Index: int(order.Uint16(m.Data[12:])), Flags: order.Uint32(m.Data[8:]), Data: data}, nil
}
