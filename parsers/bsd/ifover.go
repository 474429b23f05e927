package bsd

import "fmt"

// Sizes and places of what the kernel says of interfaces that lie on others, on
// 64-bit FreeBSD 12 to 15.
const (
	vlanReqLen   = 20 // struct vlanreq, net/if_vlan_var.h
	laggReqLen   = 80 // struct lagg_reqall, net/if_lagg.h
	laggPortsAt  = 40 // ra_ports, how many there are
	laggPortLen  = 72 // struct lagg_reqport
	laggNameAt   = 16 // rp_portname
	bridgeReqLen = 80 // struct ifbreq, net/if_bridgevar.h
)

// ParseVlan reads struct vlanreq, the answer to SIOCGETVLAN: the interface that
// carries the vlan, "" when none does, and its tag.
func ParseVlan(b []byte) (parent string, tag int, err error) {
	if len(b) < vlanReqLen {
		return "", 0, fmt.Errorf("vlanreq: %d bytes, want %d: %w", len(b), vlanReqLen, ErrFormat)
	}
	return cString(b[:ifNameSize]), int(order.Uint16(b[ifNameSize:])), nil
}

// ParseLagg reads struct lagg_reqall, the answer to SIOCGLAGG, and the array of
// struct lagg_reqport it points to.
func ParseLagg(all, ports []byte) (members []string, err error) {
	if len(all) < laggReqLen {
		return nil, fmt.Errorf("lagg_reqall: %d bytes, want %d: %w", len(all), laggReqLen, ErrFormat)
	}
	n := order.Uint32(all[laggPortsAt:])
	if room := len(ports) / laggPortLen; n > uint32(room) {
		n = uint32(room)
	}
	return namesIn(ports, int(n), laggPortLen, laggNameAt), nil
}

// ParseBridge reads the answer to BRDGGIFS, an array of struct ifbreq.
func ParseBridge(b []byte) (members []string, err error) {
	if len(b)%bridgeReqLen != 0 {
		return nil, fmt.Errorf("ifbreq: %d bytes are no multiple of %d: %w", len(b), bridgeReqLen, ErrFormat)
	}
	return namesIn(b, len(b)/bridgeReqLen, bridgeReqLen, 0), nil
}

// namesIn reads the interface name at a place in each of n records.
func namesIn(b []byte, n, size, at int) (list []string) {
	for i := range n {
		if name := cString(b[i*size+at:][:ifNameSize]); name != "" {
			list = append(list, name)
		}
	}
	return list
}
