package nic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads net.link.generic.ifdata and, where the driver has them,
// the card's counters as leaves by name.
type freebsdKernel struct {
	iface       string
	index       int
	lost        bool   // a counter could not be read: the name is looked up again
	created     uint64 // when the interface was attached
	data        sysctl.MIB
	driver      driver
	mac, queues []*counter
	raw         []byte
}

// A counter is a leaf with its number. What it belongs to can go away, and the
// number then come to mean something else, so it lives as long as the interface.
type counter struct {
	leaf
	mib  sysctl.MIB
	wide wide
}

func openKernel(iface string) (kernel, error) {
	k := &freebsdKernel{iface: iface}
	return k, k.find()
}

// find looks the name up: at the start, and when the interface under the known
// index is another one or gone.
func (k *freebsdKernel) find() error {
	was := k.index
	k.index, k.lost, k.mac, k.queues, k.driver = 0, false, nil, nil, driver{}
	i, err := net.InterfaceByName(k.iface)
	if err != nil {
		if now, err := net.InterfaceByIndex(was); was > 0 && err == nil {
			return renamed{now.Name}
		}
		return errGone
	}
	k.index, k.data = i.Index, sysctl.IfData(i.Index)
	name, unit, ok := sysctl.Device(i.Index)
	if !ok {
		return nil
	}
	k.driver = driverOf(name)
	prefix, mibs := fmt.Sprintf("dev.%s.%d", name, unit), map[string]sysctl.MIB{}
	has := func(name string) bool { // a name that cannot be read is none
		mib, err := sysctl.Lookup(name)
		if err == nil {
			_, err = mib.Read(nil)
		}
		mibs[name] = mib
		return err == nil
	}
	for _, l := range k.driver.macLeaves(prefix, has) {
		k.mac = append(k.mac, &counter{leaf: l, mib: mibs[l.name]})
	}
	for _, l := range k.driver.queueLeaves(prefix, has) {
		k.queues = append(k.queues, &counter{leaf: l, mib: mibs[l.name]})
	}
	return nil
}

// etherDefault is what ether_ifattach gives an interface whose driver tells no
// speed, in bit/s: it bounds nothing.
const etherDefault = 10_000_000

func (k *freebsdKernel) close() error { return nil }

func (k *freebsdKernel) read(r *reading, whole bool) error {
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
	if d.Epoch != k.created {
		if k.created != 0 {
			if err := k.find(); err != nil {
				return err
			}
		}
		k.created = d.Epoch
	}
	r.epoch, r.up = k.index<<32|int(k.created&0xffffffff), m.Up()
	r.stepped, r.handed, r.lazy = k.driver.stepped, k.driver.handed, true
	r.speed = 0
	if k.driver.line && d.Baudrate > etherDefault {
		r.speed = d.Baudrate
	}
	r.stack = append(r.stack[:0], d.RxOctets, d.TxOctets, d.RxPackets, d.TxPackets, d.RxDrops, d.TxDrops, d.RxErrors, d.TxErrors)
	r.queues.reset()
	if err := k.group(&r.mac, k.mac); err != nil || !whole {
		return err
	}
	return k.group(&r.queues, k.queues)
}

// group reads counters into g. When one cannot be read the driver is on its way
// out: g stays empty, and the next reading looks the interface up again.
func (k *freebsdKernel) group(g *group, counters []*counter) (err error) {
	g.reset()
	for _, c := range counters {
		if k.raw, err = c.mib.Read(k.raw); err != nil {
			g.reset()
			k.lost = true
			return nil
		}
		v, err := bsd.Uint(k.raw)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if len(k.raw) == 4 {
			v = c.wide.take(uint32(v))
		}
		g.add(c.metric, v)
	}
	return nil
}

// mib reads the counters under the known index. An interface of another name
// there is not ours.
func (k *freebsdKernel) mib() (bsd.IfMIB, error) {
	if k.index == 0 || k.lost {
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
	return listen(ctx, os.NewFile(uintptr(fd), "route"), changes, k.announced)
}

// announced reads the first message of b.
func (k *freebsdKernel) announced(b []byte) (up, ours bool, rest []byte, err error) {
	m, rest, err := bsd.NextRouteMessage(b)
	if err != nil || m.Type != bsd.TypeIfInfo {
		return false, false, rest, err
	}
	info, err := bsd.ParseIfInfo(m)
	return info.Up(), err == nil && k.isOurs(info.Index), rest, nil
}

// isOurs asks the kernel, for the poll may be looking the name up at this moment.
func (k *freebsdKernel) isOurs(index int) bool {
	i, err := net.InterfaceByIndex(index)
	return err == nil && i.Name == k.iface
}
