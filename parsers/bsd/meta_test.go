package bsd

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var metaRow = regexp.MustCompile(`(?m)^(\S+)\tkind=0x([0-9a-f]{8})\tfmt=(\S+)\t`)

// kindsOf are the replies to the kernel's question of a name's kind, as it gives them:
// the kind, the format, a NUL.
func kindsOf(t *testing.T, file string) map[string][]byte {
	t.Helper()
	kinds := map[string][]byte{}
	for _, r := range metaRow.FindAllStringSubmatch(string(load(t, file)), -1) {
		kind, err := strconv.ParseUint(r[2], 16, 32)
		if err != nil {
			t.Fatal(r[0], err)
		}
		kinds[r[1]] = append(append(order.AppendUint32(nil, uint32(kind)), r[3]...), 0)
	}
	return kinds
}

// The type in the kind is the one that the format, the kernel's other word for it, has
// by sysctl(9). Formats are of what is shown: flags of one bit are u8 and shown as CU.
func TestKindsOfReleases(t *testing.T) {
	types := map[string]SysctlType{"A": TypeString, "I": TypeInt, "IU": TypeUint, "LU": TypeUlong, "Q": TypeS64, "QU": TypeU64, "CU": TypeU8, "SU": TypeU16}
	files, err := filepath.Glob("testdata/meta/*")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, path := range files {
		file := "meta/" + filepath.Base(path)
		for name, reply := range kindsOf(t, file) {
			rows++
			got, err := ParseSysctlType(reply)
			if want := types[cString(reply[4:])]; err != nil || got != want {
				t.Errorf("%s %s: type %d, %v, want %d of format %s", file, name, got, err, want, reply[4:])
			}
		}
	}
	if rows != 138+124+120+5+5+6+6+7+7 {
		t.Errorf("%d rows", rows)
	}
}

// Counters of em0 cannot be set, its knobs can. That the first are read only is all the
// kernel says of them; a tunable is one by its own flag (CTLFLAG_RDTUN).
func TestWhyReadOnly(t *testing.T) {
	kinds := kindsOf(t, "meta/15.0-dev.em.0.txt.gz")
	for _, name := range strings.Fields("enable_aim fc rx_int_delay rx_abs_int_delay tx_int_delay tx_abs_int_delay iflib.rx_budget iflib.tx_abdicate iflib.disable_msix") {
		if why := WhyReadOnly(kinds["dev.em.0."+name]); why != "" || kinds["dev.em.0."+name] == nil {
			t.Errorf("%s is %q", name, why)
		}
	}
	for _, name := range strings.Fields("queue_rx_0.interrupt_rate mac_stats.good_octets_txd iflib.driver_version") {
		if why := WhyReadOnly(kinds["dev.em.0."+name]); why != "read only" {
			t.Errorf("%s is %q", name, why)
		}
	}
	if why := WhyReadOnly([]byte{0x02, 0, 0x08, 0x80}); why != "a read only tunable, which is set in /boot/loader.conf" {
		t.Error(why)
	}
	if why := WhyReadOnly(nil); why != "" {
		t.Error(why)
	}
}

// What siftr2 reads as bytes is what its values are as words, to root and to a user.
func TestSiftr2Values(t *testing.T) {
	kinds := kindsOf(t, "meta/siftr2-2.5.txt")
	read := regexp.MustCompile(`(?m)^read (\S+): size-query (\d+) \(ok\), read \d+ bytes \(ok\) hex ([0-9a-f]+) `)
	got := map[string]string{}
	for _, r := range read.FindAllStringSubmatch(string(load(t, "meta/siftr2-2.5-raw.txt")), -1) {
		got[r[1]] = wordOf(t, kinds, r[1], r[3])
	}
	for _, file := range []string{"meta/siftr2-2.5-values.txt", "meta/siftr2-2.5-values-as-user.txt"} {
		rows := strings.Split(strings.TrimSpace(string(load(t, file))), "\n")
		if len(rows) != 7 {
			t.Error(file, rows)
		}
		for _, row := range rows {
			name, value, _ := strings.Cut(row, ": ")
			if v, ok := got[name]; v != value || !ok {
				t.Errorf("%s: %q, want %q", name, v, value)
			}
		}
	}
}

func wordOf(t *testing.T, kinds map[string][]byte, name, raw string) string {
	t.Helper()
	b, err := hex.DecodeString(raw)
	if err != nil {
		t.Fatal(name, err)
	}
	kind, err := ParseSysctlType(kinds[name])
	if err != nil {
		t.Fatal(name, err)
	}
	word, err := Word(kind, b)
	if err != nil {
		t.Fatal(name, err)
	}
	return word
}

// siftr2 refuses a value of another size than it reads: what it took is what AppendWord
// makes of the word for the size that was read, and its replies to it read as that word.
func TestSiftr2Writes(t *testing.T) {
	kinds := kindsOf(t, "meta/siftr2-2.5.txt")
	sizes := map[string]int{"port_filter": 2, "cwnd_filter": 1, "enable_binary_record": 1, "enabled": 4, "ppl": 4}
	write := regexp.MustCompile(`(?m)^write (net\.inet\.siftr2\.(\w+)) (\d+) bytes ([0-9a-f]+): (ok|errno 22)`)
	taken := 0
	text := string(load(t, "meta/siftr2-2.5-errors.txt"))
	for _, r := range write.FindAllStringSubmatch(text, -1) {
		size := sizes[r[2]]
		if r[3] != strconv.Itoa(size) {
			continue
		}
		word := wordOf(t, kinds, r[1], r[4])
		kind, _ := ParseSysctlType(kinds[r[1]])
		if b, err := AppendWord(nil, kind, size, word); err != nil || hex.EncodeToString(b) != r[4] {
			t.Errorf("%s=%s is %x, %v, want %s", r[1], word, b, err, r[4])
		}
		if r[5] == "ok" {
			taken++
		}
	}
	if taken != 2+3+2+1+3 {
		t.Errorf("%d writes were taken", taken)
	}
	read := regexp.MustCompile(`(?m)^read net\.inet\.siftr2\.(\w+): .* hex ([0-9a-f]+) `)
	var got []string
	for _, r := range read.FindAllStringSubmatch(text, -1) {
		got = append(got, r[1]+"="+wordOf(t, kinds, "net.inet.siftr2."+r[1], r[2]))
	}
	// 0x1170 is 4464; 0x1170 with 0x1 above it was cut to two bytes.
	const want = "port_filter=4464 cwnd_filter=1 cwnd_filter=1 enable_binary_record=1 enable_binary_record=0 ppl=4294967295 " +
		"flowid_filter=1a2b3c4d flowid_filter=00001a2b flowid_filter=00001a2b flowid_filter=00000000"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// The heads of the route socket's messages while TSO was turned in every way, beside
// what another reader made of them. What comes behind the head was not kept.
func TestRouteTimelines(t *testing.T) {
	row := regexp.MustCompile(`RTM_IFINFO len=(\d+) idx=(\d+) flags=0x([0-9a-f]+) link_state=(\d) \(raw ([0-9a-f]+)\)`)
	for file, want := range map[string]int{"15.0-tso-toggle": 6 * 2, "14.0-tso-toggle": 6 * 2, "15.0-tso-off": 2, "15.0-tso-on": 2} {
		rows := row.FindAllStringSubmatch(string(load(t, "link/"+file+".txt")), -1)
		if len(rows) != want {
			t.Errorf("%s: %d messages", file, len(rows))
		}
		for _, r := range rows {
			b := make([]byte, 168)
			if _, err := hex.Decode(b, []byte(r[5])); err != nil {
				t.Fatal(err)
			}
			m, rest, err := NextRouteMessage(b)
			if err != nil || len(rest) != 0 {
				t.Fatal(file, len(rest), err)
			}
			info, err := ParseIfInfo(m)
			if err != nil {
				t.Fatal(file, err)
			}
			got := fmt.Sprintf("%d %d %x %d", len(m.Data), info.Index, info.Flags, info.Data.LinkState)
			if w := strings.Join(r[1:5], " "); got != w || info.Up() != (r[4] == "2") || info.Data.MTU != 1500 {
				t.Errorf("%s: %s up %v mtu %d, want %s", file, got, info.Up(), info.Data.MTU, w)
			}
		}
	}
}

// The messages have the length and type that were seen with the time they came at.
func TestRouteMessagesSeen(t *testing.T) {
	for _, release := range []string{"14.0", "15.0"} {
		rest := load(t, "raw/"+release+"-route-socket.bin")
		rows := strings.Split(strings.TrimSpace(string(load(t, "raw/"+release+"-route-socket.txt"))), "\n")
		for _, row := range rows {
			m, after, err := NextRouteMessage(rest)
			if err != nil {
				t.Fatal(release, err)
			}
			rest = after
			if got := fmt.Sprintf("len %d type %#x", len(m.Data), m.Type); !strings.HasSuffix(row, got) {
				t.Errorf("%s: %s, want %s", release, got, row)
			}
		}
		if len(rest) != 0 || len(rows) != 4 {
			t.Errorf("%s: %d messages, %d bytes left", release, len(rows), len(rest))
		}
	}
}
