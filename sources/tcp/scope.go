package tcp

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// sshPort is left out of everything: netwatch's own way to a peer, and the person's, is
// no load. What is copied over it, as by scp, is not seen either.
const sshPort = 22

// A Way is a connection of ssh that netwatch itself talks over, as its server sees it.
type Way struct{ Client, Server netip.AddrPort }

// ParseWay reads SSH_CONNECTION: client address and port, server address and port.
func ParseWay(connection string) (w Way, ok bool) {
	f := strings.Fields(connection)
	if len(f) != 4 {
		return Way{}, false
	}
	client, bad := netip.ParseAddrPort(net.JoinHostPort(f[0], f[1]))
	server, wrong := netip.ParseAddrPort(net.JoinHostPort(f[2], f[3]))
	return Way{plain(client), plain(server)}, bad == nil && wrong == nil
}

// LeaveOut has the source count no connection that is that of netwatch itself: on the
// server's host the one that the Way is; on the client's every one to that port of that
// server, and the one from the client's port where the server has another address on the
// way. A host between the two, which ssh jumps over, is not known. Another Way by the same
// name takes its place. It may be called from any goroutine.
func (s *Source) LeaveOut(name string, w Way) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ways := maps.Clone(s.ways)
	if ways == nil {
		ways = map[string]Way{}
	}
	ways[name] = w
	s.ways = ways
}

func (s *Source) leftOut() map[string]Way {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ways
}

// A scope says which connections go over the interface.
type scope struct {
	addrs []netip.Prefix
	ways  map[string]Way // that are left out
}

// has is true for a connection whose local address is the interface's own. The
// host talking to itself goes over lo, whatever the address. An interface without addresses (a bridge
// member) takes all that is not loopback.
func (c scope) has(local, remote netip.AddrPort) bool {
	if local.Port() == sshPort || remote.Port() == sshPort {
		return false
	}
	for _, w := range c.ways {
		if w.is(plain(local), plain(remote)) {
			return false
		}
	}
	self := local.Addr().IsLoopback() || remote.Addr().IsLoopback() || local.Addr() == remote.Addr()
	loopback := slices.ContainsFunc(c.addrs, func(p netip.Prefix) bool { return p.Addr().IsLoopback() })
	own := slices.ContainsFunc(c.addrs, func(p netip.Prefix) bool { return p.Addr() == unscoped(local.Addr()) })
	switch {
	case loopback:
		return self
	case self:
		return false
	}
	return own || len(c.addrs) == 0
}

// is tells a connection that is the Way, on either host.
func (w Way) is(local, remote netip.AddrPort) bool {
	return local == w.Server && remote == w.Client || remote == w.Server || local == w.Client
}

// plain is an address as it is compared: IPv4 as such, without the interface.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(unscoped(a.Addr().Unmap()), a.Port())
}
