package knobs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtoolCard asks the driver of one interface by ioctl. Its socket stays open as
// long as the process.
type ethtoolCard struct {
	iface string
	fd    int
	bits  map[string]uint // the place of each feature in the kernel's bitmap
}

func openEthtool(iface string) (*ethtoolCard, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c := &ethtoolCard{iface: iface, fd: fd}
	if c.bits, err = c.featureBits(); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return c, nil
}

// featureBits asks for the kernel's names of the features: struct
// ethtool_sset_info tells how many there are, struct ethtool_gstrings their names.
func (c *ethtoolCard) featureBits() (map[string]uint, error) {
	const (
		features   = 4    // ETH_SS_FEATURES
		nameLen    = 32   // ETH_GSTRING_LEN
		sanityMost = 1024 // names; Linux 6 has 64
	)
	info := make([]byte, 16+4)
	binary.NativeEndian.PutUint32(info, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<features)
	if err := c.ioctl(info); err != nil {
		return nil, err
	}
	count := min(binary.NativeEndian.Uint32(info[16:]), sanityMost)
	strings := make([]byte, 12+count*nameLen)
	binary.NativeEndian.PutUint32(strings, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(strings[4:], features)
	binary.NativeEndian.PutUint32(strings[8:], count)
	if err := c.ioctl(strings); err != nil {
		return nil, err
	}
	bits := map[string]uint{}
	for i := range uint(count) {
		name, _, _ := bytes.Cut(strings[12+i*nameLen:][:nameLen], []byte{0})
		bits[string(name)] = i
	}
	return bits, nil
}

// ioctl hands request, a structure of linux/ethtool.h that begins with its
// command, to the driver, which answers in place.
func (c *ethtoolCard) ioctl(request []byte) error {
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of struct ifreq
	}
	copy(ifr.name[:len(ifr.name)-1], c.iface)
	ifr.data = unsafe.Pointer(&request[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	if errno != 0 {
		return os.NewSyscallError("ethtool "+c.iface, errno)
	}
	return nil
}

func (c *ethtoolCard) switches(names []string) switches { return featureSwitches{c, names} }

type featureSwitches struct {
	card  *ethtoolCard
	names []string
}

const maxBlocks = 8 // of 32 features each; Linux 6 has 64 features in two

// get reads struct ethtool_gfeatures.
func (s featureSwitches) get() (on, can uint32, err error) {
	on, can, _, err = s.read()
	return on, can, err
}

// read gets per block the words available, requested, active, never_changed, and
// how many blocks the kernel has: a set must have exactly as many.
func (s featureSwitches) read() (on, can uint32, blocks uint, err error) {
	request := make([]byte, 8+maxBlocks*16)
	binary.NativeEndian.PutUint32(request[0:], unix.ETHTOOL_GFEATURES)
	binary.NativeEndian.PutUint32(request[4:], maxBlocks)
	if err := s.card.ioctl(request); err != nil {
		return 0, 0, 0, err
	}
	blocks = uint(min(binary.NativeEndian.Uint32(request[4:]), maxBlocks))
	for i, name := range s.names {
		bit, ok := s.card.bits[name]
		if !ok || bit >= blocks*32 {
			continue
		}
		has := func(word uint) bool {
			return binary.NativeEndian.Uint32(request[8+bit/32*16+word*4:])>>(bit%32)&1 != 0
		}
		if has(2) {
			on |= 1 << i
		}
		if has(0) && !has(3) {
			can |= 1 << i
		}
	}
	return on, can, blocks, nil
}

// set writes struct ethtool_sfeatures: per block the words valid, requested. Only
// the named features that can be turned are valid in it.
func (s featureSwitches) set(on uint32) error {
	_, can, blocks, err := s.read()
	if err != nil {
		return err
	}
	if on&^can != 0 {
		return fmt.Errorf("%s cannot do %s: %w", s.card.iface, word(s.names, on&^can), unix.EINVAL)
	}
	request := make([]byte, 8+blocks*8)
	binary.NativeEndian.PutUint32(request[0:], unix.ETHTOOL_SFEATURES)
	binary.NativeEndian.PutUint32(request[4:], uint32(blocks))
	for i, name := range s.names {
		if can&(1<<i) == 0 {
			continue
		}
		bit := s.card.bits[name]
		block := request[8+bit/32*8:]
		valid, requested := block[:4], block[4:8]
		mask := uint32(1) << (bit % 32)
		binary.NativeEndian.PutUint32(valid, binary.NativeEndian.Uint32(valid)|mask)
		if on&(1<<i) != 0 {
			binary.NativeEndian.PutUint32(requested, binary.NativeEndian.Uint32(requested)|mask)
		}
	}
	return s.card.ioctl(request)
}

// struct ethtool_coalesce is 23 words; use_adaptive_rx_coalesce is the eleventh.
const (
	coalesceLen = 23 * 4
	adaptiveRx  = 10 * 4
)

func (c *ethtoolCard) coalesce() ([]byte, error) {
	request := make([]byte, coalesceLen)
	binary.NativeEndian.PutUint32(request, unix.ETHTOOL_GCOALESCE)
	return request, c.ioctl(request)
}

func (c *ethtoolCard) adaptive() (bool, error) {
	co, err := c.coalesce()
	return err == nil && binary.NativeEndian.Uint32(co[adaptiveRx:]) != 0, err
}

func (c *ethtoolCard) setAdaptive(on bool) error {
	co, err := c.coalesce()
	if err != nil {
		return err
	}
	var flag uint32
	if on {
		flag = 1
	}
	binary.NativeEndian.PutUint32(co[adaptiveRx:], flag)
	binary.NativeEndian.PutUint32(co, unix.ETHTOOL_SCOALESCE)
	return c.ioctl(co)
}
