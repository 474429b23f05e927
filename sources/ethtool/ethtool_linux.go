package ethtool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Card is an interface whose driver is asked.
type Card struct {
	iface string
	fd    int
}

// Open opens the socket that questions go through. It does not ask yet.
func Open(iface string) (*Card, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return &Card{iface, fd}, nil
}

// Close closes the socket.
func (c *Card) Close() error { return unix.Close(c.fd) }

// Info is struct ethtool_drvinfo.
func (c *Card) Info() (*unix.EthtoolDrvinfo, error) {
	return unix.IoctlGetEthtoolDrvinfo(c.fd, c.iface)
}

// Ask hands the driver a structure that begins with its command, and is answered in place.
func (c *Card) Ask(request []byte) error {
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of struct ifreq
	}
	copy(ifr.name[:len(ifr.name)-1], c.iface)
	ifr.data = unsafe.Pointer(&request[0])
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr))); errno != 0 {
		return os.NewSyscallError("ethtool "+c.iface, errno)
	}
	return nil
}

// Sets of names, ETH_SS_*.
const (
	Statistics uint32 = 1
	Features   uint32 = 4
)

// most is more names than any driver has.
const most = 8192

// Count asks how many names a set has, by struct ethtool_sset_info.
func (c *Card) Count(set uint32) (uint32, error) {
	info := make([]byte, 16+4)
	binary.NativeEndian.PutUint32(info, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<set)
	if err := c.Ask(info); err != nil {
		return 0, err
	}
	n := binary.NativeEndian.Uint32(info[16:])
	if n > most {
		return 0, fmt.Errorf("ethtool %s: %d names are taken for rubbish", c.iface, n)
	}
	return n, nil
}

// Spare is room for as many more entries than were counted: the kernel writes as many
// as the driver has at that moment.
const Spare = 4096

// Names asks for the count names of a set, by struct ethtool_gstrings. It fails when there
// are more or fewer by now: kernels then write all, or none.
func (c *Card) Names(set, count uint32) ([]string, error) {
	const namesAt, nameLen = 12, 32 // ETH_GSTRING_LEN
	b := make([]byte, namesAt+(count+Spare)*nameLen)
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(b[4:], set)
	binary.NativeEndian.PutUint32(b[8:], count)
	if err := c.Ask(b); err != nil {
		return nil, err
	}
	if now := binary.NativeEndian.Uint32(b[8:]); now != count {
		return nil, fmt.Errorf("ethtool %s: %d names, and there were %d", c.iface, now, count)
	}
	list := make([]string, count)
	for i := range list {
		name, _, _ := bytes.Cut(b[namesAt+i*nameLen:][:nameLen], []byte{0})
		list[i] = string(name)
	}
	return list, nil
}
