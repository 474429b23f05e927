//go:build !freebsd

package sysctl

import (
	"errors"
	"testing"
)

func TestUnsupported(t *testing.T) {
	_, lookup := Lookup("kern.ostype")
	_, read := Read("kern.ostype")
	_, mib := MIB{1, 1}.Read(nil)
	_, kind := Kind("kern.ostype")
	_, vlan := Vlan("vlan0")
	_, _, lagg := Lagg("lagg0")
	_, bridge := Bridge("bridge0")
	for _, err := range []error{lookup, read, mib, kind, Write("kern.ostype", nil), vlan, lagg, bridge} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}
