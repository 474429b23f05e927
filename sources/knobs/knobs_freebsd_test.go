package knobs

import (
	"errors"
	"os"
	"strings"
	"testing"

	"netwatch/sources"
)

// The knobs of lo0 on this kernel.
func TestLoopback(t *testing.T) {
	list, err := For("lo0")
	if err != nil {
		t.Fatal(err)
	}
	if tso := byName(list, "tso").Spec(); tso.Locked != "lo0 cannot do TSO" {
		t.Errorf("%+v", tso)
	}
	v, err := byName(list, "tcp.tso").Get(t.Context())
	if err != nil || (v != "0" && v != "1") {
		t.Fatal(v, err)
	}
	cc := byName(list, "cc")
	if v, err := cc.Get(t.Context()); err != nil || v == "" || !strings.Contains(strings.Join(cc.Spec().Values, " "), v) {
		t.Errorf("cc %q of %v, %v", v, cc.Spec().Values, err)
	}
	l := &log{}
	err = New(l, list...).Turn(t.Context(), "", "tcp.tso", v)
	if os.Geteuid() != 0 {
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "sudo sysctl net.inet.tcp.tso="+v) {
			t.Error(err)
		}
		return
	}
	if err != nil || len(l.events) != 2 || l.events[1].Kind != sources.KnobTurned {
		t.Skipf("root may not turn here (a jail): %v %+v", err, l.events)
	}
}

func TestSysctlKnob(t *testing.T) {
	if v, err := Sysctl("kern.ostype").Get(t.Context()); v != "FreeBSD" || err != nil {
		t.Error(v, err)
	}
	if _, err := Sysctl("dev.em.99.enable_aim").Get(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestNoSuchInterface(t *testing.T) {
	if _, err := For("none9"); err == nil {
		t.Error("none9 has knobs")
	}
}

// The boot has a name, and keeps it: 16 random octets, or the seconds of its time where
// the kernel has no kern.boot_id (12.1) or no randomness yet.
func TestBootID(t *testing.T) {
	a, err := bootID()
	b, again := bootID()
	if err != nil || again != nil || len(a) != 32 && len(a) != 16 || a != b {
		t.Errorf("%q %v, then %q %v", a, err, b, again)
	}
}
