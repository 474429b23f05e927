package linux

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files are what a Linux 6.18 (x86, little-endian) answered; *-ss.txt and
// *-iplink.txt are what ss -tine and ip -s -d link said of the same moment, and
// the expected values below are read from them.
func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func needLittleEndian(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the captured bytes are little-endian, this machine is not")
	}
}

// sockets decodes a whole dump.
func sockets(t *testing.T, b []byte) []Socket {
	t.Helper()
	var list []Socket
	for len(b) > 0 {
		m, rest, err := NextMessage(b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		if m.Type == TypeDone {
			continue
		}
		s, err := ParseSocket(m, "bbr")
		if err != nil {
			t.Fatal(err)
		}
		s.ID = SockID{}
		list = append(list, s)
	}
	return list
}

func TestParseSocket(t *testing.T) {
	needLittleEndian(t)
	addr := netip.MustParseAddrPort
	v4 := Socket{Family: FamilyIPv4, State: StateEstablished, Local: addr("10.77.0.1:48278"), Remote: addr("10.77.0.2:5201"),
		CC: "bbr", HasInfo: true, Info: TCPInfo{SndMSS: 1448, RTT: 141, RTTVar: 166, Ssthresh: 164, Cwnd: 794,
			BytesAcked: 3000001, BytesReceived: 777, HasBytes: true}}
	v6 := Socket{Family: FamilyIPv6, State: StateEstablished, Local: addr("[fd77::1]:36070"), Remote: addr("[fd77::2]:5201"),
		CC: "bbr", HasInfo: true, Info: TCPInfo{SndMSS: 1428, RTT: 72, RTTVar: 45, Ssthresh: ssthreshUnset, Cwnd: 25,
			BytesAcked: 20001, BytesReceived: 777, HasBytes: true}}
	v6Peer := Socket{Family: FamilyIPv6, State: StateEstablished, Local: addr("[fd77::2]:5201"), Remote: addr("[fd77::1]:36070"),
		CC: "bbr", HasInfo: true, Info: TCPInfo{SndMSS: 1428, RTT: 21, RTTVar: 12, Ssthresh: ssthreshUnset, Cwnd: 11,
			BytesAcked: 777, BytesReceived: 20000, HasBytes: true}}
	// Accepted by a socket of both families: the kernel says ::ffff:10.77.0.2.
	mapped := Socket{Family: FamilyIPv6, State: StateEstablished, Local: addr("10.77.0.2:5201"), Remote: addr("10.77.0.1:48278"),
		CC: "bbr", HasInfo: true, Info: TCPInfo{SndMSS: 1448, RTT: 32, RTTVar: 18, Ssthresh: ssthreshUnset, Cwnd: 11,
			BytesAcked: 777, BytesReceived: 3000000, HasBytes: true}}
	for _, c := range []struct {
		file string
		want []Socket
	}{
		{"client-diag-all.bin", []Socket{v4, v6}},
		{"client-diag-v4.bin", []Socket{v4}},
		{"server-diag-all.bin", []Socket{v6Peer, mapped}},
		{"server-diag-v6.bin", []Socket{v6Peer, mapped}},
	} {
		t.Run(c.file, func(t *testing.T) {
			got := map[netip.AddrPort]Socket{}
			for _, s := range sockets(t, load(t, c.file)) {
				got[s.Local] = s
			}
			want := map[netip.AddrPort]Socket{}
			for _, s := range c.want {
				want[s.Local] = s
			}
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTCPInfoUnits(t *testing.T) {
	i := TCPInfo{SndMSS: 1448, Cwnd: 794, Ssthresh: 164, Unacked: 10, Sacked: 2, Lost: 3, Retrans: 1}
	if got := i.CwndBytes(); got != 794*1448 {
		t.Errorf("cwnd %d", got)
	}
	if got, ok := i.SsthreshBytes(); !ok || got != 164*1448 {
		t.Errorf("ssthresh %d %v", got, ok)
	}
	if got := i.InflightBytes(); got != (10-2-3+1)*1448 {
		t.Errorf("inflight %d", got)
	}
	if _, ok := (TCPInfo{Ssthresh: 0x7fffffff}).SsthreshBytes(); ok {
		t.Error("an unset ssthresh was told")
	}
	if got := (TCPInfo{SndMSS: 1, Unacked: 1, Sacked: 2}).InflightBytes(); got != 0 {
		t.Errorf("inflight below zero became %d", got)
	}
}

func TestParseTCPInfoOfOlderKernels(t *testing.T) {
	needLittleEndian(t)
	b := make([]byte, 200)
	b[80], b[120] = 10, 99
	for _, c := range []struct {
		name  string
		len   int
		bytes bool
		err   error
	}{
		{"2.6", 104, false, nil},
		{"4.1", 136, true, nil},
		{"later", 200, true, nil},
		{"cut short", 103, false, ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, err := parseTCPInfo(b[:c.len])
			if !errors.Is(err, c.err) || i.HasBytes != c.bytes {
				t.Errorf("got %+v, %v", i, err)
			}
		})
	}
}

func TestParseLink(t *testing.T) {
	needLittleEndian(t)
	m, rest, err := NextMessage(load(t, "client-link.bin"))
	if err != nil || len(rest) != 0 {
		t.Fatal(err, len(rest))
	}
	got, err := ParseLink(m)
	if err != nil {
		t.Fatal(err)
	}
	// UP,LOWER_UP of the text, with IFF_RUNNING behind "state UP".
	if !got.Up() {
		t.Errorf("flags %#x are not up", got.Flags)
	}
	got.Flags = 0
	want := Link{Index: 2, Name: "veth0", MTU: 1500, Kind: "veth", Lower: 2, HasStats: true, Stats: LinkStats{
		RxOctets: 132915, RxPackets: 1980, TxOctets: 153332202, TxPackets: 3543}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A link on others: the attributes are written here as linux/if_link.h has them.
func TestParseLinkOnOthers(t *testing.T) {
	needLittleEndian(t)
	attr := func(kind uint16, value ...byte) []byte {
		b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
		b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
		return append(b, make([]byte, (4-len(b)%4)%4)...)
	}
	word := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
	tag := attr(1, binary.NativeEndian.AppendUint16(nil, 100)...)             // IFLA_VLAN_ID
	info := append(attr(1, []byte("vlan\x00")...), attr(2|0x8000, tag...)...) // IFLA_INFO_KIND, nested IFLA_INFO_DATA
	data := make([]byte, 16)
	data[4] = 9
	for _, a := range [][]byte{attr(3, []byte("eth0.100\x00")...), attr(5, word(2)...), attr(10, word(7)...), attr(18, info...)} {
		data = append(data, a...)
	}
	got, err := ParseLink(Message{Type: TypeNewLink, Data: data})
	want := Link{Index: 9, Name: "eth0.100", Kind: "vlan", Lower: 2, Master: 7, VLAN: 100}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	cut := append([]byte(nil), data...)
	cut[len(cut)-len(info)] = 200 // a kind longer than what holds it
	if _, err := ParseLink(Message{Type: TypeNewLink, Data: cut}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestLinkUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags uint32
		want  bool
	}{
		{"up and running", 0x1 | 0x40, true},
		{"no carrier", 0x1, false},
		{"set down", 0x40, false},
	} {
		if got := (Link{Flags: c.flags}).Up(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestErrno(t *testing.T) {
	needLittleEndian(t)
	m, _, err := NextMessage(load(t, "client-nolink.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if errno, ok := m.Errno(); !ok || errno != 19 { // ENODEV
		t.Errorf("errno %d %v", errno, ok)
	}
	if _, ok := (Message{Type: TypeNewLink, Data: make([]byte, 8)}).Errno(); ok {
		t.Error("a link has no error number")
	}
}

func TestRequests(t *testing.T) {
	needLittleEndian(t)
	b := LinkRequest(nil, 7, "eth0")
	// nlmsghdr 16, ifinfomsg 16, attribute 4 + "eth0\0" padded to 8.
	want := append([]byte{44, 0, 0, 0, 18, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 16)...)
	want = append(want, 9, 0, 3, 0, 'e', 't', 'h', '0', 0, 0, 0, 0)
	if d := cmp.Diff(want, b); d != "" {
		t.Error(d)
	}
	for name, c := range map[string]struct {
		got  []byte
		len  int
		kind byte
	}{
		"dump of one family": {DiagDump(nil, 1, FamilyIPv6), 16 + 56, 20}, // inet_diag_req_v2
		"exact":              {DiagExact(nil, 1, FamilyIPv4, SockID{}), 16 + 56, 20},
		"dump of both":       {DiagDumpAll(nil, 1), 16 + 60, 18}, // inet_diag_req
	} {
		if len(c.got) != c.len || int(c.got[0]) != c.len || c.got[4] != c.kind {
			t.Errorf("%s: %d bytes, header %v", name, len(c.got), c.got[:16])
		}
	}
}

func TestBadMessages(t *testing.T) {
	needLittleEndian(t)
	link := load(t, "client-link.bin")
	diag := load(t, "client-diag-v4.bin")
	for _, c := range []struct {
		name string
		try  func() error
	}{
		{"empty", func() error { _, _, err := NextMessage(nil); return err }},
		{"length past the end", func() error { _, _, err := NextMessage(link[:100]); return err }},
		{"length below a header", func() error { _, _, err := NextMessage(make([]byte, 32)); return err }},
		{"link type", func() error { _, err := ParseLink(Message{Type: 3}); return err }},
		{"short link", func() error { _, err := ParseLink(Message{Type: TypeNewLink, Data: make([]byte, 8)}); return err }},
		{"cut attribute", func() error {
			_, err := ParseLink(Message{Type: TypeNewLink, Data: link[16 : len(link)-2]})
			return err
		}},
		{"short statistics", func() error { _, err := parseLinkStats(make([]byte, 100)); return err }},
		{"socket type", func() error { _, err := ParseSocket(Message{Type: 3}, ""); return err }},
		{"short socket", func() error { _, err := ParseSocket(Message{Type: 20, Data: diag[16:40]}, ""); return err }},
		{"cut tcp_info", func() error { _, err := ParseSocket(Message{Type: 20, Data: diag[16:200]}, ""); return err }},
		{"unknown family", func() error { _, err := ParseSocket(Message{Type: 20, Data: make([]byte, 72)}, ""); return err }},
	} {
		if err := c.try(); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzMessages(f *testing.F) {
	for _, name := range []string{"client-link.bin", "client-diag-all.bin", "server-diag-v6.bin", "client-nolink.bin"} {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			m, rest, err := NextMessage(b)
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Fatal(err)
				}
				return
			}
			if len(rest) >= len(b) {
				t.Fatal("no progress")
			}
			b = rest
			m.Errno()
			if _, err := ParseLink(m); err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			if _, err := ParseSocket(m, "cubic"); err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
		}
	})
}
