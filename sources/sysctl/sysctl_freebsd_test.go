package sysctl

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestRead(t *testing.T) {
	b, err := Read("kern.ostype")
	if err != nil || string(b) != "FreeBSD\x00" {
		t.Errorf("%q, %v", b, err)
	}
	// Large, and with a buffer that is too small at first.
	m, err := Lookup("hw.intrnames")
	if err != nil {
		t.Skip("this kernel has no interrupt names:", err)
	}
	whole, err := m.Read(nil)
	if err != nil || len(whole) == 0 {
		t.Fatal(len(whole), err)
	}
	again, err := m.Read(make([]byte, 10))
	if err != nil || len(again) != len(whole) {
		t.Errorf("%d and %d bytes, %v", len(whole), len(again), err)
	}
}

func TestErrors(t *testing.T) {
	for _, name := range []string{"", "dev.none.9.none", "kern.ostype.none"} {
		if _, err := Read(name); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := Write("kern.ostype", []byte("x")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a constant was written: %v", err)
	}
	if _, err := IfData(1 << 20).Read(nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an interface that is not there: %v", err)
	}
}

func TestKind(t *testing.T) {
	const typeString = 3
	b, err := Kind("kern.ostype")
	if err != nil || len(b) < 4 || b[0]&0xf != typeString {
		t.Errorf("%v, %v", b, err)
	}
}

func TestDevice(t *testing.T) {
	if driver, unit, ok := Device(1 << 20); ok {
		t.Error(driver, unit)
	}
}

// lo0 lies on nothing: each question is refused and none harms.
func TestBelowLoopback(t *testing.T) {
	_, vlan := Vlan("lo0")
	_, _, lagg := Lagg("lo0")
	_, bridge := Bridge("lo0")
	for _, err := range []error{vlan, lagg, bridge} {
		if err == nil {
			t.Error("lo0 has something below it")
		}
	}
}

// The sizes are part of the requests' numbers.
func TestSizesOfRequests(t *testing.T) {
	for name, c := range map[string]struct {
		size    uintptr
		request uint32
	}{
		"ifreq":       {unsafe.Sizeof(ifReq{}), unix.SIOCGIFGENERIC},
		"lagg_reqall": {unsafe.Sizeof(laggReqAll{}), getLagg},
		"ifdrv":       {unsafe.Sizeof(ifDrv{}), unix.SIOCGDRVSPEC},
	} {
		if want := uintptr(c.request >> 16 & 0x1fff); c.size != want { // IOCPARM_LEN
			t.Errorf("%s has %d bytes, its request wants %d", name, c.size, want)
		}
	}
}
