package irq

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads hw.intrnames and hw.intrcnt. The lines are those of the
// interface's device, of its parent where the device has none of its own (vtnet0
// sits on virtio_pci0), or of the interfaces that a vlan or lagg lies on.
type freebsdKernel struct {
	iface      string
	names, cnt sysctl.MIB
	ceiling    sysctl.MIB // empty: the driver tells none
	rawNames   []byte
	rawCounts  []byte
	rawCeiling []byte
	slots      []int
	below      string
}

func openKernel(iface string) (kernel, error) {
	if _, err := net.InterfaceByName(iface); err != nil {
		return nil, err
	}
	k := &freebsdKernel{iface: iface}
	var err error
	if k.names, err = sysctl.Lookup("hw.intrnames"); err != nil {
		return nil, err
	}
	if k.cnt, err = sysctl.Lookup("hw.intrcnt"); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *freebsdKernel) close() error  { return nil }
func (k *freebsdKernel) where() string { return "hw.intrnames" }
func (k *freebsdKernel) of() string    { return k.below }

// devices looks the interface up, and those it lies on. It is done each time the
// names are read: a driver may have been loaded again.
func (k *freebsdKernel) devices() []device {
	k.below, k.ceiling = "", nil
	i, err := net.InterfaceByName(k.iface)
	if err != nil {
		return []device{{iface: k.iface, name: k.iface}}
	}
	driver, unit, _ := sysctl.Device(i.Index)
	var below []string
	switch driver {
	case "vlan":
		if b, err := sysctl.Vlan(k.iface); err == nil {
			if parent, _, err := bsd.ParseVlan(b); err == nil && parent != "" {
				below = []string{parent}
			}
		}
	case "lagg":
		if all, ports, err := sysctl.Lagg(k.iface); err == nil {
			below, _ = bsd.ParseLagg(all, ports)
		}
	}
	if leaf, ok := caps[driver]; ok {
		k.ceiling, _ = sysctl.Lookup(fmt.Sprintf("dev.%s.%d.%s", driver, unit, leaf))
	}
	if len(below) == 0 {
		return []device{deviceOf(k.iface, i.Index)}
	}
	k.below = strings.Join(below, " ")
	var all []device
	for _, name := range below {
		if i, err := net.InterfaceByName(name); err == nil {
			all = append(all, deviceOf(name, i.Index))
		}
	}
	return all
}

func deviceOf(iface string, index int) device {
	d := device{iface: iface, name: iface}
	if driver, unit, ok := sysctl.Device(index); ok {
		d.name = driver + strconv.Itoa(unit)
		if b, err := sysctl.Read(fmt.Sprintf("dev.%s.%d.%%parent", driver, unit)); err == nil {
			d.parent = strings.TrimRight(string(b), "\x00")
		}
	}
	return d
}

func (k *freebsdKernel) lines() (lines []line, err error) {
	if k.rawNames, err = k.names.Read(k.rawNames); err != nil {
		return nil, err
	}
	if k.rawCounts, err = k.cnt.Read(k.rawCounts); err != nil {
		return nil, err
	}
	all, err := bsd.IntrLines(k.rawNames, len(k.rawCounts))
	if err != nil {
		return nil, err
	}
	lines, k.slots = slotsOf(all, k.iface, k.devices())
	return lines, nil
}

func (k *freebsdKernel) counts(dst []count) (_ []count, err error) {
	if k.rawCounts, err = k.cnt.Read(k.rawCounts); err != nil {
		return dst, err
	}
	for _, slot := range k.slots {
		n, ok := bsd.IntrCount(k.rawCounts, slot)
		dst = append(dst, count{n, ok})
	}
	return dst, nil
}

func (k *freebsdKernel) limit() (float64, bool) {
	if len(k.ceiling) == 0 {
		return 0, false
	}
	raw, err := k.ceiling.Read(k.rawCeiling)
	if err != nil {
		k.ceiling = nil // its number may come to mean something else
		return 0, false
	}
	k.rawCeiling = raw
	n, err := bsd.Uint(raw)
	return float64(n), err == nil
}
