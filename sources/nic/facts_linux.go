package nic

import (
	"encoding/binary"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"netwatch/sources/ethtool"
)

// Describe tells the facts of an interface. It fails only when there is no such
// interface; a driver that tells little leaves fields empty.
func Describe(iface string) (Facts, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return Facts{}, fmt.Errorf("%s: %w", iface, errGone)
	}
	f := Facts{Name: iface, MTU: i.MTU, Addrs: prefixes(i), Up: i.Flags&net.FlagRunning != 0}
	card, err := ethtool.Open(iface)
	if err != nil {
		return f, nil
	}
	defer card.Close()
	if d, err := card.Info(); err == nil {
		f.Driver, f.Device = unix.ByteSliceToString(d.Driver[:]), unix.ByteSliceToString(d.Bus_info[:])
		if firmware := unix.ByteSliceToString(d.Fw_version[:]); firmware != "" {
			f.Description = "firmware " + firmware
		}
	}
	f.Speed, f.Media = linkOf(card)
	f.Kind, f.Over = below(iface)
	return f, nil
}

// linkOf asks for the speed by struct ethtool_cmd (linux/ethtool.h), which every
// kernel still answers.
func linkOf(card *ethtool.Card) (bits uint64, media string) {
	const speedAt, duplexAt, speedHighAt = 12, 14, 28
	request := make([]byte, 44)
	binary.NativeEndian.PutUint32(request, unix.ETHTOOL_GSET)
	if card.Ask(request) != nil {
		return 0, ""
	}
	low, high := binary.NativeEndian.Uint16(request[speedAt:]), binary.NativeEndian.Uint16(request[speedHighAt:])
	return linkSpeed(uint32(high)<<16|uint32(low), request[duplexAt])
}

// linkSpeed reads ethtool's speed in Mbit/s, where SPEED_UNKNOWN is all ones (in
// 32 bits, or in 16 of older drivers), and its duplex (0 half, 1 full, 0xff unknown).
func linkSpeed(mbits uint32, duplex uint8) (bits uint64, media string) {
	if mbits == 0 || mbits == 0xffff || mbits == 0xffffffff {
		return 0, ""
	}
	media = fmt.Sprintf("%d Mbit/s", mbits)
	switch duplex {
	case 0:
		media += " half-duplex"
	case 1:
		media += " full-duplex"
	}
	return uint64(mbits) * 1e6, media
}
