package knobs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"netwatch/sources"
)

// A driver answers ethtool's requests in the bytes of linux/ethtool.h: it has two
// structures, and rounds hold-offs down to steps of 4 microseconds.
type driver struct {
	moderation [23]uint32 // struct ethtool_coalesce
	pause      [4]uint32  // struct ethtool_pauseparam
	err        error
}

// The commands of linux/ethtool.h.
const (
	getCoalesce, setCoalesce = 0x0e, 0x0f
	getPause, setPause       = 0x12, 0x13
)

func (d *driver) ask(request []byte) error {
	if d.err != nil {
		return d.err
	}
	words := d.moderation[:]
	command := binary.NativeEndian.Uint32(request)
	switch command {
	case getPause, setPause:
		words = d.pause[:]
	case getCoalesce, setCoalesce:
	default:
		return unix.EOPNOTSUPP
	}
	if len(request) != 4*len(words) {
		return unix.EFAULT
	}
	for i := range words[1:] {
		at := request[4*(i+1):]
		if command == getPause || command == getCoalesce {
			binary.NativeEndian.PutUint32(at, words[i+1])
		} else {
			words[i+1] = binary.NativeEndian.Uint32(at)
		}
	}
	for _, i := range []int{1, 5} { // rx_coalesce_usecs, tx_coalesce_usecs
		d.moderation[i] &^= 3
	}
	return nil
}

func cardList(d *driver, locked string) []sources.Knob {
	return list("eth0", &ethtoolCard{iface: "eth0", ask: d.ask}, newFake(), locked)
}

// Each knob changes its word and no other; what the card made of it is told apart
// from what was asked, and put back.
func TestCardKnobs(t *testing.T) {
	var found driver
	for i := range found.moderation {
		found.moderation[i] = uint32(100 + 4*i)
	}
	found.moderation[10] = 0 // use_adaptive_rx_coalesce
	found.pause = [4]uint32{0, 1, 1, 0}
	for _, c := range []struct {
		knob, start, ask, granted string
		want                      func(*driver)
	}{
		{"aim", "off", "on", "on", func(d *driver) { d.moderation[10] = 1 }},
		{"rx-usecs", "104", "50", "48", func(d *driver) { d.moderation[1] = 48 }},
		{"tx-usecs", "120", "0", "0", func(d *driver) { d.moderation[5] = 0 }},
		{"fc", "rx", "off", "off", func(d *driver) { d.pause = [4]uint32{0, 1, 0, 0} }},
		{"fc", "rx", "tx", "tx", func(d *driver) { d.pause = [4]uint32{0, 1, 0, 1} }},
		{"fc", "rx", "on", "on", func(d *driver) { d.pause = [4]uint32{0, 1, 1, 1} }},
	} {
		t.Run(c.knob+" "+c.ask, func(t *testing.T) {
			d, want := found, found
			l := &log{}
			b := New(l, cardList(&d, "")...)
			turn(t, b, c.knob, c.ask)
			l.expect(t, fmt.Sprintf("knob-turning %s %s>%s>", c.knob, c.start, c.ask),
				fmt.Sprintf("knob-turned %s %s>%s>%s", c.knob, c.start, c.ask, c.granted))
			c.want(&want)
			if !slices.Equal(d.moderation[1:], want.moderation[1:]) || !slices.Equal(d.pause[1:], want.pause[1:]) {
				t.Errorf("got %v, want %v", d, want)
			}
			if err := b.Restore(t.Context()); err != nil || !slices.Equal(d.moderation[1:], found.moderation[1:]) || !slices.Equal(d.pause[1:], found.pause[1:]) {
				t.Errorf("%v: %v, want %v", err, d, found)
			}
		})
	}
}

func TestWordsOfCardKnobs(t *testing.T) {
	b := New(&log{}, cardList(&driver{}, NeedsRoot)...)
	for _, c := range []struct {
		knob, value string
		want        error
	}{
		{"rx-usecs", "50", nil}, {"rx-usecs", "4294967295", nil}, {"rx-usecs", "4294967296", ErrValue},
		{"tx-usecs", "-1", ErrValue}, {"tx-usecs", "fast", ErrValue}, {"rx-usecs", "", ErrValue},
		{"fc", "rx", nil}, {"fc", "full", ErrValue}, {"aim", "2", ErrValue},
	} {
		if err := b.Check(c.knob, c.value); !errors.Is(err, c.want) {
			t.Errorf("%s=%s: %v, want %v", c.knob, c.value, err, c.want)
		}
	}
	for _, name := range []string{"aim", "rx-usecs", "tx-usecs", "fc"} {
		if k := byName(cardList(&driver{}, NeedsRoot), name); k.Spec().Locked != NeedsRoot {
			t.Errorf("%s as a user: %+v", name, k.Spec())
		}
		gone := byName(cardList(&driver{err: unix.ENODEV}, ""), name)
		if _, err := gone.Get(t.Context()); !errors.Is(err, unix.ENODEV) || gone.Spec().Locked != "no such device" {
			t.Errorf("%s of a card that is gone: %v, %+v", name, err, gone.Spec())
		}
	}
}

// A card that sums IPv4 and IPv6 each by itself has a word for each.
func TestSumsOfACard(t *testing.T) {
	for _, c := range []struct {
		generic bool
		want    []string
	}{{true, []string{"tx-checksum-ip-generic"}}, {false, []string{"tx-checksum-ipv4", "tx-checksum-ipv6"}}} {
		rows := sums(sumCard{generic: c.generic})
		if tx := rows[0]; tx.name != "txcsum" || !slices.Equal(tx.features, c.want) || len(tx.parts) != len(c.want) {
			t.Errorf("%+v", tx)
		}
	}
}

type sumCard struct {
	card
	generic bool
}

func (c sumCard) switches([]string) switches {
	if c.generic {
		return fakeSwitches{}
	}
	return nothingOn{}
}

type nothingOn struct{ fakeSwitches }

func (nothingOn) get() (on, can uint32, err error) { return 0, 0, nil }
