package linux

import (
	"encoding/binary"
	"fmt"
)

// Netlink message types of linux/netlink.h that every protocol shares.
const (
	TypeError = 2 // NLMSG_ERROR: Errno tells which; 0 is an acknowledgement
	TypeDone  = 3 // NLMSG_DONE: the end of a dump
)

// Netlink request flags of linux/netlink.h.
const (
	flagRequest = 0x1
	flagDump    = 0x300
)

const (
	headerLen = 16 // struct nlmsghdr
	attrLen   = 4  // struct nlattr
	attrMask  = 0x3fff
)

// A Message is one netlink message without its header. Data points into the
// buffer it was cut from.
type Message struct {
	Type uint16
	Seq  uint32
	Data []byte
}

// NextMessage cuts the first message off b and returns what follows it.
func NextMessage(b []byte) (m Message, rest []byte, err error) {
	if len(b) < headerLen {
		return Message{}, nil, fmt.Errorf("netlink: %d bytes left, a header has %d: %w", len(b), headerLen, ErrFormat)
	}
	n := int(binary.NativeEndian.Uint32(b))
	if n < headerLen || n > len(b) {
		return Message{}, nil, fmt.Errorf("netlink: message length %d of %d bytes: %w", n, len(b), ErrFormat)
	}
	m = Message{
		Type: binary.NativeEndian.Uint16(b[4:]),
		Seq:  binary.NativeEndian.Uint32(b[8:]),
		Data: b[headerLen:n],
	}
	return m, b[min(align(n), len(b)):], nil
}

// Errno is the error number in a message of TypeError (0 for an
// acknowledgement); ok is false for any other message and for a DONE without one.
func (m Message) Errno() (errno int, ok bool) {
	if (m.Type != TypeError && m.Type != TypeDone) || len(m.Data) < 4 {
		return 0, false
	}
	return -int(int32(binary.NativeEndian.Uint32(m.Data))), true
}

// nextAttr cuts the first attribute off b. The two high bits of a type are
// flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER) and are taken away.
func nextAttr(b []byte) (kind uint16, value, rest []byte, err error) {
	if len(b) < attrLen {
		return 0, nil, nil, fmt.Errorf("netlink: %d bytes left, an attribute has at least %d: %w", len(b), attrLen, ErrFormat)
	}
	n := int(binary.NativeEndian.Uint16(b))
	if n < attrLen || n > len(b) {
		return 0, nil, nil, fmt.Errorf("netlink: attribute length %d of %d bytes: %w", n, len(b), ErrFormat)
	}
	return binary.NativeEndian.Uint16(b[2:]) & attrMask, b[attrLen:n], b[min(align(n), len(b)):], nil
}

// request starts a netlink request whose length finish fills in.
func request(dst []byte, kind, flags uint16, seq uint32) []byte {
	dst = append(dst[:0], make([]byte, headerLen)...)
	binary.NativeEndian.PutUint16(dst[4:], kind)
	binary.NativeEndian.PutUint16(dst[6:], flags)
	binary.NativeEndian.PutUint32(dst[8:], seq)
	return dst
}

func finish(b []byte) []byte {
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	return b
}

func align(n int) int { return (n + 3) &^ 3 }
