package knobs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// fakeCaps behaves as the capability calls of a real em(4) did: what is not
// supported is refused whole, what is not set can be cleared.
type fakeCaps struct {
	enabled, supported bsd.Caps
	sets               int
	err                error
}

func (c *fakeCaps) get() (bsd.Caps, bsd.Caps, error) { return c.enabled, c.supported, c.err }

func (c *fakeCaps) set(want bsd.Caps) error {
	c.sets++
	if want&^c.supported != 0 {
		return einval
	}
	c.enabled = want
	return nil
}

func byName(list []sources.Knob, name string) sources.Knob {
	at := slices.IndexFunc(list, func(k sources.Knob) bool { return k.Spec().Name == name })
	if at < 0 {
		return nil
	}
	return list[at]
}

func names(list []sources.Knob) (names []string) {
	for _, k := range list {
		names = append(names, k.Spec().Name)
	}
	return names
}

// What the kernels of 12.1, 14.0 and 15.0 have for em0.
func TestFreeBSDReleases(t *testing.T) {
	host := []string{"net.inet.tcp.tso", "1", "net.inet.tcp.cc.algorithm", "cubic", "dev.em.0.iflib.driver_version", "7.7.8-fbsd"}
	for _, c := range []struct {
		release string
		sysctls []string
		caps    fakeCaps
		names   string
		aim     string // its value, or why it is locked
		tso     []string
	}{
		{"15.0 82540EM", []string{"dev.em.0.enable_aim", "1"}, fakeCaps{enabled: 0x48525bb, supported: 0x4953dbb},
			"aim tso lro tcp.tso siftr siftr2 siftr.log siftr.port siftr2.log siftr2.port cc", "1", []string{"off", "tso4"}},
		{"15.0 82574L", []string{"dev.em.0.enable_aim", "1"}, fakeCaps{enabled: 0x4e524bb, supported: 0x4f53fbb},
			"aim tso lro tcp.tso siftr siftr2 siftr.log siftr.port siftr2.log siftr2.port cc", "1", []string{"off", "on"}},
		{"14.0", []string{"dev.em.0.itr", "488"}, fakeCaps{enabled: 0x48525bb, supported: 0x4953dbb},
			"aim itr tso lro tcp.tso siftr siftr2 siftr.log siftr.port siftr2.log siftr2.port cc", "em0's driver has no adaptive interrupt moderation", []string{"off", "tso4"}},
		{"12.1: no TSO at all", []string{"dev.em.0.itr", "488"}, fakeCaps{enabled: 0x81209b, supported: 0x91389b},
			"aim itr tso lro tcp.tso siftr siftr2 siftr.log siftr.port siftr2.log siftr2.port cc", "em0's driver has no adaptive interrupt moderation", nil},
	} {
		t.Run(c.release, func(t *testing.T) {
			k := newFake(append(host, c.sysctls...)...)
			list := freebsdList(device{"em0", "em", 0, &c.caps}, k, []string{"cubic", "newreno"}, "")
			if got := strings.Join(names(list), " "); got != c.names {
				t.Errorf("knobs %s, want %s", got, c.names)
			}
			aim := byName(list, "aim")
			if v, err := aim.Get(t.Context()); v != c.aim && aim.Spec().Locked != c.aim {
				t.Errorf("aim %q, %v, locked %q", v, err, aim.Spec().Locked)
			}
			tso := byName(list, "tso").Spec()
			if !slices.Equal(tso.Values, c.tso) || (c.tso == nil) != (tso.Locked == "em0 cannot do TSO") {
				t.Errorf("tso %+v", tso)
			}
			if tso.Disruption != sources.LinkReset || byName(list, "tcp.tso").Spec().Disruption != sources.Gentle {
				t.Error("disruption")
			}
			if cc := byName(list, "cc").Spec(); !slices.Equal(cc.Values, []string{"cubic", "newreno"}) {
				t.Errorf("%+v", cc)
			}
		})
	}
}

// A pseudo interface has the host's knobs and says why it has no others.
func TestFreeBSDPseudoInterface(t *testing.T) {
	list := freebsdList(device{"lo0", "", 0, &fakeCaps{enabled: 0x680003, supported: 0x680003}}, newFake("net.inet.tcp.tso", "1"), nil, NeedsRoot)
	if aim := byName(list, "aim").Spec(); aim.Locked == "" {
		t.Errorf("%+v", aim)
	}
	if tso := byName(list, "tso").Spec(); tso.Locked != "lo0 cannot do TSO" || tso.Disruption != sources.Gentle {
		t.Errorf("%+v", tso)
	}
	if tso := byName(list, "tcp.tso").Spec(); tso.Locked != NeedsRoot {
		t.Errorf("%+v", tso)
	}
}

func TestOffload(t *testing.T) {
	const rest = bsd.CapRxCsum | bsd.CapLRO
	both, v4 := bsd.CapTSO4|bsd.CapTSO6, bsd.CapTSO4
	for _, c := range []struct {
		name               string
		enabled, supported bsd.Caps
		ask                string
		want               bsd.Caps // of the two bits
		value              string
		sets               int
		err                error
	}{
		{"on means all there is", 0, v4, "on", v4, "tso4", 1, nil},
		{"both", 0, both, "on", both, "on", 1, nil},
		{"off", both, both, "off", 0, "off", 1, nil},
		{"one of two", both, both, "tso6", bsd.CapTSO6, "tso6", 1, nil},
		{"a part it cannot do is refused whole", v4, v4, "tso6", v4, "tso4", 1, einval},
		{"already there: the link is left alone", v4, v4, "on", v4, "tso4", 0, nil},
		{"no such word", v4, v4, "maybe", v4, "tso4", 0, ErrValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			caps := &fakeCaps{enabled: c.enabled | rest, supported: c.supported | rest}
			k := newOffload(sources.KnobSpec{Name: "tso", Label: "TSO", Subject: "em0"}, []string{"tso4", "tso6"},
				capSwitches{caps, []bsd.Caps{bsd.CapTSO4, bsd.CapTSO6}})
			if err := k.Set(t.Context(), c.ask); !errors.Is(err, c.err) {
				t.Errorf("set: %v", err)
			}
			if caps.enabled != c.want|rest || caps.sets != c.sets {
				t.Errorf("enabled %v after %d sets", caps.enabled, caps.sets)
			}
			if v, err := k.Get(t.Context()); err != nil || v != c.value {
				t.Errorf("get: %q, %v", v, err)
			}
		})
	}
}

func TestOffloadOfACardWithoutIt(t *testing.T) {
	k := newOffload(sources.KnobSpec{Name: "lro", Label: "LRO", Subject: "em0"}, []string{"lro"},
		capSwitches{&fakeCaps{}, []bsd.Caps{bsd.CapLRO}})
	for _, err := range []error{k.Set(t.Context(), "on"), func() error { _, err := k.Get(t.Context()); return err }()} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
	gone := newOffload(sources.KnobSpec{Label: "LRO", Subject: "em0"}, []string{"lro"},
		capSwitches{&fakeCaps{err: fmt.Errorf("em0: %w", errors.New("device not configured"))}, []bsd.Caps{bsd.CapLRO}})
	if gone.spec.Locked == "" {
		t.Error("a card that does not answer is not locked")
	}
}

// The journal of the host and that of a vnet jail on the same directory are two. A
// kernel without jails or without the variable is the host.
func TestVnetName(t *testing.T) {
	for want, vars := range map[string]map[string]string{
		"":             {"security.jail.vnet": "\x00\x00\x00\x00", "kern.hostname": "fbsdvm\x00"},
		"vnet jail r1": {"security.jail.vnet": "\x01\x00\x00\x00", "kern.hostname": "r1\x00"},
		"vnet jail ":   {"security.jail.vnet": "\x01\x00\x00\x00"},
	} {
		if got := vnetName(func(name string) ([]byte, error) { return readOf(vars, name) }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := vnetName(func(name string) ([]byte, error) { return readOf(nil, name) }); got != "" {
		t.Errorf("%q without the variable", got)
	}
}

func readOf(vars map[string]string, name string) ([]byte, error) {
	if v, ok := vars[name]; ok {
		return []byte(v), nil
	}
	return nil, os.ErrNotExist
}
