package irq

import (
	"net"
	"strings"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads hw.intrnames and hw.intrcnt. The lines are those of the
// interface's device, of its parent where the device has none of its own (vtnet0
// sits on virtio_pci0), or of the interfaces that a vlan, lagg or bridge lies on.
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
	all, below, ceiling := devicesOf(kernelLayers{}, k.iface)
	k.below, k.ceiling = strings.Join(below, " "), nil
	if ceiling != "" {
		k.ceiling, _ = sysctl.Lookup(ceiling)
	}
	return all
}

// kernelLayers asks the running kernel.
type kernelLayers struct{}

func (kernelLayers) index(iface string) (int, bool) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return 0, false
	}
	return i.Index, true
}

func (kernelLayers) driver(index int) (name string, unit int, ok bool) { return sysctl.Device(index) }
func (kernelLayers) variable(name string) ([]byte, error)              { return sysctl.Read(name) }
func (kernelLayers) vlan(iface string) ([]byte, error)                 { return sysctl.Vlan(iface) }
func (kernelLayers) lagg(iface string) (all, ports []byte, err error)  { return sysctl.Lagg(iface) }
func (kernelLayers) bridge(iface string) ([]byte, error)               { return sysctl.Bridge(iface) }

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
	return capOf(raw)
}
