package nic

import (
	"fmt"
	"net"

	"github.com/safchain/ethtool"
)

// Describe tells the facts of an interface. It fails only when there is no such
// interface; a driver that tells little leaves fields empty.
func Describe(iface string) (Facts, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return Facts{}, fmt.Errorf("%s: %w", iface, errGone)
	}
	f := Facts{Name: iface, MTU: i.MTU, Addrs: prefixes(i), Up: i.Flags&net.FlagRunning != 0}
	e, err := ethtool.NewEthtool()
	if err != nil {
		return f, nil
	}
	defer e.Close()
	if d, err := e.DriverInfo(iface); err == nil {
		f.Driver, f.Device = d.Driver, d.BusInfo
		if d.FwVersion != "" {
			f.Description = "firmware " + d.FwVersion
		}
	}
	// The newer GetLinkSettings of the library prints to stdout.
	var link ethtool.EthtoolCmd
	if _, err := e.CmdGet(&link, iface); err == nil {
		f.Speed, f.Media = linkSpeed(uint32(link.Speed_hi)<<16|uint32(link.Speed), link.Duplex)
	}
	return f, nil
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
