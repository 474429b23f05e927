package irq

import (
	"fmt"
	"strconv"
	"strings"

	"netwatch/parsers/bsd"
)

// layers are what FreeBSD tells of interfaces and of what they lie on. The answers of
// vlan, lagg and bridge are the kernel's structures, as package bsd reads them.
type layers interface {
	index(iface string) (index int, ok bool)
	driver(index int) (name string, unit int, ok bool)
	variable(name string) ([]byte, error)
	vlan(iface string) ([]byte, error)
	lagg(iface string) (all, ports []byte, err error)
	bridge(iface string) ([]byte, error)
}

// devicesOf are who raises the interrupts of an interface: its own device, or those that
// a vlan, a lagg or a bridge lies on, whose interfaces are named in below. ceiling is the
// variable with the highest rate that the moderation of its own device allows, "" where
// its driver has none.
func devicesOf(t layers, iface string) (all []device, below []string, ceiling string) {
	index, ok := t.index(iface)
	if !ok {
		return []device{{iface: iface, name: iface}}, nil, ""
	}
	driver, unit, _ := t.driver(index)
	if leaf, ok := caps[driver]; ok {
		ceiling = fmt.Sprintf("dev.%s.%d.%s", driver, unit, leaf)
	}
	if members(t, iface) == nil {
		return []device{deviceOf(t, iface, index)}, nil, ceiling
	}
	seen := map[string]bool{iface: true}
	for on := []string{iface}; len(on) > 0; { // a bridge of vlans on a lagg
		name := on[0]
		on = on[1:]
		over := members(t, name)
		for _, m := range over {
			if !seen[m] {
				seen[m] = true
				on = append(on, m)
			}
		}
		if i, ok := t.index(name); ok && over == nil {
			all, below = append(all, deviceOf(t, name, i)), append(below, name)
		}
	}
	return all, below, ceiling
}

// members are the interfaces that one lies on. Each question is put to drivers of its
// own kind only: others may take it for another one.
func members(t layers, iface string) (over []string) {
	index, _ := t.index(iface)
	switch driver, _, _ := t.driver(index); driver {
	case "vlan":
		if b, err := t.vlan(iface); err == nil {
			if parent, _, err := bsd.ParseVlan(b); err == nil && parent != "" {
				over = []string{parent}
			}
		}
	case "lagg":
		if all, ports, err := t.lagg(iface); err == nil {
			over, _ = bsd.ParseLagg(all, ports)
		}
	case "bridge":
		if b, err := t.bridge(iface); err == nil {
			over, _ = bsd.ParseBridge(b)
		}
	}
	return over
}

func deviceOf(t layers, iface string, index int) device {
	d := device{iface: iface, name: iface}
	if driver, unit, ok := t.driver(index); ok {
		d.name = driver + strconv.Itoa(unit)
		if b, err := t.variable(fmt.Sprintf("dev.%s.%d.%%parent", driver, unit)); err == nil {
			d.parent = strings.TrimRight(string(b), "\x00")
		}
	}
	return d
}

// capOf reads a cap. Zero is a register that is not set: the card is not up, or nothing
// holds its interrupts back.
func capOf(raw []byte) (perSecond float64, ok bool) {
	n, err := bsd.Uint(raw)
	return float64(n), err == nil && n > 0
}
