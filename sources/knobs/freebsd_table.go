package knobs

import (
	"fmt"
	"slices"
	"strings"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// This file is what FreeBSD's knobs are; the calls are in knobs_freebsd.go. It
// stands apart so that the table is tested on any system.

// A device is the card behind a FreeBSD interface.
type device struct {
	iface  string
	driver string // "em"; "" for an interface without a driver's unit (lo0, epair)
	unit   int
	caps   capabilities
}

// node is the device's place among the sysctls: "dev.em.4".
func (d device) node() string { return fmt.Sprintf("dev.%s.%d", d.driver, d.unit) }

// capabilities are what SIOCGIFCAP tells and SIOCSIFCAP takes, the full mask.
type capabilities interface {
	get() (enabled, supported bsd.Caps, err error)
	set(bsd.Caps) error
}

// A moderationRow is a driver's switch for adaptive interrupt moderation.
type moderationRow struct {
	drivers  []string
	leaf     string
	values   []string
	meanings []string
}

var moderations = []moderationRow{
	{[]string{"em", "igb", "igc"}, "enable_aim", []string{"0", "1", "2"},
		[]string{"fixed, 8000/s at most", "normal", "low latency"}},
	{[]string{"ix"}, "enable_aim", []string{"0", "1"}, []string{"fixed", "adaptive"}},
	// From the manual page ixl(4), not seen on a card.
	{[]string{"ixl"}, "dynamic_rx_itr", []string{"0", "1"}, []string{"fixed", "adaptive"}},
}

// variableRow is a knob of the whole host.
type variableRow struct {
	name, label, sysctl, note string
	values, meanings          []string
	aside                     bool // no part of a setting
}

var hostVariables = []variableRow{
	{name: "tcp.tso", label: "tcp TSO", sysctl: "net.inet.tcp.tso", values: []string{"0", "1"}, meanings: []string{"off", "on"},
		note: "running connections follow at once; no link reset"},
	{name: "siftr", label: "siftr", sysctl: "net.inet.siftr.enabled", values: []string{"0", "1"}, meanings: []string{"off", "logging"},
		note: "logging costs throughput"},
	{name: "siftr2", label: "siftr2", sysctl: "net.inet.siftr2.enabled", values: []string{"0", "1"}, meanings: []string{"off", "logging"},
		note: "logging costs throughput"},
	{name: "siftr.log", label: "siftr log", sysctl: "net.inet.siftr.logfile", aside: true,
		note: "set while off; a refused name reads back too"},
	{name: "siftr.port", label: "siftr port", sysctl: "net.inet.siftr.port_filter", aside: true, note: "0: all ports"},
	{name: "siftr2.log", label: "siftr2 log", sysctl: "net.inet.siftr2.logfile", aside: true, note: "counts from the next enable on"},
	{name: "siftr2.port", label: "siftr2 port", sysctl: "net.inet.siftr2.port_filter", aside: true, note: "0: all ports"},
}

// freebsdList makes the knobs of a device. algorithms are the congestion controls
// that are loaded.
func freebsdList(d device, vars variables, algorithms []string, locked string) []sources.Knob {
	list := moderationKnobs(d, vars, locked)
	disruption := sources.Gentle
	if _, err := vars.get(d.node() + ".iflib.driver_version"); err == nil {
		disruption = sources.LinkReset // iflib stops and starts the card for any capability
	}
	for _, o := range []struct {
		name, label, note string
		bits              []bsd.Caps
		parts             []string
	}{
		{"tso", "TSO", "on: new connections only", []bsd.Caps{bsd.CapTSO4, bsd.CapTSO6}, []string{"tso4", "tso6"}},
		{"lro", "LRO", "", []bsd.Caps{bsd.CapLRO}, []string{"lro"}},
	} {
		spec := sources.KnobSpec{Name: o.name, Label: o.label, Subject: d.iface, Disruption: disruption, Note: o.note,
			Command: fmt.Sprintf("sudo ifconfig %s %s (off: -%s)", d.iface, o.name, o.name)}
		k := newOffload(spec, o.parts, capSwitches{d.caps, o.bits})
		if k.spec.Locked == "" {
			k.spec.Locked = locked
		}
		list = append(list, k)
	}
	for _, r := range hostVariables {
		list = append(list, sysctlRow(r, "", locked, vars))
	}
	cc := sysctlRow(variableRow{name: "cc", label: "cc", sysctl: "net.inet.tcp.cc.algorithm",
		values: algorithms, note: "new connections only"}, "", locked, vars)
	cc.open = true
	return append(list, cc)
}

func sysctlRow(r variableRow, subject, locked string, vars variables) variable {
	return variable{spec: sources.KnobSpec{Name: r.name, Label: r.label, Subject: subject, Values: r.values, Meanings: r.meanings,
		Note: r.note, Aside: r.aside, Command: "sudo sysctl " + r.sysctl + "=%s", Locked: locked}, name: r.sysctl, kernel: vars}
}

// moderationKnobs are "aim", and "itr" where the driver has a delay instead of it:
// em(4) of 12.1 and 14.0 has itr, that of 15.0 enable_aim.
func moderationKnobs(d device, vars variables, locked string) []sources.Knob {
	var list []sources.Knob
	at := slices.IndexFunc(moderations, func(r moderationRow) bool { return slices.Contains(r.drivers, d.driver) })
	if at >= 0 {
		r := moderations[at]
		name := d.node() + "." + r.leaf
		if _, err := vars.get(name); err == nil {
			list = append(list, sysctlRow(variableRow{name: "aim", label: "aim", sysctl: name, values: r.values, meanings: r.meanings},
				d.iface, locked, vars))
		}
	}
	if len(list) == 0 {
		list = append(list, absent{sources.KnobSpec{Name: "aim", Label: "aim", Subject: d.iface,
			Locked: d.iface + "'s driver has no adaptive interrupt moderation"}})
	}
	if name := d.node() + ".itr"; d.driver != "" {
		if _, err := vars.get(name); err == nil {
			list = append(list, sysctlRow(variableRow{name: "itr", label: "itr", sysctl: name, note: "interrupt delay limit in usecs/4"},
				d.iface, locked, vars))
		}
	}
	return list
}

// vnetName names the vnet jail that this process is in, "" the host's own network. A
// jail may have the journal's directory in common with the host, and has variables
// (net.inet.tcp.tso) and interfaces of its own under the same names.
func vnetName(read func(name string) ([]byte, error)) string {
	b, _ := read("security.jail.vnet")
	if own, err := bsd.Uint(b); err != nil || own == 0 {
		return ""
	}
	host, _ := read("kern.hostname")
	return "vnet jail " + strings.TrimRight(string(host), "\x00")
}

// capSwitches turns some bits of an interface's capabilities and leaves the rest.
type capSwitches struct {
	caps capabilities
	bits []bsd.Caps
}

func (s capSwitches) get() (on, can uint32, err error) {
	enabled, supported, err := s.caps.get()
	for i, bit := range s.bits {
		if enabled&bit != 0 {
			on |= 1 << i
		}
		if supported&bit != 0 {
			can |= 1 << i
		}
	}
	return on, can, err
}

// set leaves the card alone when nothing changes: the call would do the same, but
// saying so costs no link.
func (s capSwitches) set(on uint32) error {
	enabled, _, err := s.caps.get()
	if err != nil {
		return err
	}
	want := enabled
	for i, bit := range s.bits {
		want &^= bit
		if on&(1<<i) != 0 {
			want |= bit
		}
	}
	if want == enabled {
		return nil
	}
	return s.caps.set(want)
}
