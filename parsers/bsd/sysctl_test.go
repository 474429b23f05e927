package bsd

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWord(t *testing.T) {
	for _, c := range []struct {
		name string
		kind SysctlType
		raw  []byte
		want string
	}{
		{"enable_aim", TypeInt, load(t, "raw/15.0-t0.dev.em.0.enable_aim.bin"), "1"},
		{"port_filter, 2 bytes", TypeU16, []byte{0x89, 0x13}, "5001"},
		{"a bool of one byte", TypeU8, []byte{1}, "1"},
		{"ppl of -1", TypeUint, []byte{0xff, 0xff, 0xff, 0xff}, "4294967295"},
		{"negative int", TypeInt, []byte{0xff, 0xff, 0xff, 0xff}, "-1"},
		{"negative s16", TypeS16, []byte{0xfe, 0xff}, "-2"},
		{"u64", TypeU64, []byte{0, 0, 0, 0, 1, 0, 0, 0}, "4294967296"},
		{"cc", TypeString, load(t, "raw/15.0-t0.net.inet.tcp.cc.algorithm.bin"), "cubic"},
		{"empty string", TypeString, nil, ""},
		{"first line that is not empty", TypeString, []byte("\n CCmod  D\ncubic\n\x00"), "CCmod  D"},
	} {
		got, err := Word(c.kind, c.raw)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	for _, c := range []struct {
		kind SysctlType
		raw  []byte
	}{{TypeOpaque, make([]byte, 8)}, {TypeNode, nil}, {TypeInt, make([]byte, 3)}, {TypeInt, nil}} {
		if got, err := Word(c.kind, c.raw); !errors.Is(err, ErrFormat) {
			t.Errorf("%v: %q, %v", c, got, err)
		}
	}
}

func TestUint(t *testing.T) {
	// interrupt_rate of an idle em(4) with AIM; the MAC's octets are 64 bits.
	if got, err := Uint(load(t, "raw/15.0-t0.dev.em.0.queue_rx_0.interrupt_rate.bin")); err != nil || got == 0 || got > 100000 {
		t.Error(got, err)
	}
	if got, err := Uint(load(t, "raw/15.0-t0.dev.em.0.mac_stats.good_octets_txd.bin")); err != nil || got == 0 {
		t.Error(got, err)
	}
}

func TestAppendWord(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  SysctlType
		size  int
		value string
		want  []byte
	}{
		{"int", TypeInt, 4, "2", []byte{2, 0, 0, 0}},
		{"negative", TypeInt, 4, "-1", []byte{0xff, 0xff, 0xff, 0xff}},
		{"port_filter", TypeU16, 2, "5001", []byte{0x89, 0x13}},
		{"cwnd_filter", TypeU8, 1, "1", []byte{1}},
		{"ppl", TypeUint, 4, "4294967295", []byte{0xff, 0xff, 0xff, 0xff}},
		{"flowid_filter", TypeString, 9, "0a1b2c3d", []byte("0a1b2c3d\x00")},
		{"u64", TypeU64, 8, "4294967296", []byte{0, 0, 0, 0, 1, 0, 0, 0}},
		{"string", TypeString, 6, "newreno", []byte("newreno\x00")},
	} {
		got, err := AppendWord(nil, c.kind, c.size, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for _, c := range []struct {
		kind  SysctlType
		size  int
		value string
	}{
		{TypeInt, 4, "two"}, {TypeInt, 4, ""}, {TypeUint, 4, "-1"}, {TypeU16, 2, "65536"}, {TypeU8, 1, "256"}, {TypeInt, 3, "1"},
		{TypeOpaque, 8, "1"}, {TypeString, 2, "a\x00b"},
	} {
		if _, err := AppendWord(nil, c.kind, c.size, c.value); !errors.Is(err, ErrFormat) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestParseSysctlType(t *testing.T) {
	// dev.em.0.mac_stats leaves of a real kernel: kind 0x82040009, format QU.
	got, err := ParseSysctlType(append([]byte{0x09, 0, 0x04, 0x82}, "QU\x00"...))
	if err != nil || got != TypeU64 {
		t.Error(got, err)
	}
	if _, err := ParseSysctlType(nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestParseCCAvailable(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []CCModule
	}{
		// As a real 15.0 gave it.
		{"15.0", "\nCCmod           D PCB count\ncubic           * 2\n\x00", []CCModule{{"cubic", true, 2}}},
		{"two", "\nCCmod           D PCB count\ncubic           * 2\nnewreno           0\n\x00",
			[]CCModule{{"cubic", true, 2}, {"newreno", false, 0}}},
		{"old list", "newreno, cubic\x00", []CCModule{{"newreno", false, -1}, {"cubic", false, -1}}},
		{"empty", "", nil},
	} {
		got, err := ParseCCAvailable([]byte(c.text))
		if err != nil {
			t.Error(c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if _, err := ParseCCAvailable([]byte("CCmod D\ncubic * many\n")); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}
