package siftr

import "net/netip"

// rssKey is the constant key of the kernel's software hash (FreeBSD 14 and 15,
// sys/net/route/route_ctl.c). A kernel with `options RSS` uses another function.
var rssKey = [40]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// FlowID is the id the kernel gives a TCP connection whose card computes no hash:
// Toeplitz over local address, foreign address, local port, foreign port, the
// protocol and three zero bytes. The two ends of a connection have different
// ids. Once a multipath route was added (net.route.hash_outbound=1) connecting
// sockets get the id of local port 0 instead. A zone of a link-local address must
// be inside the address, as the kernel has it (fe80:2::…).
func FlowID(local, remote netip.AddrPort) uint32 {
	var in [40]byte
	n := copy(in[:], local.Addr().Unmap().AsSlice())
	n += copy(in[n:], remote.Addr().Unmap().AsSlice())
	in[n], in[n+1] = byte(local.Port()>>8), byte(local.Port())
	in[n+2], in[n+3] = byte(remote.Port()>>8), byte(remote.Port())
	in[n+4] = 6 // IPPROTO_TCP
	return toeplitz(in[:n+8])
}

// toeplitz is the XOR of the 32-bit windows of the key that start at the set bits
// of in. As in the kernel, the key is followed by zeros.
func toeplitz(in []byte) uint32 {
	var hash uint32
	for i, b := range in {
		window := uint64(0)
		for k := range 5 {
			window <<= 8
			if i+k < len(rssKey) {
				window |= uint64(rssKey[i+k])
			}
		}
		for bit := range 8 {
			if b&(0x80>>bit) != 0 {
				hash ^= uint32(window >> (8 - bit))
			}
		}
	}
	return hash
}
