package linux

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Types of rtnetlink messages, linux/rtnetlink.h.
const (
	TypeNewLink = 16 // RTM_NEWLINK
	TypeDelLink = 17 // RTM_DELLINK
	typeGetLink = 18 // RTM_GETLINK
)

// Attributes of a link, linux/if_link.h.
const (
	iflaIfname  = 3
	iflaMTU     = 4
	iflaLink    = 5
	iflaMaster  = 10
	iflaInfo    = 18
	iflaStats64 = 23

	infoKind = 1 // IFLA_INFO_KIND, inside IFLA_LINKINFO
	infoData = 2 // IFLA_INFO_DATA
	vlanID   = 1 // IFLA_VLAN_ID, inside that of a vlan
)

const (
	ifinfomsgLen = 16
	iffUp        = 0x1
	iffRunning   = 0x40
)

// A Link is one RTM_NEWLINK message.
type Link struct {
	Index    int
	Name     string
	Flags    uint32 // IFF_* of linux/if.h
	MTU      int
	Kind     string // "vlan", "bond", "bridge", "veth", …; "" for hardware
	Lower    int    // index of the link it lies on (a vlan's), 0 for none
	Master   int    // index of the bond or bridge it is a member of, 0 for none
	VLAN     int    // tag of a vlan
	Stats    LinkStats
	HasStats bool // false where the message carries no IFLA_STATS64 (link events)
}

// Up is true when the interface is up and can pass packets (IFF_UP and
// IFF_RUNNING: operational state up, or unknown as for lo and tun).
func (l Link) Up() bool { return l.Flags&iffUp != 0 && l.Flags&iffRunning != 0 }

// LinkStats are the counters of struct rtnl_link_stats64 that netwatch shows.
// Octets are those of the frames without FCS as the stack handed them over:
// with segmentation offload a super-packet counts once, with one header.
type LinkStats struct {
	RxPackets, TxPackets uint64
	RxOctets, TxOctets   uint64
	RxErrors, TxErrors   uint64
	RxDropped, TxDropped uint64
	RxMissed             uint64 // rx_missed_errors: the card had no room
}

// LinkRequest asks for one link by name, into dst.
func LinkRequest(dst []byte, seq uint32, name string) []byte {
	b := request(dst, typeGetLink, flagRequest, seq)
	b = append(b, make([]byte, ifinfomsgLen)...)
	b = binary.NativeEndian.AppendUint16(b, uint16(attrLen+len(name)+1))
	b = binary.NativeEndian.AppendUint16(b, iflaIfname)
	b = append(append(b, name...), 0)
	b = append(b, make([]byte, align(len(b))-len(b))...)
	return finish(b)
}

// LinksRequest asks for all links, into dst.
func LinksRequest(dst []byte, seq uint32) []byte {
	b := request(dst, typeGetLink, flagRequest|flagDump, seq)
	return finish(append(b, make([]byte, ifinfomsgLen)...))
}

// ParseLink decodes an RTM_NEWLINK or RTM_DELLINK message.
func ParseLink(m Message) (Link, error) {
	if m.Type != TypeNewLink && m.Type != TypeDelLink {
		return Link{}, fmt.Errorf("rtnetlink: message type %d is no link: %w", m.Type, ErrFormat)
	}
	if len(m.Data) < ifinfomsgLen {
		return Link{}, fmt.Errorf("rtnetlink: link of %d bytes: %w", len(m.Data), ErrFormat)
	}
	l := Link{
		Index: int(int32(binary.NativeEndian.Uint32(m.Data[4:]))),
		Flags: binary.NativeEndian.Uint32(m.Data[8:]),
	}
	for rest := m.Data[ifinfomsgLen:]; len(rest) > 0; {
		var kind uint16
		var value []byte
		var err error
		if kind, value, rest, err = nextAttr(rest); err != nil {
			return Link{}, fmt.Errorf("rtnetlink: link %d: %w", l.Index, err)
		}
		switch kind {
		case iflaIfname:
			l.Name = cString(value)
		case iflaMTU:
			if len(value) >= 4 {
				l.MTU = int(binary.NativeEndian.Uint32(value))
			}
		case iflaLink:
			l.Lower = index(value)
		case iflaMaster:
			l.Master = index(value)
		case iflaInfo:
			if err := l.info(value); err != nil {
				return Link{}, fmt.Errorf("rtnetlink: link %d: %w", l.Index, err)
			}
		case iflaStats64:
			if l.Stats, err = parseLinkStats(value); err != nil {
				return Link{}, fmt.Errorf("rtnetlink: link %d: %w", l.Index, err)
			}
			l.HasStats = true
		}
	}
	return l, nil
}

// info reads IFLA_LINKINFO.
func (l *Link) info(b []byte) error {
	for rest := b; len(rest) > 0; {
		kind, value, after, err := nextAttr(rest)
		if err != nil {
			return err
		}
		rest = after
		switch {
		case kind == infoKind:
			l.Kind = cString(value)
		case kind == infoData && l.Kind == "vlan":
			for data := value; len(data) > 0; {
				var tag []byte
				if kind, tag, data, err = nextAttr(data); err != nil {
					return err
				}
				if kind == vlanID && len(tag) >= 2 {
					l.VLAN = int(binary.NativeEndian.Uint16(tag))
				}
			}
		}
	}
	return nil
}

func index(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(int32(binary.NativeEndian.Uint32(b)))
}

// parseLinkStats reads struct rtnl_link_stats64: 23 counters in Linux 2.6.35,
// more at the end since.
func parseLinkStats(b []byte) (LinkStats, error) {
	const fields = 23
	if len(b) < fields*8 {
		return LinkStats{}, fmt.Errorf("IFLA_STATS64 has %d bytes, want %d: %w", len(b), fields*8, ErrFormat)
	}
	at := func(i int) uint64 { return binary.NativeEndian.Uint64(b[i*8:]) }
	return LinkStats{
		RxPackets: at(0), TxPackets: at(1),
		RxOctets: at(2), TxOctets: at(3),
		RxErrors: at(4), TxErrors: at(5),
		RxDropped: at(6), TxDropped: at(7),
		RxMissed: at(15),
	}, nil
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
