package nic

import (
	"fmt"
	"net"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// Describe tells the facts of an interface. It fails only when there is no such
// interface; a driver that tells little leaves fields empty.
func Describe(iface string) (Facts, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return Facts{}, fmt.Errorf("%s: %w", iface, errGone)
	}
	f := Facts{Name: iface, MTU: i.MTU, Addrs: prefixes(i)}
	if b, err := sysctl.IfData(i.Index).Read(nil); err == nil {
		if m, err := bsd.ParseIfMIB(b); err == nil {
			f.Speed, f.Up = m.Data.Baudrate, m.Up()
		}
	}
	if name, unit, ok := sysctl.Device(i.Index); ok {
		f.Driver, f.Device = name, fmt.Sprintf("%s%d", name, unit)
		if b, err := sysctl.Read(fmt.Sprintf("dev.%s.%d.%%desc", name, unit)); err == nil {
			f.Description = strings.TrimRight(string(b), "\x00")
		}
	}
	f.Media = media(iface)
	f.Kind, f.Over = below(i)
	return f, nil
}

// below asks what the interface lies on. Each question is put to drivers of its
// own kind only: others may take it for another one.
func below(i *net.Interface) (kind string, over []string) {
	driver, _, _ := sysctl.Device(i.Index)
	switch driver {
	case "vlan":
		if b, err := sysctl.Vlan(i.Name); err == nil {
			if parent, tag, err := bsd.ParseVlan(b); err == nil && parent != "" {
				return fmt.Sprintf("vlan %d", tag), []string{parent}
			}
		}
	case "lagg":
		if all, ports, err := sysctl.Lagg(i.Name); err == nil {
			over, _ = bsd.ParseLagg(all, ports)
		}
	case "bridge":
		if b, err := sysctl.Bridge(i.Name); err == nil {
			over, _ = bsd.ParseBridge(b)
		}
	default:
		return "", nil
	}
	return driver, over
}

// media asks the driver for the active medium; "" where it has none (lo0).
func media(iface string) string {
	fd, err := unix.Socket(unix.AF_LOCAL, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var request [bsd.MediaReqLen]byte
	copy(request[:unix.IFNAMSIZ-1], iface)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCGIFMEDIA, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return ""
	}
	m, err := bsd.ParseMedia(request[:])
	if err != nil {
		return ""
	}
	return m.Name
}
