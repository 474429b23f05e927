package sysctl

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostMembers is the room for the members of a lagg or bridge.
const mostMembers = 32

// Structures of 64-bit FreeBSD 12 to 15. Buffers hang on them as pointers, so that
// they stay where they are told to be.
type (
	ifName [unix.IFNAMSIZ]byte

	ifReq struct { // struct ifreq with ifr_data, net/if.h
		name ifName
		data unsafe.Pointer
		_    [8]byte
	}
	laggReqAll struct { // net/if_lagg.h
		name  ifName
		proto uint32
		size  uint64
		port  unsafe.Pointer
		ports int32
		_     [36]byte // ra_psc
	}
	ifDrv struct { // net/if.h
		name ifName
		cmd  uint64
		size uint64
		data unsafe.Pointer
	}
	ifbIfConf struct { // net/if_bridgevar.h
		size uint32
		req  unsafe.Pointer
	}
)

const (
	vlanReqLen    = 20         // struct vlanreq, net/if_vlan_var.h
	getLagg       = 0xc050698f // SIOCGLAGG: _IOWR('i', 143, struct lagg_reqall)
	laggPortLen   = 72         // struct lagg_reqport
	bridgeMembers = 6          // BRDGGIFS, net/if_bridgevar.h
	bridgeReqLen  = 80         // struct ifbreq
)

// Vlan asks for the parent of a vlan(4): struct vlanreq, for bsd.ParseVlan. Another
// interface gives an error.
func Vlan(iface string) ([]byte, error) {
	out := make([]byte, vlanReqLen)
	request := ifReq{name: nameOf(iface), data: unsafe.Pointer(&out[0])}
	return out, ioctl(unix.SIOCGIFGENERIC, unsafe.Pointer(&request)) // SIOCGETVLAN
}

// Lagg asks for the ports of a lagg(4): struct lagg_reqall and the room for them,
// for bsd.ParseLagg.
func Lagg(iface string) (all, ports []byte, err error) {
	ports = make([]byte, mostMembers*laggPortLen)
	request := &laggReqAll{name: nameOf(iface), size: uint64(len(ports)), port: unsafe.Pointer(&ports[0])}
	err = ioctl(getLagg, unsafe.Pointer(request))
	return unsafe.Slice((*byte)(unsafe.Pointer(request)), unsafe.Sizeof(*request)), ports, err
}

// Bridge asks for the members of a bridge(4): an array of struct ifbreq, for
// bsd.ParseBridge.
func Bridge(iface string) ([]byte, error) {
	out := make([]byte, mostMembers*bridgeReqLen)
	list := ifbIfConf{size: uint32(len(out)), req: unsafe.Pointer(&out[0])}
	request := ifDrv{name: nameOf(iface), cmd: bridgeMembers, size: uint64(unsafe.Sizeof(list)), data: unsafe.Pointer(&list)}
	if err := ioctl(unix.SIOCGDRVSPEC, unsafe.Pointer(&request)); err != nil {
		return nil, err
	}
	return out[:min(int(list.size), len(out))/bridgeReqLen*bridgeReqLen], nil
}

func nameOf(iface string) (n ifName) {
	copy(n[:len(n)-1], iface)
	return n
}

func ioctl(request uintptr, arg unsafe.Pointer) error {
	fd, err := unix.Socket(unix.AF_LOCAL, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return os.NewSyscallError("ioctl", errno)
	}
	return nil
}
