package irq

import (
	"strings"

	"netwatch/parsers/bsd"
)

// A device is who raises interrupts for an interface on FreeBSD.
type device struct {
	iface  string // the interface it belongs to, "em4"
	name   string // the driver's own name, "em4" also after a rename
	parent string // %parent, "virtio_pci0": has the interrupts where the device has none
}

// manyPorts are parents that raise the interrupts of several interfaces.
var manyPorts = []string{"t4nex", "t5nex", "t6nex"}

// caps are the leaves below dev.NAME.UNIT that tell the highest rate the
// moderation allows at the moment, in interrupts a second: a bound, no rate.
// Others keep theirs in other words (ixl's rx_itr, cxgbe's holdoff_tmr_idx).
var caps = map[string]string{
	"em": "queue_rx_0.interrupt_rate", "igb": "queue_rx_0.interrupt_rate", "igc": "queue_rx_0.interrupt_rate",
	"ix": "queue0.interrupt_rate",
}

// slotsOf finds the lines of the devices of one interface. Those of another
// interface (a vlan's parent, a lagg's members) carry its name.
func slotsOf(all []bsd.IntrLine, iface string, devices []device) (lines []line, slots []int) {
	for _, d := range devices {
		mine, at := slotsNamed(all, d.name, false)
		if len(mine) == 0 {
			mine, at = slotsNamed(all, d.parent, portsOfMany(d.parent))
		}
		for i := range mine {
			if d.iface != iface {
				mine[i].queue = d.iface + ":" + mine[i].queue
			}
		}
		lines, slots = append(lines, mine...), append(slots, at...)
	}
	return lines, slots
}

func portsOfMany(parent string) bool {
	for _, p := range manyPorts {
		if strings.HasPrefix(parent, p) {
			return true
		}
	}
	return false
}

func slotsNamed(all []bsd.IntrLine, device string, many bool) (lines []line, slots []int) {
	if device == "" {
		return nil, nil
	}
	for _, l := range all {
		queue, shared, ours := l.Of(device)
		if !ours {
			continue
		}
		number, _, _ := strings.Cut(l.Name, ":")
		if queue == "" {
			queue = number
		}
		lines = append(lines, line{id: number, queue: queue, shared: shared || many})
		slots = append(slots, l.Slot)
	}
	return lines, slots
}
