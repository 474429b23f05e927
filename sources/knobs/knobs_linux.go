package knobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"netwatch/sources"
)

// A feature row names an offload, what ethtool -K calls it, and the kernel's own names
// of its switches (ethtool -k).
type feature struct {
	name, label, word string
	features          []string
	parts             []string
	note              string
}

var features = []feature{
	{"gso", "GSO", "gso", []string{"tx-generic-segmentation"}, []string{"gso"}, ""},
	{"gro", "GRO", "gro", []string{"rx-gro"}, []string{"gro"}, ""},
	{"lro", "LRO", "lro", []string{"rx-lro"}, []string{"lro"}, ""},
}

// segmentation is TSO of a card. ECN and mangled-id segmentation follow
// tx-tcp-segmentation by themselves; that of accurate ECN, which newer kernels have
// for veth and the like, does not, and ethtool -K takes it along.
func segmentation(c card) feature {
	const accurate = "tx-tcp-accecn-segmentation"
	tso := feature{"tso", "TSO", "tso", []string{"tx-tcp-segmentation", "tx-tcp6-segmentation"}, []string{"tso4", "tso6"}, "cannot be on without txcsum"}
	if on, can, err := c.switches([]string{accurate}).get(); err == nil && on|can != 0 {
		tso.features, tso.parts = append(tso.features, accurate), append(tso.parts, "accecn")
	}
	return tso
}

const sumNote = "TSO goes off with it, and comes back with it"

// sums are the checksum features of a card that are TCP's: SCTP's, which ethtool -K
// takes along, stays as it is. A card sums any protocol, or IPv4 and IPv6 each by
// itself; the kernel has it do one or the other.
func sums(c card) []feature {
	tx := feature{"txcsum", "txcsum", "tx", []string{"tx-checksum-ipv4", "tx-checksum-ipv6"}, []string{"txcsum4", "txcsum6"}, sumNote}
	if on, can, err := c.switches([]string{"tx-checksum-ip-generic"}).get(); err == nil && on|can != 0 {
		tx.features, tx.parts = []string{"tx-checksum-ip-generic"}, []string{"txcsum"}
	}
	return []feature{tx, {"rxcsum", "rxcsum", "rx", []string{"rx-checksum"}, []string{"rxcsum"}, ""}}
}

// For lists the knobs of an interface of this host. One that the driver does not
// have is in the list, locked with the reason.
func For(iface string) ([]sources.Knob, error) {
	e, err := openEthtool(iface)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", iface, err)
	}
	return list(iface, e, openVariables(), mayTurn()), nil
}

// A card is what ethtool asks of a driver.
type card interface {
	// switches gives the named features as bits, in the order of the names.
	switches(names []string) switches
	// coalesce is a word of the interrupt moderation, pause whether pause frames are
	// heeded and sent. They wrap errors.ErrUnsupported where the driver has none.
	coalesce(word int) (uint32, error)
	setCoalesce(word int, value uint32) error
	pause() (rx, tx bool, err error)
	setPause(rx, tx bool) error
}

func list(iface string, c card, vars variables, locked string) []sources.Knob {
	knobs := []sources.Knob{newModeration(iface, c, locked),
		newHoldOff(iface, "rx-usecs", c, rxUsecs, locked), newHoldOff(iface, "tx-usecs", c, txUsecs, locked)}
	for _, f := range slices.Concat([]feature{segmentation(c)}, features, sums(c)) {
		spec := sources.KnobSpec{Name: f.name, Label: f.label, Subject: iface, Note: f.note,
			Command: fmt.Sprintf("sudo ethtool -K %s %s %%s", iface, f.word)}
		k := newOffload(spec, f.parts, c.switches(f.features))
		if k.spec.Locked == "" {
			k.spec.Locked = locked
		}
		knobs = append(knobs, k)
	}
	knobs = append(knobs, newFlowControl(iface, c, locked))
	cc, err := congestionControl(vars)
	if err != nil {
		return knobs
	}
	cc.spec.Locked = locked
	return append(knobs, cc)
}

// congestionControl is the knob "cc" over the host's default.
func congestionControl(vars variables) (variable, error) {
	const name = "net.ipv4.tcp_congestion_control"
	available, err := vars.get("net.ipv4.tcp_available_congestion_control")
	if err != nil {
		return variable{}, err
	}
	return variable{spec: sources.KnobSpec{Name: "cc", Label: "cc", Values: strings.Fields(available),
		Command: "sudo sysctl " + name + "=%s", Note: "new connections only"}, name: name, kernel: vars, open: true}, nil
}

func openVariables() variables { return procSys{"/proc/sys"} }

// procSys are the kernel's variables as files below /proc/sys.
type procSys struct{ root string }

func (p procSys) path(name string) (string, error) {
	path := strings.ReplaceAll(name, ".", "/")
	if name == "" || !filepath.IsLocal(path) {
		return "", fmt.Errorf("sysctl %q: %w", name, os.ErrNotExist)
	}
	return filepath.Join(p.root, path), nil
}

func (p procSys) get(name string) (string, error) {
	path, err := p.path(name)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return printable(strings.TrimSpace(string(b))), nil
}

func (p procSys) set(name, value string) error {
	path, err := p.path(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// mayTurn is "" for a process that may change network settings (CAP_NET_ADMIN),
// else the reason for the lock.
func mayTurn() string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err == nil && data[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0 {
		return ""
	}
	return NeedsRoot
}
