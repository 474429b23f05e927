package sysctl

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
)

const (
	maxMIB   = 24       // CTL_MAXNAME of sys/sysctl.h
	maxValue = 64 << 20 // bytes: far above any variable; a kernel that wants more is not believed
)

// The kernel's questions about names, sys/sysctl.h: CTL_SYSCTL_NAME2OID and
// CTL_SYSCTL_OIDFMT.
var (
	name2OID = MIB{0, 3}
	oidFmt   = MIB{0, 4}
)

// Lookup finds the number of a name.
func Lookup(name string) (MIB, error) {
	mib := make([]int32, maxMIB)
	size := uintptr(len(mib) * 4)
	if name == "" {
		return nil, fmt.Errorf("sysctl %q: %w", name, os.ErrNotExist)
	}
	if err := call(name2OID, unsafe.Pointer(&mib[0]), &size, []byte(name)); err != nil {
		return nil, fmt.Errorf("sysctl %s: %w", name, err)
	}
	return mib[:size/4], nil
}

// Read reads the variable into buf, which grows when it is too small, and returns
// the bytes read.
func (m MIB) Read(buf []byte) ([]byte, error) {
	buf = buf[:cap(buf)]
	for {
		size := uintptr(len(buf))
		var at unsafe.Pointer
		if size > 0 {
			at = unsafe.Pointer(&buf[0])
		}
		err := call(m, at, &size, nil)
		switch {
		case err == nil && at != nil:
			return buf[:size], nil
		case err == nil && size == 0:
			return buf[:0], nil
		case err == nil:
			// Without room the kernel tells the size; leave some for what grows meanwhile.
			buf = make([]byte, size+size/8)
		case errors.Is(err, unix.ENOMEM) && len(buf) < maxValue:
			buf = make([]byte, 2*len(buf)+64)
		default:
			return nil, fmt.Errorf("sysctl %v: %w", []int32(m), err)
		}
	}
}

// Read reads the variable of that name.
func Read(name string) ([]byte, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	b, err := m.Read(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// Write sets the variable of that name.
func Write(name string, value []byte) error {
	m, err := Lookup(name)
	if err != nil {
		return err
	}
	if err := call(m, nil, nil, value); err != nil {
		return fmt.Errorf("sysctl %s: %w", name, err)
	}
	return nil
}

// Kind tells the type of a variable as parsers/bsd's ParseSysctlType reads it.
func Kind(name string) ([]byte, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return append(append(MIB{}, oidFmt...), m...).Read(make([]byte, 256))
}

// IfData is the number of an interface's counters (struct ifmibdata) by its index:
// net.link.generic.ifdata.INDEX.1.
func IfData(index int) MIB { return ifMIB(index, 1) }

// Device is the driver's own name of an interface by its index, "em" and 4, which
// stays when the interface is renamed. ok is false for an interface without.
func Device(index int) (driver string, unit int, ok bool) {
	b, err := ifMIB(index, 3).Read(nil)
	if err != nil {
		return "", 0, false
	}
	return bsd.ParseDriverName(b)
}

// ifMIB is the number of a row (IFDATA_* of net/if_mib.h) of an interface.
func ifMIB(index, row int) MIB {
	const generic, ifData = 0, 2
	return MIB{unix.CTL_NET, unix.AF_LINK, generic, ifData, int32(index), int32(row)}
}

// call is __sysctl(2).
func call(m MIB, old unsafe.Pointer, size *uintptr, value []byte) error {
	var at unsafe.Pointer
	if len(value) > 0 {
		at = unsafe.Pointer(&value[0])
	}
	_, _, errno := unix.Syscall6(unix.SYS___SYSCTL, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)),
		uintptr(old), uintptr(unsafe.Pointer(size)), uintptr(at), uintptr(len(value)))
	runtime.KeepAlive(value)
	if errno != 0 {
		return errno
	}
	return nil
}
