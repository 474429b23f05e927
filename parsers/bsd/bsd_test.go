package bsd

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// raw, intr, link, meta and pcblist hold what real FreeBSD kernels answered (t0 and t1: the same
// call some seconds apart, while the host sent at 350 Mbit/s over em0); *decoded.txt is
// what another reader made of it, *log.txt and *.txt what else it said. made holds what
// was made in the layout of FreeBSD 14, and what its tools would print of the same.
func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseIfMIB(t *testing.T) {
	for _, c := range []struct {
		file string
		want IfMIB
	}{
		// Expected: the 64-bit words of the files at the offsets of struct if_data.
		{"raw/15.0-t0.net.link.generic.ifdata.em0.1.bin", IfMIB{"em0", 0x8843, IfData{LinkState: LinkUp, MTU: 1500, Baudrate: 1e9,
			RxPackets: 0x81d0, TxPackets: 0x5979, RxOctets: 0x218f7a, TxOctets: 0x1629c4ce, HWAssist: 0x16, Epoch: 1}}},
		{"made/bin_ifmib_general_em4_t0.bin", IfMIB{"em4", 0x8843, IfData{LinkState: LinkUp, MTU: 1500, Baudrate: 1e9,
			RxPackets: 40817733, TxPackets: 24701002, RxOctets: 2709282087, TxOctets: 119871114022, TxDrops: 12, HWAssist: 0x17, Epoch: 1728400000}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			got, err := ParseIfMIB(load(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if !got.Up() {
				t.Error("not up")
			}
		})
	}
}

func TestIfMIBRefuses(t *testing.T) {
	good := load(t, "raw/15.0-t0.net.link.generic.ifdata.em0.1.bin")
	otherLen := bytes.Clone(good)
	otherLen[ifMIBData+6] = 160
	for name, b := range map[string][]byte{
		"empty": nil, "short": good[:207], "long": append(bytes.Clone(good), 0), "another datalen": otherLen,
	} {
		if _, err := ParseIfMIB(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Turning TSO4 off and on dropped the link twice: down, up, down, up.
func TestRouteSocket(t *testing.T) {
	for _, release := range []string{"14.0", "15.0"} {
		rest := load(t, "raw/"+release+"-route-socket.bin")
		var states []LinkState
		for len(rest) > 0 {
			m, after, err := NextRouteMessage(rest)
			if err != nil {
				t.Fatal(err)
			}
			rest = after
			info, err := ParseIfInfo(m)
			if err != nil || info.Index != 1 {
				t.Fatal(info, err)
			}
			if info.Up() != (info.Data.LinkState == LinkUp) {
				t.Errorf("%s: flags %#x, link state %d, up %v", release, info.Flags, info.Data.LinkState, info.Up())
			}
			states = append(states, info.Data.LinkState)
		}
		if d := cmp.Diff([]LinkState{LinkDown, LinkUp, LinkDown, LinkUp}, states); d != "" {
			t.Errorf("%s: %s", release, d)
		}
	}
}

func TestRouteSocketRefuses(t *testing.T) {
	good := load(t, "raw/15.0-route-socket.bin")
	version := bytes.Clone(good)
	version[2] = 4
	for name, b := range map[string][]byte{"one byte": good[:1], "cut": good[:100], "length 0": make([]byte, 16), "version": version} {
		if _, _, err := NextRouteMessage(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, m := range []RouteMessage{{TypeIfInfo, good[:60]}, {0x11, good}, {}} {
		if _, err := ParseIfInfo(m); !errors.Is(err, ErrFormat) {
			t.Errorf("type %#x of %d bytes: %v", m.Type, len(m.Data), err)
		}
	}
}

func TestCPTimes(t *testing.T) {
	got, err := AppendCPTimes(nil, load(t, "raw/15.0-t0.kern.cp_times.bin"))
	if err != nil {
		t.Fatal(err)
	}
	want := []CPTime{{101, 0, 707, 4, 982}, {33, 0, 767, 9, 985}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got[0].Busy() != 101+707+4 || got[0].Total() != 101+707+4+982 {
		t.Error(got[0].Busy(), got[0].Total())
	}
	for _, n := range []int{0, 1, 39, 41} {
		if _, err := AppendCPTimes(nil, make([]byte, n)); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestClockRate(t *testing.T) {
	got, err := ParseClockRate(load(t, "raw/15.0-t0.kern.clockrate.bin"))
	if err != nil || got != (ClockRate{Hz: 100, Tick: 10000, StatHz: 127}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseClockRate(make([]byte, 16)); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestIfCap(t *testing.T) {
	for _, c := range []struct {
		file               string
		enabled, supported Caps
	}{
		{"raw/15.0-t0.SIOCGIFCAP.em0.bin", 0x48525bb, 0x4953dbb}, // 82540EM: TSO4 on, no TSO6
		{"raw/14.0-t0.SIOCGIFCAP.em0.bin", 0x48525bb, 0x4953dbb},
		{"raw/15.0-t0.SIOCGIFCAP.lo0.bin", 0x680003, 0x680003},
	} {
		enabled, supported, err := ParseIfCap(load(t, c.file))
		if err != nil || enabled != c.enabled || supported != c.supported {
			t.Errorf("%s: %#x %#x %v", c.file, uint32(enabled), uint32(supported), err)
		}
	}
	if _, _, err := ParseIfCap(nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	// As a tool printed the mask 0x48525bb on a real kernel.
	const want = "RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,LRO,WOL_MAGIC,VLAN_HWFILTER,VLAN_HWTSO,HWSTATS,MEXTPG"
	if got := Caps(0x48525bb).String(); got != want {
		t.Error(got)
	}
	if sums := CapRxCsum | CapTxCsum | CapRxCsum6 | CapTxCsum6; sums != 0x600003 || sums.String() != "RXCSUM,TXCSUM,RXCSUM_IPV6,TXCSUM_IPV6" {
		t.Errorf("%#x is %s", uint32(sums), sums)
	}
	request := IfReq("em4", CapTSO4|CapTSO6)
	if _, caps, err := ParseIfCap(request[:]); caps != 0x300 || err != nil || cString(request[:]) != "em4" {
		t.Errorf("%v", request)
	}
	if long := IfReq(strings.Repeat("x", 40), 0); long[15] != 0 {
		t.Error("a long name has no end")
	}
}

func TestMedia(t *testing.T) {
	got, err := ParseMedia(load(t, "raw/15.0-t0.SIOCGIFMEDIA.em0.bin"))
	if err != nil || got != (Media{Active: true, Name: "1000baseT full-duplex"}) {
		t.Errorf("%+v, %v", got, err)
	}
	noCarrier := load(t, "raw/15.0-t0.SIOCGIFMEDIA.em0.bin")
	noCarrier[24], noCarrier[28], noCarrier[30] = 1, 0x20, 0
	if got, err := ParseMedia(noCarrier); err != nil || got != (Media{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseMedia(nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// struct kinfo_proc by the declaration of sys/user.h: its length, ki_pid after eight
// pointers, ki_start behind what comes before it.
func TestProcStart(t *testing.T) {
	const (
		pid   = 8 + 8*8
		ids   = 6*4 + 2*2 + 4                        // ki_pid to ki_tsid, ki_jobc, ki_tdev_freebsd11
		sets  = 4 * 16                               // ki_siglist to ki_sigcatch
		users = 5*4 + 2*2 + 16*4                     // ki_uid to ki_svgid, ki_ngroups, ki_groups
		sizes = 6*8 + 2*2 + 5*4                      // ki_size to ki_ssize, ki_xstat, ki_acflag, ki_pctcpu to ki_cow
		start = pid + ids + sets + users + sizes + 8 // ki_runtime
	)
	b := make([]byte, 1088)
	order.PutUint32(b, 1088)
	order.PutUint32(b[pid:], 77)
	order.PutUint64(b[start:], 1700000000)
	if got, err := ParseProcStart(b, 77); got != 1700000000 || err != nil {
		t.Error(got, err)
	}
	for _, wrong := range [][]byte{nil, b[:1087], make([]byte, 1088)} {
		if _, err := ParseProcStart(wrong, 77); !errors.Is(err, ErrFormat) {
			t.Error(len(wrong), err)
		}
	}
	if _, err := ParseProcStart(b, 78); !errors.Is(err, ErrFormat) {
		t.Error("another process:", err)
	}
}

func FuzzDecoders(f *testing.F) {
	for _, name := range []string{"raw/15.0-t0.net.link.generic.ifdata.em0.1.bin", "raw/15.0-route-socket.bin", "raw/15.0-t0.kern.cp_times.bin",
		"raw/15.0-t0.net.inet.tcp.pcblist.bin", "raw/15.0-t0.SIOCGIFMEDIA.em0.bin"} {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(err error) {
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
		}
		_, err := ParseIfMIB(b)
		check(err)
		_, err = AppendCPTimes(nil, b)
		check(err)
		_, err = AppendPCBs(nil, b)
		check(err)
		_, err = ParseMedia(b)
		check(err)
		_, err = ParseProcStart(b, 1)
		check(err)
		_, err = ParseCCAvailable(b)
		check(err)
		WhyReadOnly(b)
		if driver, unit, ok := ParseDriverName(b); ok && (driver == "" || unit < 0) {
			t.Fatalf("%q %d", driver, unit)
		}
		for rest := b; len(rest) > 0; {
			var m RouteMessage
			if m, rest, err = NextRouteMessage(rest); err != nil {
				check(err)
				break
			}
			_, err = ParseIfInfo(m)
			check(err)
		}
		lines, err := IntrLines(b, len(b)/20*8)
		check(err)
		for _, l := range lines {
			l.Of("em0")
		}
	})
}
