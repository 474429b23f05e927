package nic

import (
	"net"
	"net/netip"
)

// Facts are what the header line says of a card. What the kernel does not tell
// is empty.
type Facts struct {
	Name        string // the name asked for
	Driver      string // "em", "e1000e", "veth"
	Device      string // FreeBSD: the driver's own name, "em4" also after a rename; Linux: bus address
	Description string // FreeBSD: dev.em.4.%desc; Linux: driver version or firmware
	Media       string // "1000baseT full-duplex"
	Speed       uint64 // bit/s, 0 unknown
	MTU         int    // bytes
	Up          bool   // has a link
	Addrs       []netip.Prefix
}

func prefixes(i *net.Interface) []netip.Prefix {
	addrs, err := i.Addrs()
	if err != nil {
		return nil
	}
	var list []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p)
		}
	}
	return list
}
