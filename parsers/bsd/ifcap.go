package bsd

import (
	"fmt"
	"strings"
)

// Caps are the capabilities of an interface, IFCAP_* of net/if.h.
type Caps uint32

// The capabilities that are turned by name.
const (
	CapRxCsum  Caps = 1 << 0
	CapTxCsum  Caps = 1 << 1
	CapTSO4    Caps = 1 << 8
	CapTSO6    Caps = 1 << 9
	CapLRO     Caps = 1 << 10
	CapRxCsum6 Caps = 1 << 21
	CapTxCsum6 Caps = 1 << 22
)

// capNames are in the order of the bits; a gap has no name.
var capNames = [32]string{
	"RXCSUM", "TXCSUM", "NETCONS", "VLAN_MTU", "VLAN_HWTAGGING", "JUMBO_MTU", "POLLING", "VLAN_HWCSUM",
	"TSO4", "TSO6", "LRO", "WOL_UCAST", "WOL_MCAST", "WOL_MAGIC", "TOE4", "TOE6",
	"VLAN_HWFILTER", "NV", "VLAN_HWTSO", "LINKSTATE", "NETMAP", "RXCSUM_IPV6", "TXCSUM_IPV6", "HWSTATS",
	"TXRTLMT", "HWRXTSTMP", "MEXTPG", "TXTLS4", "TXTLS6", "VXLAN_HWCSUM", "VXLAN_HWTSO", "TXTLS_RTLMT",
}

// String lists the names, joined by commas.
func (c Caps) String() string {
	var names []string
	for bit, name := range capNames {
		if c&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// IfReqLen is sizeof(struct ifreq).
const IfReqLen = 32

const (
	reqCapAt = 16 // ifr_reqcap: supported in an answer, wanted in a request
	curCapAt = 20 // ifr_curcap: enabled
)

// ParseIfCap decodes the struct ifreq that SIOCGIFCAP filled in.
func ParseIfCap(ifreq []byte) (enabled, supported Caps, err error) {
	if len(ifreq) != IfReqLen {
		return 0, 0, fmt.Errorf("ifreq: %d bytes, want %d: %w", len(ifreq), IfReqLen, ErrFormat)
	}
	return Caps(order.Uint32(ifreq[curCapAt:])), Caps(order.Uint32(ifreq[reqCapAt:])), nil
}

// IfReq makes a struct ifreq for an interface. caps is the full mask wanted, for
// SIOCSIFCAP; other requests ignore it.
func IfReq(iface string, caps Caps) [IfReqLen]byte {
	var b [IfReqLen]byte
	copy(b[:ifNameSize-1], iface)
	order.PutUint32(b[reqCapAt:], uint32(caps))
	return b
}
