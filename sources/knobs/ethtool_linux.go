package knobs

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"netwatch/sources/ethtool"
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
	card, err := ethtool.Open(iface)
	if err != nil {
		return nil, err
	}
	c := &ethtoolCard{iface: iface, ask: card.Ask, bits: map[string]uint{}}
	count, err := card.Count(ethtool.Features)
	if err == nil {
		var names []string
		names, err = card.Names(ethtool.Features, count)
		for i, name := range names {
			c.bits[name] = uint(i)
		}
	}
	if err != nil {
		card.Close()
		return nil, err
	}
	return c, nil
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
