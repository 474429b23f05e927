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
	for _, err := range []error{lookup, read, mib, kind, Write("kern.ostype", nil)} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}
