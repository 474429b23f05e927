// Package tcp is the source of what the kernel's own socket table says of the
// busiest connections over one interface: congestion window, RTT, retransmits,
// payload moved. It sees every connection of the host, so it also notices a load
// that somebody else started.
//
// A table is a snapshot: what lies between two polls is unseen, and a connection
// shorter than a second may be missed. A siftr log sees every packet.
package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"netwatch/sources"
)

const (
	dumpEvery   = time.Second
	followEvery = 100 * time.Millisecond
	addrsEvery  = 5 * time.Second
	failsInRow  = 5 // dumps that may fail before the source gives up
)

// errEnded is what a kernel says of a socket that is no more.
var errEnded = errors.New("connection ended")

// A key is the kernel's own handle of a connection: unlike the addresses it is
// never used again.
type key [48]byte

// A socket is one connection at one moment. Amounts are totals of its life.
type socket struct {
	key           key
	family        uint8 // the kernel's number for the family, for one
	local, remote netip.AddrPort
	stack, cc     string
	mss           int
	logID         string // the id of the connection in a siftr2 log, where there can be one

	cwnd, ssthresh, inflight float64 // bytes; ssthresh 0: unset
	srtt, rttvar             float64 // microseconds
	queue                    uint32  // bytes in the send buffer
	retrans                  uint64  // segments
	acked, received          uint64  // payload bytes

	knows facts
}

// facts say which figures of a socket the kernel carries.
type facts uint8

const (
	knowsBytes    facts = 1 << iota // acked and received
	knowsRTT                        // srtt and rttvar
	knowsInflight                   // inflight
	knowsCwnd                       // cwnd and ssthresh
)

// A kernel tells the connections that may still move data.
type kernel interface {
	dump(dst []socket) ([]socket, error)
	// one reads the socket again by its key. It returns errEnded when it is gone and
	// errors.ErrUnsupported where the system has nothing cheaper than a dump.
	one(s *socket) error
	close() error
}

// Source is the source "tcp" of one interface.
type Source struct {
	iface  string
	every  time.Duration
	notice bool
	open   func() (kernel, error)
	addrs  func(iface string) ([]netip.Prefix, error)

	mu   sync.Mutex
	ways map[string]Way
}

// New makes the source for connections over the interface of that name, with a
// sample of the followed ones each so often. With notice it says RunStarted and
// RunEnded for a load that it sees in the table.
func New(iface string, every time.Duration, notice bool) *Source {
	return &Source{iface: iface, every: max(every, followEvery), notice: notice, open: openKernel, addrs: interfaceAddrs}
}

// Name is "tcp".
func (s *Source) Name() string { return "tcp" }

// Run looks for connections each second and reads the busiest ones as often as is
// wanted, until ctx ends.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	k, err := s.open()
	if err != nil {
		return fmt.Errorf("tcp: %w", err)
	}
	defer k.close()
	t := newTracker(k, sink, s.every, s.notice)
	var asked, dumped time.Time
	fails := 0

	every := dumpEvery
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now := time.Now()
		if asked.IsZero() || now.Sub(asked) >= addrsEvery {
			asked = now
			if addrs, err := s.addrs(s.iface); err == nil {
				t.scope.addrs = addrs
			}
		}
		t.scope.ways = s.leftOut()
		if dumped.IsZero() || now.Sub(dumped) >= dumpEvery-followEvery/2 {
			dumped = now
			if err := t.dump(now); err == nil {
				fails = 0
			} else if fails++; fails == failsInRow {
				return fmt.Errorf("tcp: %w", err)
			}
		} else {
			t.follow(now)
		}
		// Waking ten times a second costs more than what is done then: only while
		// there is something to follow, and a way to.
		next := dumpEvery
		if t.followed() > 0 && !t.coarse {
			next = min(s.every, dumpEvery)
		}
		if next != every {
			every = next
			tick.Reset(every)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Connections lists this host's connections that may still move data, over any
// interface. On FreeBSD it tells the addresses behind the ids of a siftr2 log
// (Flow.LogID), which the log itself tells in its footer only.
func Connections() ([]sources.Flow, error) {
	k, err := openKernel()
	if err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	defer k.close()
	sockets, err := k.dump(nil)
	if err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	list := make([]sources.Flow, len(sockets))
	for i, s := range sockets {
		list[i] = s.flow()
	}
	return list, nil
}

// flow is the socket as an Event tells it.
func (s socket) flow() sources.Flow {
	return sources.Flow{ID: s.id(), LogID: s.logID, Local: s.local, Remote: s.remote, Stack: s.stack, CC: s.cc, MSS: s.mss}
}

func (s socket) id() string { return s.local.String() + ">" + s.remote.String() }

// interfaceAddrs are the addresses of the interface with their masks.
func interfaceAddrs(iface string) ([]netip.Prefix, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, err
	}
	addrs, err := i.Addrs()
	if err != nil {
		return nil, err
	}
	var list []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p)
		}
	}
	return list, nil
}

// unscoped takes the interface out of a link-local address: the zone, or the
// second group, where FreeBSD's kernel keeps it (fe80:1::…).
func unscoped(a netip.Addr) netip.Addr {
	a = a.WithZone("")
	if !a.Is6() || !a.IsLinkLocalUnicast() {
		return a
	}
	b := a.As16()
	b[2], b[3] = 0, 0
	return netip.AddrFrom16(b)
}
