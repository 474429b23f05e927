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
// interface's device, or of its parent where the device has none of its own
// (vtnet0 sits on virtio_pci0).
type freebsdKernel struct {
	iface        string
	names, cnt   sysctl.MIB
	ceiling      sysctl.MIB // dev.X.N.queue_rx_0.interrupt_rate; empty: the driver has none
	rawNames     []byte
	rawCounts    []byte
	rawCeiling   []byte
	slots        []int
	unit         string // "dev.em.4"
	device       string // "em4"
	parentDevice string
}

func openKernel(iface string) (kernel, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, err
	}
	k := &freebsdKernel{iface: iface, device: iface}
	if driver, unit, ok := sysctl.Device(i.Index); ok {
		k.device = driver + strconv.Itoa(unit)
		k.unit = fmt.Sprintf("dev.%s.%d", driver, unit)
		if b, err := sysctl.Read(k.unit + ".%parent"); err == nil {
			k.parentDevice = strings.TrimRight(string(b), "\x00")
		}
		k.ceiling, _ = sysctl.Lookup(k.unit + ".queue_rx_0.interrupt_rate")
	}
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
	for _, device := range []string{k.device, k.parentDevice} {
		k.slots = k.slots[:0]
		for _, l := range all {
			queue, shared, ours := l.Of(device)
			if !ours || device == "" {
				continue
			}
			number, _, _ := strings.Cut(l.Name, ":")
			if queue == "" {
				queue = number
			}
			k.slots = append(k.slots, l.Slot)
			lines = append(lines, line{id: number, queue: queue, shared: shared})
		}
		if len(lines) > 0 {
			return lines, nil
		}
	}
	return nil, nil
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
		return 0, false
	}
	k.rawCeiling = raw
	n, err := bsd.Uint(raw)
	return float64(n), err == nil
}
