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
	bits  map[string]uint // the place of each feature in the kernel's bitmap
	// ask hands a request to the driver: a structure of linux/ethtool.h that begins
	// with its command, answered in place.
	ask func(request []byte) error
}

func openEthtool(iface string) (*ethtoolCard, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c := &ethtoolCard{iface: iface, ask: func(request []byte) error { return ethtool(fd, iface, request) }}
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
	if err := c.ask(info); err != nil {
		return nil, err
	}
	count := min(binary.NativeEndian.Uint32(info[16:]), sanityMost)
	strings := make([]byte, 12+count*nameLen)
	binary.NativeEndian.PutUint32(strings, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(strings[4:], features)
	binary.NativeEndian.PutUint32(strings[8:], count)
	if err := c.ask(strings); err != nil {
		return nil, err
	}
	bits := map[string]uint{}
	for i := range uint(count) {
		name, _, _ := bytes.Cut(strings[12+i*nameLen:][:nameLen], []byte{0})
		bits[string(name)] = i
	}
	return bits, nil
}

func ethtool(fd int, iface string, request []byte) error {
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of struct ifreq
	}
	copy(ifr.name[:len(ifr.name)-1], iface)
	ifr.data = unsafe.Pointer(&request[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	if errno != 0 {
		return os.NewSyscallError("ethtool "+iface, errno)
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
	if err := s.card.ask(request); err != nil {
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
	return s.card.ask(request)
}

// Words of struct ethtool_coalesce, which is 23 of them.
const (
	coalesceWords = 23
	rxUsecs       = 1
	txUsecs       = 5
	adaptiveRx    = 10
)

func (c *ethtoolCard) coalesce(word int) (uint32, error) {
	all, err := c.words(unix.ETHTOOL_GCOALESCE, coalesceWords)
	return all[word], err
}

// setCoalesce gives the other words back as the driver told them.
func (c *ethtoolCard) setCoalesce(word int, value uint32) error {
	all, err := c.words(unix.ETHTOOL_GCOALESCE, coalesceWords)
	if err != nil {
		return err
	}
	all[word] = value
	return c.setWords(unix.ETHTOOL_SCOALESCE, all)
}

// Words of struct ethtool_pauseparam, which is four of them; the one between is
// whether it is negotiated with the other end.
const (
	pauseWords = 4
	rxPause    = 2
	txPause    = 3
)

func (c *ethtoolCard) pause() (rx, tx bool, err error) {
	all, err := c.words(unix.ETHTOOL_GPAUSEPARAM, pauseWords)
	return all[rxPause] != 0, all[txPause] != 0, err
}

// setPause leaves it to be negotiated where it is.
func (c *ethtoolCard) setPause(rx, tx bool) error {
	all, err := c.words(unix.ETHTOOL_GPAUSEPARAM, pauseWords)
	if err != nil {
		return err
	}
	all[rxPause], all[txPause] = flag(rx), flag(tx)
	return c.setWords(unix.ETHTOOL_SPAUSEPARAM, all)
}

func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// words asks for a structure of n words, of which the first is the command.
func (c *ethtoolCard) words(command uint32, n int) ([]uint32, error) {
	request := make([]byte, 4*n)
	binary.NativeEndian.PutUint32(request, command)
	err := c.ask(request)
	all := make([]uint32, n)
	for i := range all {
		all[i] = binary.NativeEndian.Uint32(request[4*i:])
	}
	return all, err
}

func (c *ethtoolCard) setWords(command uint32, all []uint32) error {
	all[0] = command
	request := make([]byte, 0, 4*len(all))
	for _, w := range all {
		request = binary.NativeEndian.AppendUint32(request, w)
	}
	return c.ask(request)
}
