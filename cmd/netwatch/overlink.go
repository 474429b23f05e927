package main

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"netwatch/sources/nic"
)

// overLink says whether the ssh that this terminal hangs on came in over the
// interface, or over one that lies on it (a vlan, a lagg or bridge that it is a member
// of): a turn that drops the link would drop the person. ssh is SSH_CONNECTION: client
// address and port, server address and port.
func overLink(iface, ssh string) bool {
	f := strings.Fields(ssh)
	if len(f) < 3 {
		return false
	}
	server, err := netip.ParseAddr(f[2])
	if err != nil {
		return false
	}
	all, err := net.Interfaces()
	if err != nil {
		return false
	}
	var facts []nic.Facts
	for _, i := range all {
		if f, err := nic.Describe(i.Name); err == nil {
			facts = append(facts, f)
		}
	}
	at := slices.IndexFunc(facts, func(f nic.Facts) bool { return hasAddr(f, server) })
	return at >= 0 && liesOn(facts, facts[at].Name, iface, len(facts))
}

func hasAddr(f nic.Facts, a netip.Addr) bool {
	return slices.ContainsFunc(f.Addrs, func(p netip.Prefix) bool {
		return p.Addr().Unmap().WithZone("") == a.Unmap().WithZone("")
	})
}

// liesOn tells whether an interface is another one, or lies on it, at most so many
// steps down.
func liesOn(facts []nic.Facts, upper, lower string, steps int) bool {
	if upper == lower {
		return true
	}
	at := slices.IndexFunc(facts, func(f nic.Facts) bool { return f.Name == upper })
	return at >= 0 && steps > 0 && slices.ContainsFunc(facts[at].Over, func(below string) bool {
		return liesOn(facts, below, lower, steps-1)
	})
}
