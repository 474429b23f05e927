package knobs

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// This file is what FreeBSD's knobs are; the calls are in knobs_freebsd.go. It
// stands apart so that the table is tested on any system.

// A device is the card behind a FreeBSD interface.
type device struct {
	iface  string
	driver string // "em"; "" for an interface without a driver's unit; lo0 has "lo"
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

// A variableRow is a knob that is one sysctl.
type variableRow struct {
	name, label, sysctl, note string
	values, meanings          []string
	aside                     bool // no part of a setting
}

// A deviceRow is a knob of some drivers: its sysctl is a leaf below dev.NAME.UNIT,
// which a release or a chip may lack.
type deviceRow struct {
	drivers []string
	variableRow
}

// moderations is how drivers adapt the interrupt moderation.
var moderations = []deviceRow{
	{[]string{"em", "igb", "igc"}, variableRow{name: "aim", sysctl: "enable_aim", values: []string{"0", "1", "2"},
		meanings: []string{"fixed, 8000/s at most", "normal", "low latency"}}},
	{[]string{"ix"}, variableRow{name: "aim", sysctl: "enable_aim", values: []string{"0", "1"}, meanings: []string{"fixed", "adaptive"}}},
	// From manual pages and driver sources, not seen on a card.
	{[]string{"ixl"}, variableRow{name: "aim", sysctl: "dynamic_rx_itr", values: []string{"0", "1"}, meanings: []string{"fixed", "adaptive"}}},
	{[]string{"mce"}, variableRow{name: "aim", sysctl: "conf.rx_coalesce_mode", values: []string{"0", "1", "2", "3"},
		meanings: []string{"fixed by EQE", "fixed by CQE", "adaptive by EQE", "adaptive by CQE"}}},
}

// holdOffs are the times by which interrupts are held back. The name tells the unit:
// usecs are microseconds, itr is the driver's own.
var holdOffs = []deviceRow{
	// em(4) of 12.1 and 14.0 has itr, that of 15.0 enable_aim.
	{[]string{"em", "igb", "igc"}, variableRow{name: "itr", sysctl: "itr", note: "interrupt delay limit in usecs/4"}},
	// From manual pages and driver sources, not seen on a card.
	{[]string{"ixl"}, variableRow{name: "rx-itr", sysctl: "rx_itr", note: "in steps of 2 usecs, for all queues"}},
	{[]string{"ixl"}, variableRow{name: "tx-itr", sysctl: "tx_itr", note: "in steps of 2 usecs, for all queues"}},
	{[]string{"ice"}, variableRow{name: "rx-usecs", sysctl: "rx_itr"}},
	{[]string{"ice"}, variableRow{name: "tx-usecs", sysctl: "tx_itr"}},
	{[]string{"mce"}, variableRow{name: "rx-usecs", sysctl: "conf.rx_coalesce_usecs"}},
	{[]string{"mce"}, variableRow{name: "tx-usecs", sysctl: "conf.tx_coalesce_usecs"}},
	{[]string{"cxgbe", "cxl", "cc"}, variableRow{name: "holdoff", sysctl: "holdoff_tmr_idx", values: []string{"0", "1", "2", "3", "4", "5"},
		meanings: []string{"1 us", "5 us", "10 us", "50 us", "100 us", "200 us"}, note: "unless the loader gave other times"}},
	{[]string{"re"}, variableRow{name: "rx-usecs", sysctl: "int_rx_mod", note: "the card takes it when it is next set up"}},
	{[]string{"sfxge"}, variableRow{name: "usecs", sysctl: "int_mod", note: "0: off"}},
}

// flowControls are a card's pause frames. em(4) takes 9 too and gives it back: a turn
// may ask for what has a meaning.
var flowControls = []deviceRow{
	{[]string{"em", "igb"}, pauseRow},
	// From manual pages and driver sources, not seen on a card.
	{[]string{"igc", "ix", "ixl"}, pauseRow},
}

var pauseRow = variableRow{name: "fc", sysctl: "fc", values: []string{"0", "1", "2", "3"},
	meanings: []string{"off", "heeds pause frames", "sends them", "both"}}

var hostVariables = []variableRow{
	{name: "tcp.tso", label: "tcp TSO", sysctl: "net.inet.tcp.tso", values: []string{"0", "1"}, meanings: []string{"off", "on"},
		note: "running connections follow at once; no link reset"},
	{name: "siftr", sysctl: "net.inet.siftr.enabled", values: []string{"0", "1"}, meanings: []string{"off", "logging"},
		note: "logging costs throughput"},
	{name: "siftr2", sysctl: "net.inet.siftr2.enabled", values: []string{"0", "1"}, meanings: []string{"off", "logging"},
		note: "logging costs throughput"},
	{name: "siftr.log", label: "siftr log", sysctl: "net.inet.siftr.logfile", aside: true,
		note: "set while off; a refused name reads back too"},
	{name: "siftr.port", label: "siftr port", sysctl: "net.inet.siftr.port_filter", aside: true, note: "0: all ports"},
	{name: "siftr.ppl", label: "siftr ppl", sysctl: "net.inet.siftr.ppl", aside: true, note: oneOf},
	{name: "siftr.cwnd", label: "siftr cwnd", sysctl: "net.inet.siftr.cwnd_filter", aside: true,
		values: []string{"0", "1"}, meanings: cwndFilter, note: halfLog},
	{name: "siftr2.log", label: "siftr2 log", sysctl: "net.inet.siftr2.logfile", aside: true, note: "counts from the next enable on"},
	{name: "siftr2.port", label: "siftr2 port", sysctl: "net.inet.siftr2.port_filter", aside: true, note: "0: all ports"},
	{name: "siftr2.ppl", label: "siftr2 ppl", sysctl: "net.inet.siftr2.ppl", aside: true, note: oneOf},
	{name: "siftr2.cwnd", label: "siftr2 cwnd", sysctl: "net.inet.siftr2.cwnd_filter", aside: true,
		values: []string{"0", "1"}, meanings: cwndFilter, note: halfLog},
	// It is compared with the packet's hash, which is 0 where the card gives none,
	// also where the log shows an id.
	{name: "siftr2.flowid", label: "siftr2 flowid", sysctl: "net.inet.siftr2.flowid_filter", aside: true,
		note: "8 hex digits instead of the port, 00000000: all; a card that gives no hash (em) logs nothing"},
}

const (
	oneOf   = "logs one packet in so many of each flow: what is summed from the log is too little"
	halfLog = "what is summed from a filtered log is too little"
)

var cwndFilter = []string{"every packet", "only where cwnd changed"}

// A capabilityRow is an offload: its switches, their words, and what ifconfig(8)
// calls them.
type capabilityRow struct {
	name, label, note string
	bits              []bsd.Caps
	parts             []string
	words             []string
}

var capabilityRows = []capabilityRow{
	{"tso", "TSO", "on: new connections only", []bsd.Caps{bsd.CapTSO4, bsd.CapTSO6}, []string{"tso4", "tso6"}, []string{"tso"}},
	{"lro", "LRO", "", []bsd.Caps{bsd.CapLRO}, []string{"lro"}, []string{"lro"}},
	{"txcsum", "txcsum", "some drivers switch TSO off with it, and none on without it",
		[]bsd.Caps{bsd.CapTxCsum, bsd.CapTxCsum6}, []string{"txcsum4", "txcsum6"}, []string{"txcsum", "txcsum6"}},
	{"rxcsum", "rxcsum", "", []bsd.Caps{bsd.CapRxCsum, bsd.CapRxCsum6}, []string{"rxcsum4", "rxcsum6"}, []string{"rxcsum", "rxcsum6"}},
}

// The habits of drivers with capabilities, from manual pages and driver sources.
var (
	// takesTSO switch TSO off with txcsum, each protocol its own, and leave it off.
	takesTSO = []string{"mce", "cxgbe", "cxl", "cc", "sfxge"}
	// reinits are the offloads for which a driver without iflib sets the card up again.
	reinits = map[string][]string{"vtnet": {"lro", "rxcsum"}, "re": {"txcsum", "rxcsum"}, "bge": {"rxcsum"}}
)

// emHabit is why em(4) has no TSO, or not both: its older chips (82540 to 82546) are
// given TSO6 by a tunable only. While the link has not 1000 Mbit/s it switches TSO off.
func emHabit(missing, can uint32) string {
	const tso6, unless = 1 << 1, " unless hw.em.unsupported_tso=1 stands in loader.conf"
	switch absent := missing &^ can; {
	case absent == 0:
		return "em keeps TSO off while the link is slower than 1000 Mbit/s" + unless
	case absent == tso6 && can != 0:
		return "this chip has no TSO6" + unless
	}
	return "this chip, or em of this release, has no TSO"
}

// capability is one offload of the device.
func (d device) capability(r capabilityRow, iflib bool) offload {
	spec := sources.KnobSpec{Name: r.name, Label: r.label, Subject: d.iface, Note: r.note,
		Command: fmt.Sprintf("sudo ifconfig %s %s (off: -%s)", d.iface, strings.Join(r.words, " "), strings.Join(r.words, " -"))}
	if iflib || slices.Contains(reinits[d.driver], r.name) { // iflib stops and starts the card for any capability
		spec.Disruption = sources.LinkReset
	}
	k := newOffload(spec, r.parts, capSwitches{d.caps, r.bits})
	switch {
	case r.name != "tso":
	case slices.Contains(takesTSO, d.driver):
		k.needs = "txcsum"
	case d.driver == "em":
		k.habit = emHabit
	}
	return k
}

// freebsdList makes the knobs of a device. algorithms are the congestion controls
// that are loaded.
func freebsdList(d device, vars variables, algorithms []string, locked string) []sources.Knob {
	list := d.knobs(moderations, vars, locked)
	if len(list) == 0 {
		list = append(list, d.without("aim", "adaptive interrupt moderation"))
	}
	list = append(list, d.knobs(holdOffs, vars, locked)...)
	_, err := vars.get(d.node() + ".iflib.driver_version")
	for _, r := range capabilityRows {
		k := d.capability(r, err == nil)
		if k.spec.Locked == "" {
			k.spec.Locked = locked
		}
		list = append(list, k)
	}
	fc := d.knobs(flowControls, vars, locked)
	if len(fc) == 0 {
		fc = append(fc, d.without("fc", "flow control that sysctl turns"))
	}
	list = append(list, fc...)
	for _, r := range hostVariables {
		list = append(list, sysctlRow(r, "", locked, vars))
	}
	cc := sysctlRow(variableRow{name: "cc", sysctl: "net.inet.tcp.cc.algorithm",
		values: algorithms, note: "new connections only"}, "", locked, vars)
	cc.open = true
	return append(list, cc)
}

func sysctlRow(r variableRow, subject, locked string, vars variables) variable {
	return variable{spec: sources.KnobSpec{Name: r.name, Label: cmp.Or(r.label, r.name), Subject: subject, Values: r.values, Meanings: r.meanings,
		Note: r.note, Aside: r.aside, Command: "sudo sysctl " + r.sysctl + "=%s", Locked: locked}, name: r.sysctl, kernel: vars}
}

// knobs are those of the rows that this device has.
func (d device) knobs(rows []deviceRow, vars variables, locked string) []sources.Knob {
	var list []sources.Knob
	for _, r := range rows {
		if !slices.Contains(r.drivers, d.driver) {
			continue
		}
		v := r.variableRow
		v.sysctl = d.node() + "." + v.sysctl
		if _, err := vars.get(v.sysctl); err == nil {
			list = append(list, sysctlRow(v, d.iface, locked, vars))
		}
	}
	return list
}

func (d device) without(name, what string) sources.Knob {
	return absent{sources.KnobSpec{Name: name, Label: name, Subject: d.iface, Locked: d.iface + "'s driver has no " + what}}
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

// bootName is kern.boot_id, new with each boot. Kernels without it, or with too little
// randomness yet to make one (ENXIO), have the time of the boot, which a step of the
// clock changes: then a journal of this boot is taken for one of another, and only
// offered. So is one that was written before the randomness was there.
func bootName(read func(name string) ([]byte, error)) (string, error) {
	b, err := read("kern.boot_id")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENXIO) {
		b, err = read("kern.boottime")
		b = b[:min(8, len(b))] // the seconds: the rest is adjusted all the time
	}
	return hex.EncodeToString(b), err
}

// refusal is what the kernel said to a set, and more where its kind of the name tells
// more: to root too it says of what nobody can set that it is not permitted.
func refusal(err error, kind []byte) error {
	if why := bsd.WhyReadOnly(kind); why != "" && errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: it is %s", err, why)
	}
	return err
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
