package bsd

import (
	"fmt"
	"strconv"
	"strings"
)

// LinkState is ifi_link_state of struct if_data, net/if.h.
type LinkState uint8

// The link states.
const (
	LinkUnknown LinkState = 0 // the driver does not tell: taken for up
	LinkDown    LinkState = 1
	LinkUp      LinkState = 2
)

// Interface flags that matter here, net/if.h.
const (
	FlagUp      = 0x1  // IFF_UP: set by the administrator
	FlagRunning = 0x40 // IFF_DRV_RUNNING: the driver has its resources
)

const (
	ifDataLen  = 152 // sizeof(struct if_data), FreeBSD 11 to 15
	ifMIBLen   = 208 // sizeof(struct ifmibdata)
	ifMIBData  = 56  // offset of ifmd_data
	ifNameSize = 16  // IFNAMSIZ
)

// IfData are the counters and facts of struct if_data. Octets are as the driver
// counts them: em and igb count super-packets when segmentation is offloaded.
type IfData struct {
	LinkState            LinkState
	MTU                  int
	Baudrate             uint64 // bit/s
	RxPackets, TxPackets uint64
	RxErrors, TxErrors   uint64
	RxOctets, TxOctets   uint64
	RxDrops, TxDrops     uint64 // ifi_iqdrops, ifi_oqdrops
	Collisions           uint64
	HWAssist             uint64 // CSUM_* that are armed
	Epoch                uint64 // seconds of uptime when the interface was attached: another one is another interface
}

// IfMIB is the reply to net.link.generic.ifdata.INDEX.1 (IFDATA_GENERAL),
// struct ifmibdata of net/if_mib.h.
type IfMIB struct {
	Name  string // the interface's name now, also after a rename
	Flags uint32 // IFF_*
	Data  IfData
}

// Up is true when the interface is up and has a link, as far as the driver tells.
func (m IfMIB) Up() bool {
	return m.Flags&FlagUp != 0 && m.Flags&FlagRunning != 0 && m.Data.LinkState != LinkDown
}

// ParseIfMIB decodes struct ifmibdata.
func ParseIfMIB(b []byte) (IfMIB, error) {
	if len(b) != ifMIBLen {
		return IfMIB{}, fmt.Errorf("ifmibdata: %d bytes, want %d: %w", len(b), ifMIBLen, ErrFormat)
	}
	data, err := parseIfData(b[ifMIBData:])
	if err != nil {
		return IfMIB{}, fmt.Errorf("ifmibdata: %w", err)
	}
	return IfMIB{Name: cString(b[:ifNameSize]), Flags: order.Uint32(b[20:]), Data: data}, nil
}

// parseIfData decodes struct if_data, which tells its own length.
func parseIfData(b []byte) (IfData, error) {
	if len(b) < ifDataLen {
		return IfData{}, fmt.Errorf("if_data: %d bytes, want %d: %w", len(b), ifDataLen, ErrFormat)
	}
	if n := order.Uint16(b[6:]); n != ifDataLen {
		return IfData{}, fmt.Errorf("if_data: ifi_datalen %d, want %d: %w", n, ifDataLen, ErrFormat)
	}
	u64 := func(at int) uint64 { return order.Uint64(b[at:]) }
	return IfData{
		LinkState: LinkState(b[4]),
		MTU:       int(order.Uint32(b[8:])),
		Baudrate:  u64(16),
		RxPackets: u64(24), RxErrors: u64(32),
		TxPackets: u64(40), TxErrors: u64(48),
		Collisions: u64(56),
		RxOctets:   u64(64), TxOctets: u64(72),
		RxDrops: u64(96), TxDrops: u64(104),
		HWAssist: u64(120),
		Epoch:    u64(128),
	}, nil
}

// ParseDriverName decodes the reply to net.link.generic.ifdata.INDEX.3
// (IFDATA_DRIVERNAME), the driver's own name of an interface, "em4", which stays when
// the interface is renamed. ok is false for one without a number.
func ParseDriverName(b []byte) (driver string, unit int, ok bool) {
	name := cString(b)
	driver = strings.TrimRight(name, "0123456789")
	unit, err := strconv.Atoi(name[len(driver):])
	return driver, unit, err == nil && driver != ""
}
