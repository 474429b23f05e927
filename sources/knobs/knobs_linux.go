package knobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"netwatch/sources"
)

// A feature row names an offload and the kernel's own names of its switches
// (ethtool -k). ECN and mangled-id segmentation follow tx-tcp-segmentation by themselves.
type feature struct {
	name, label string
	features    []string
	parts       []string
}

var features = []feature{
	{"tso", "TSO", []string{"tx-tcp-segmentation", "tx-tcp6-segmentation"}, []string{"tso4", "tso6"}},
	{"gso", "GSO", []string{"tx-generic-segmentation"}, []string{"gso"}},
	{"gro", "GRO", []string{"rx-gro"}, []string{"gro"}},
	{"lro", "LRO", []string{"rx-lro"}, []string{"lro"}},
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
	// adaptive tells whether the driver moderates receive interrupts by itself; it
	// wraps errors.ErrUnsupported where it cannot.
	adaptive() (bool, error)
	setAdaptive(bool) error
}

func list(iface string, c card, vars variables, locked string) []sources.Knob {
	knobs := []sources.Knob{newModeration(iface, c, locked)}
	for _, f := range features {
		spec := sources.KnobSpec{Name: f.name, Label: f.label, Subject: iface,
			Command: fmt.Sprintf("sudo ethtool -K %s %s %%s", iface, f.name)}
		k := newOffload(spec, f.parts, c.switches(f.features))
		if k.spec.Locked == "" {
			k.spec.Locked = locked
		}
		knobs = append(knobs, k)
	}
	cc, err := congestionControl(vars)
	if err != nil {
		return knobs
	}
	cc.spec.Locked = locked
	return append(knobs, cc)
}

// moderation is the knob "aim": adaptive receive interrupt moderation.
type moderation struct {
	spec sources.KnobSpec
	card card
}

func newModeration(iface string, c card, locked string) moderation {
	spec := sources.KnobSpec{Name: "aim", Label: "aim", Subject: iface,
		Values: []string{"off", "on"}, Meanings: []string{"a fixed hold-off", "the driver adapts the hold-off to the traffic"},
		Command: fmt.Sprintf("sudo ethtool -C %s adaptive-rx %%s", iface), Locked: locked}
	switch _, err := c.adaptive(); {
	case errors.Is(err, errors.ErrUnsupported):
		spec.Locked = iface + "'s driver has no interrupt moderation"
	case err != nil:
		spec.Locked = printable(err.Error())
	}
	return moderation{spec, c}
}

func (k moderation) Spec() sources.KnobSpec { return k.spec }

func (k moderation) Get(context.Context) (string, error) {
	on, err := k.card.adaptive()
	if err != nil {
		return "", err
	}
	if on {
		return "on", nil
	}
	return "off", nil
}

func (k moderation) Set(_ context.Context, value string) error {
	if err := k.check(value); err != nil {
		return err
	}
	return k.card.setAdaptive(value == "on")
}

func (k moderation) check(value string) error {
	if value != "on" && value != "off" {
		return notAmong(k.spec, value)
	}
	return nil
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
