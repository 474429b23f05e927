package nic

import (
	"net"
	"net/netip"
	"strings"
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
	Kind        string   // of an interface that lies on others: "vlan 100", "lagg", "bond", "bridge"
	Over        []string // those: a vlan's parent, a lagg's members
}

// Below says in words what the interface lies on: "vlan 100 on em4", "lagg of em0
// em1". It is "" for a card of its own.
func (f Facts) Below() string {
	switch {
	case f.Kind == "":
		return ""
	case len(f.Over) == 0:
		return f.Kind + " without members"
	case strings.HasPrefix(f.Kind, "vlan"):
		return f.Kind + " on " + f.Over[0]
	}
	return f.Kind + " of " + strings.Join(f.Over, " ")
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
