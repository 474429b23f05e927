package nic

import (
	"bytes"
	"encoding/binary"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An ethtool asks one interface's driver for its statistics by ioctl.
type ethtool struct {
	iface  string
	fd     int
	driver ethtoolDriver
	count  uint32 // statistics the driver has, as far as known
	places []place
	buf    []byte
}

func openEthtool(iface string) (*ethtool, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return &ethtool{iface: iface, fd: fd}, nil
}

func (e *ethtool) close() error { return unix.Close(e.fd) }

// find asks which driver it is: at the start and for another interface of the name.
func (e *ethtool) find() {
	e.driver, e.count, e.places = ethtoolDriver{}, 0, nil
	if d, err := unix.IoctlGetEthtoolDrvinfo(e.fd, e.iface); err == nil {
		e.driver = ethtoolDriverOf(unix.ByteSliceToString(d.Driver[:]))
	}
}

const (
	statsSet     = 1    // ETH_SS_STATS of linux/ethtool.h
	nameLen      = 32   // ETH_GSTRING_LEN
	mostStats    = 8192 // more is taken for rubbish
	statsAt      = 8    // where the numbers begin in struct ethtool_stats
	namesAt      = 12   // where the names begin in struct ethtool_gstrings
	spareOfStats = 4096 // the kernel writes as many as the driver has at that moment
)

// read reads the driver's counters into g. A driver that says nothing leaves it
// empty. The number of statistics moves with the queues, and the kernel copies
// as many as there are, so it is asked for before each reading.
func (e *ethtool) read(g *group) {
	g.reset()
	if len(e.driver.stats) == 0 {
		return
	}
	count, err := e.stats()
	if err != nil || count == 0 || count > mostStats {
		return
	}
	if count != e.count {
		if e.places, err = e.names(count); err != nil {
			return
		}
		e.count = count
	}
	if len(e.places) == 0 {
		return
	}
	if need := statsAt + int(count+spareOfStats)*8; len(e.buf) < need {
		e.buf = make([]byte, need)
	}
	binary.NativeEndian.PutUint32(e.buf, unix.ETHTOOL_GSTATS)
	binary.NativeEndian.PutUint32(e.buf[4:], count)
	if e.ioctl(e.buf) != nil || binary.NativeEndian.Uint32(e.buf[4:]) != count {
		return
	}
	for _, p := range e.places {
		g.add(p.metric, binary.NativeEndian.Uint64(e.buf[statsAt+p.index*8:]))
	}
}

// stats asks how many statistics the driver has.
func (e *ethtool) stats() (uint32, error) {
	info := make([]byte, 16+4) // struct ethtool_sset_info
	binary.NativeEndian.PutUint32(info, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<statsSet)
	err := e.ioctl(info)
	return binary.NativeEndian.Uint32(info[16:]), err
}

func (e *ethtool) names(count uint32) ([]place, error) {
	b := make([]byte, namesAt+(count+spareOfStats)*nameLen)
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(b[4:], statsSet)
	binary.NativeEndian.PutUint32(b[8:], count)
	if err := e.ioctl(b); err != nil {
		return nil, err
	}
	list := make([]string, count)
	for i := range list {
		name, _, _ := bytes.Cut(b[namesAt+i*nameLen:][:nameLen], []byte{0})
		list[i] = string(name)
	}
	return e.driver.places(list), nil
}

// ioctl hands request, a structure of linux/ethtool.h that begins with its
// command, to the driver, which answers in place.
func (e *ethtool) ioctl(request []byte) error { return ethtoolIoctl(e.fd, e.iface, request) }

func ethtoolIoctl(fd int, iface string, request []byte) error {
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of struct ifreq
	}
	copy(ifr.name[:len(ifr.name)-1], iface)
	ifr.data = unsafe.Pointer(&request[0])
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr))); errno != 0 {
		return os.NewSyscallError("ethtool "+iface, errno)
	}
	return nil
}
