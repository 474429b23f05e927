package knobs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources"
	"netwatch/sources/sysctl"
)

// For lists the knobs of an interface of this host. One that the driver does not
// have is in the list, locked with the reason. It holds a socket as long as the
// process lives.
func For(iface string) ([]sources.Knob, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", iface, err)
	}
	fd, err := unix.Socket(unix.AF_LOCAL, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	d := device{iface: iface, caps: ioctlCaps{iface, fd}}
	d.driver, d.unit, _ = sysctl.Device(i.Index)
	var algorithms []string
	if b, err := sysctl.Read("net.inet.tcp.cc.available"); err == nil {
		modules, err := bsd.ParseCCAvailable(b)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			algorithms = append(algorithms, m.Name)
		}
	}
	return freebsdList(d, openVariables(), algorithms, mayTurn()), nil
}

// ioctlCaps asks the driver of one interface.
type ioctlCaps struct {
	iface string
	fd    int
}

func (c ioctlCaps) get() (enabled, supported bsd.Caps, err error) {
	request := bsd.IfReq(c.iface, 0)
	if err := c.ioctl(unix.SIOCGIFCAP, &request); err != nil {
		return 0, 0, err
	}
	return bsd.ParseIfCap(request[:])
}

func (c ioctlCaps) set(want bsd.Caps) error {
	request := bsd.IfReq(c.iface, want)
	return c.ioctl(unix.SIOCSIFCAP, &request)
}

func (c ioctlCaps) ioctl(what uintptr, request *[bsd.IfReqLen]byte) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.fd), what, uintptr(unsafe.Pointer(request)))
	switch errno {
	case 0:
		return nil
	case unix.ENXIO: // the interface is gone
		return fmt.Errorf("%s: %w: %w", c.iface, errno, os.ErrNotExist)
	}
	return fmt.Errorf("%s: %w", c.iface, errno)
}

func openVariables() variables { return kernelVariables{} }

// kernelVariables are sysctls as sysctl(8) prints and takes them. Names are looked up each
// time: a module that is loaded again has other numbers.
type kernelVariables struct{}

func (kernelVariables) get(name string) (string, error) {
	kind, value, err := read(name)
	if err != nil {
		return "", err
	}
	word, err := bsd.Word(kind, value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return printable(word), nil
}

func (kernelVariables) set(name, value string) error {
	kind, old, err := read(name)
	if err != nil {
		return err
	}
	b, err := bsd.AppendWord(nil, kind, len(old), value)
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Join(err, ErrValue))
	}
	if err := sysctl.Write(name, b); err != nil {
		raw, _ := sysctl.Kind(name)
		return refusal(err, raw)
	}
	return nil
}

func read(name string) (bsd.SysctlType, []byte, error) {
	raw, err := sysctl.Kind(name)
	if err != nil {
		return 0, nil, err
	}
	kind, err := bsd.ParseSysctlType(raw)
	if err != nil {
		return 0, nil, err
	}
	value, err := sysctl.Read(name)
	return kind, value, err
}

// mayTurn is "" for root, else the reason for the lock.
func mayTurn() string {
	if os.Geteuid() == 0 {
		return ""
	}
	return NeedsRoot
}
