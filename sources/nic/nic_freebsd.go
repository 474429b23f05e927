package nic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads net.link.generic.ifdata and, where the driver has them,
// the MAC's counters as leaves by name. It never walks dev.em.N: reading reg_dump
// there clears interrupt causes.
type freebsdKernel struct {
	iface  string
	index  int
	data   sysctl.MIB
	driver driver
	leaves []sysctl.MIB
	raw    []byte
}

// A driver row says what a driver's counters are like.
type driver struct {
	names   []string // drivers
	leaves  []string // below dev.NAME.UNIT, in the order of the table mac
	stepped bool     // if_data is copied from the hardware now and then
}

// drivers are those that count more than if_data, or count it in steps. A leaf
// that a release does not have leaves the driver without MAC counters.
var drivers = []driver{
	{names: []string{"em", "igb", "igc"}, leaves: []string{
		"mac_stats.good_octets_recvd", "mac_stats.good_octets_txd",
		"mac_stats.good_pkts_recvd", "mac_stats.good_pkts_txd", "mac_stats.missed_packets"}},
	{names: []string{"ix"}, stepped: true, leaves: []string{
		"mac_stats.good_octets_rcvd", "mac_stats.good_octets_txd",
		"mac_stats.good_pkts_rcvd", "mac_stats.good_pkts_txd", "mac_stats.rx_missed_packets"}},
	{names: []string{"ixl", "ice"}, stepped: true},
}

func openKernel(iface string) (kernel, error) {
	k := &freebsdKernel{iface: iface}
	return k, k.find()
}

// find looks the name up: at the start, and when the interface under the known
// index is another one or gone.
func (k *freebsdKernel) find() error {
	k.index, k.leaves, k.driver = 0, nil, driver{}
	i, err := net.InterfaceByName(k.iface)
	if err != nil {
		return errGone
	}
	k.index, k.data = i.Index, sysctl.IfData(i.Index)
	name, unit, ok := sysctl.Device(i.Index)
	if !ok {
		return nil
	}
	at := slices.IndexFunc(drivers, func(d driver) bool { return slices.Contains(d.names, name) })
	if at < 0 {
		return nil
	}
	k.driver = drivers[at]
	for _, leaf := range k.driver.leaves {
		mib, err := sysctl.Lookup(fmt.Sprintf("dev.%s.%d.%s", name, unit, leaf))
		if err != nil {
			k.leaves = nil
			break
		}
		k.leaves = append(k.leaves, mib)
	}
	return nil
}

func (k *freebsdKernel) close() error { return nil }

func (k *freebsdKernel) read(r *reading) error {
	m, err := k.mib()
	if errors.Is(err, errGone) {
		if err = k.find(); err == nil {
			m, err = k.mib()
		}
	}
	if err != nil {
		return err
	}
	d := m.Data
	r.epoch, r.up, r.stepped = k.index, m.Up(), k.driver.stepped
	r.stack = append(r.stack[:0], d.RxOctets, d.TxOctets, d.RxPackets, d.TxPackets, d.RxDrops, d.TxDrops, d.RxErrors, d.TxErrors)
	r.mac = r.mac[:0]
	for _, leaf := range k.leaves {
		if k.raw, err = leaf.Read(k.raw); err != nil {
			r.mac = r.mac[:0] // the driver is on its way out; the next look finds the new one
			return nil
		}
		v, err := bsd.Uint(k.raw)
		if err != nil {
			return fmt.Errorf("mac_stats: %w", err)
		}
		r.mac = append(r.mac, v)
	}
	return nil
}

// mib reads the counters under the known index. An interface of another name
// there is not ours.
func (k *freebsdKernel) mib() (bsd.IfMIB, error) {
	if k.index == 0 {
		return bsd.IfMIB{}, errGone
	}
	var err error
	if k.raw, err = k.data.Read(k.raw); errors.Is(err, os.ErrNotExist) {
		return bsd.IfMIB{}, errGone
	} else if err != nil {
		return bsd.IfMIB{}, err
	}
	m, err := bsd.ParseIfMIB(k.raw)
	if err == nil && m.Name != k.iface {
		return bsd.IfMIB{}, errGone
	}
	return m, err
}

// watch listens on a route socket: a capability change of em(4) drops the link for
// 0.15 s, which is between two polls.
func (k *freebsdKernel) watch(ctx context.Context, changes chan<- linkChange) error {
	fd, err := unix.Socket(unix.AF_ROUTE, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.AF_UNSPEC)
	if err != nil {
		return os.NewSyscallError("route socket", err)
	}
	f := os.NewFile(uintptr(fd), "route")
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()

	buf := make([]byte, 16<<10)
	for {
		n, err := f.Read(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS):
			continue // more was announced than fits; the next poll tells the state
		case err != nil:
			return err
		}
		now := time.Now()
		for rest := buf[:n]; len(rest) > 0; {
			var m bsd.RouteMessage
			if m, rest, err = bsd.NextRouteMessage(rest); err != nil {
				return err
			}
			if m.Type != bsd.TypeIfInfo {
				continue
			}
			info, err := bsd.ParseIfInfo(m)
			if err != nil || !k.isOurs(info.Index) {
				continue
			}
			select {
			case changes <- linkChange{now, info.Up()}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// isOurs asks the kernel, for the poll may be looking the name up at this moment.
func (k *freebsdKernel) isOurs(index int) bool {
	i, err := net.InterfaceByIndex(index)
	return err == nil && i.Name == k.iface
}
