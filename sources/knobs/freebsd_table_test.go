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
	host := []string{"net.inet.tcp.tso", "1", "net.inet.tcp.cc.algorithm", "cubic", "dev.em.0.iflib.driver_version", "7.7.8-fbsd",
		"dev.em.0.fc", "3"}
	const card = "tso lro txcsum rxcsum fc tcp.tso siftr siftr2 siftr.log siftr.port siftr.ppl siftr.cwnd " +
		"siftr2.log siftr2.port siftr2.ppl siftr2.cwnd siftr2.flowid cc"
	// Bits 0 and 1 of what is enabled, and 21 and 22, which the 82574L alone has.
	v4 := map[string]string{"txcsum": "txcsum4", "rxcsum": "rxcsum4"}
	both := map[string]string{"txcsum": "on", "rxcsum": "on"}
	for _, c := range []struct {
		release string
		sysctls []string
		caps    fakeCaps
		names   string
		aim     string // its value, or why it is locked
		tso     []string
		csum    map[string]string
	}{
		{"15.0 82540EM", []string{"dev.em.0.enable_aim", "1"}, fakeCaps{enabled: 0x48525bb, supported: 0x4953dbb},
			"aim " + card, "1", []string{"off", "tso4"}, v4},
		{"15.0 82574L", []string{"dev.em.0.enable_aim", "1"}, fakeCaps{enabled: 0x4e524bb, supported: 0x4f53fbb},
			"aim " + card, "1", []string{"off", "on"}, both},
		{"14.0", []string{"dev.em.0.itr", "488"}, fakeCaps{enabled: 0x48525bb, supported: 0x4953dbb},
			"aim itr " + card, "em0's driver has no adaptive interrupt moderation", []string{"off", "tso4"}, v4},
		{"12.1: no TSO at all", []string{"dev.em.0.itr", "488"}, fakeCaps{enabled: 0x81209b, supported: 0x91389b},
			"aim itr " + card, "em0's driver has no adaptive interrupt moderation", nil, v4},
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
			if fc, err := byName(list, "fc").Get(t.Context()); fc != "3" || err != nil || byName(list, "fc").Spec().Disruption != sources.Gentle {
				t.Errorf("fc %q, %v", fc, err)
			}
			for _, name := range []string{"txcsum", "rxcsum"} {
				k := byName(list, name)
				if v, err := k.Get(t.Context()); v != c.csum[name] || err != nil || k.Spec().Disruption != sources.LinkReset {
					t.Errorf("%s %q, %v", name, v, err)
				}
			}
			if cc := byName(list, "cc").Spec(); !slices.Equal(cc.Values, []string{"cubic", "newreno"}) {
				t.Errorf("%+v", cc)
			}
		})
	}
}

// What each driver has besides capabilities: by manual pages and driver sources but for em.
func TestFreeBSDDrivers(t *testing.T) {
	digits := func(n int) []string { return strings.Split("0 1 2 3 4 5"[:2*n-1], " ") }
	for _, c := range []struct {
		driver, leaf, knob string
		values             []string
	}{
		{"em", "fc", "fc", digits(4)}, {"igb", "fc", "fc", digits(4)}, {"igc", "fc", "fc", digits(4)},
		{"ix", "fc", "fc", digits(4)}, {"ixl", "fc", "fc", digits(4)},
		{"igc", "enable_aim", "aim", digits(3)}, {"ix", "enable_aim", "aim", digits(2)}, {"ixl", "dynamic_rx_itr", "aim", digits(2)},
		{"mce", "conf.rx_coalesce_mode", "aim", digits(4)},
		{"em", "itr", "itr", nil}, {"ixl", "rx_itr", "rx-itr", nil}, {"ixl", "tx_itr", "tx-itr", nil},
		{"ice", "rx_itr", "rx-usecs", nil}, {"ice", "tx_itr", "tx-usecs", nil},
		{"mce", "conf.rx_coalesce_usecs", "rx-usecs", nil}, {"mce", "conf.tx_coalesce_usecs", "tx-usecs", nil},
		{"cxgbe", "holdoff_tmr_idx", "holdoff", digits(6)}, {"cxl", "holdoff_tmr_idx", "holdoff", digits(6)}, {"cc", "holdoff_tmr_idx", "holdoff", digits(6)},
		{"re", "int_rx_mod", "rx-usecs", nil}, {"sfxge", "int_mod", "usecs", nil},
	} {
		name := "dev." + c.driver + ".3." + c.leaf
		k := newFake(name, "1")
		list := freebsdList(device{c.driver + "3", c.driver, 3, &fakeCaps{}}, k, nil, "")
		for _, other := range list { // one leaf is one knob; aim and fc are there at least with the reason
			if s := other.Spec(); s.Subject != "" && s.Name != c.knob && s.Locked == "" {
				t.Errorf("%s has %+v", name, s)
			}
		}
		got := byName(list, c.knob)
		if got == nil {
			t.Errorf("%s: no %s", name, c.knob)
			continue
		}
		s := got.Spec()
		if !slices.Equal(s.Values, c.values) || s.Aside || s.Command != "sudo sysctl "+name+"=%s" || len(s.Meanings) != len(c.values) {
			t.Errorf("%+v", s)
		}
		if err := got.Set(t.Context(), "0"); err != nil || k.values[name] != "0" {
			t.Errorf("%s: %v, %v", name, err, k.values)
		}
	}
	holdoff := byName(freebsdList(device{"cc0", "cc", 0, &fakeCaps{}}, newFake("dev.cc.0.holdoff_tmr_idx", "1"), nil, ""), "holdoff")
	if m := strings.Join(holdoff.Spec().Meanings, " "); m != "1 us 5 us 10 us 50 us 100 us 200 us" {
		t.Error(m)
	}
	for _, driver := range []string{"bge", "vtnet", "vmx"} {
		list := freebsdList(device{driver + "0", driver, 0, &fakeCaps{}}, newFake(), nil, "")
		if fc := byName(list, "fc").Spec(); fc.Locked != driver+"0's driver has no flow control that sysctl turns" {
			t.Errorf("%+v", fc)
		}
	}
}

// siftr's switches as they stand in the kernel: what a filter takes, and that none is
// part of a setting.
func TestSiftrSwitches(t *testing.T) {
	k := newFake("net.inet.siftr.cwnd_filter", "0", "net.inet.siftr.ppl", "1", "net.inet.siftr2.cwnd_filter", "0",
		"net.inet.siftr2.ppl", "1", "net.inet.siftr2.flowid_filter", "00000000")
	b := New(&log{}, freebsdList(device{"em0", "em", 0, &fakeCaps{}}, k, nil, "")...)
	for _, c := range []struct {
		knob, value string
		want        error
	}{
		{"siftr.ppl", "10", nil}, {"siftr.cwnd", "1", nil}, {"siftr.cwnd", "2", ErrValue}, {"siftr.flowid", "0", os.ErrNotExist},
		{"siftr2.ppl", "4294967295", nil}, {"siftr2.cwnd", "1", nil}, {"siftr2.cwnd", "2", ErrValue}, {"siftr2.flowid", "0a1b2c3d", nil},
	} {
		if err := b.Turn(t.Context(), "", c.knob, c.value); !errors.Is(err, c.want) {
			t.Errorf("%s=%s: %v, want %v", c.knob, c.value, err, c.want)
		}
	}
	if k.values["net.inet.siftr2.flowid_filter"] != "0a1b2c3d" || k.values["net.inet.siftr.ppl"] != "10" {
		t.Error(k.values)
	}
	for _, s := range b.Specs() {
		if module, leaf, ok := strings.Cut(s.Name, "."); ok && strings.HasPrefix(module, "siftr") && (!s.Aside || s.Note == "") {
			t.Errorf("%s: %+v", leaf, s)
		}
	}
	if err := b.Restore(t.Context()); err != nil || k.values["net.inet.siftr2.flowid_filter"] != "00000000" || k.values["net.inet.siftr.ppl"] != "1" {
		t.Error(err, k.values)
	}
}

// A pseudo interface has the host's knobs and says why it has no others.
func TestFreeBSDPseudoInterface(t *testing.T) {
	list := freebsdList(device{"lo0", "lo", 0, &fakeCaps{enabled: 0x680003, supported: 0x680003}}, newFake("net.inet.tcp.tso", "1"), nil, NeedsRoot)
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

// Why a card has less of TSO than was asked for: em's older chips have a tunable. The
// masks are those of real cards.
func TestWhyLessWasGranted(t *testing.T) {
	const unless = " unless hw.em.unsupported_tso=1 stands in loader.conf"
	for _, c := range []struct {
		name, driver string
		caps         bsd.Caps // supported
		masked       bsd.Caps // by the driver
		ask, want    string
		refuse       error
	}{
		{"82574L, refused", "em", 0x4f53fbb, 0, "on", "knob-failed off>on>off: em0: operation not permitted", errors.New("em0: operation not permitted")},
		{"82540EM", "em", 0x4953dbb, 0, "on", "knob-turned off>on>tso4: this chip has no TSO6" + unless, nil},
		{"82540EM asked for what it has", "em", 0x4953dbb, 0, "tso4", "knob-turned off>tso4>tso4: ", nil},
		{"82540EM asked for what it has not", "em", 0x4953dbb, 0, "tso6", "knob-failed off>tso6>off: em4: invalid argument; this chip has no TSO6" + unless, nil},
		{"82574L", "em", 0x4f53fbb, 0, "on", "knob-turned off>on>on: ", nil},
		{"82574L at 100 Mbit/s", "em", 0x4f53fbb, allTSO, "on",
			"knob-turned off>on>off: em keeps TSO off while the link is slower than 1000 Mbit/s" + unless, nil},
		{"another driver", "re", bsd.CapTSO4, 0, "on", "knob-turned off>on>tso4: this card, or its driver, has no tso6", nil},
		{"another driver that keeps it off", "re", allTSO, allTSO, "on", "knob-turned off>on>off: ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			caps := &maskedCaps{fakeCaps{supported: c.caps}, c.masked, c.refuse}
			b := New(l, freebsdList(device{c.driver + "0", c.driver, 0, caps}, newFake(), nil, "")...)
			turn(t, b, "tso", c.ask)
			e := l.events[len(l.events)-1]
			if got := fmt.Sprintf("%s %s>%s>%s: %s", e.Kind, e.Old, e.Asked, e.New, e.Text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if got := emHabit(1, 0); got != "this chip, or em of this release, has no TSO" {
		t.Error(got)
	}
}

// maskedCaps are a driver that takes some capabilities back by itself.
type maskedCaps struct {
	fakeCaps
	masked bsd.Caps
	refuse error
}

func (c *maskedCaps) set(want bsd.Caps) error {
	if c.refuse != nil {
		return c.refuse
	}
	err := c.fakeCaps.set(want)
	c.enabled &^= c.masked
	return err
}

// What sets a card up again without iflib, from driver sources.
func TestDisruptionByDriver(t *testing.T) {
	for driver, want := range map[string]string{"vtnet": "lro rxcsum", "re": "txcsum rxcsum", "bge": "rxcsum", "mce": "", "epair": ""} {
		var got []string
		for _, k := range freebsdList(device{driver + "0", driver, 0, &fakeCaps{supported: allCaps}}, newFake(), nil, "") {
			if s := k.Spec(); s.Disruption == sources.LinkReset {
				got = append(got, s.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", driver, got, want)
		}
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
