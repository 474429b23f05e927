package bsd

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The counters of em4 are those that netstat -I prints of the same moment: the
// addresses, errors and drops of its first row.
func TestIfMIBAsNetstat(t *testing.T) {
	for _, at := range []string{"t0", "t1"} {
		m, err := ParseIfMIB(load(t, "made/bin_ifmib_general_em4_"+at+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(string(load(t, "made/netstat_I_em4_bdnW_"+at+".txt")), "\n")
		d := m.Data
		// Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll Drop
		got := fmt.Sprint(m.Name, d.MTU, "<Link#5>", "00:00:5e:00:53:04", d.RxPackets, d.RxErrors, d.RxDrops, d.RxOctets,
			d.TxPackets, d.TxErrors, d.TxOctets, d.Collisions, d.TxDrops)
		want := strings.Fields(rows[1])
		var row []any
		for i, w := range want {
			if n, err := strconv.ParseUint(w, 10, 64); err == nil && i > 0 {
				row = append(row, n)
				continue
			}
			row = append(row, w)
		}
		if w := fmt.Sprint(row...); got != w {
			t.Errorf("%s:\n%s\nwant\n%s", at, got, w)
		}
	}
	if driver, unit, ok := ParseDriverName(load(t, "made/bin_ifmib_drivername_em4.bin")); driver != "em" || unit != 4 || !ok {
		t.Error(driver, unit, ok)
	}
}

func TestDriverName(t *testing.T) {
	for name, want := range map[string]string{
		"ix10\x00": "ix 10", "em0": "em 0", "vlan\x00": "", "7\x00": "", "\x00": "", "": "", "em99999999999999999999\x00": "",
	} {
		driver, unit, ok := ParseDriverName([]byte(name))
		if got := fmt.Sprint(driver, " ", unit); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s %v, want %s", name, got, ok, want)
		}
	}
}

// The two connections are those that netstat -T and -CR print, the busy one of them
// with 490032 bytes in its send buffer and nothing sent again.
func TestPCBsAsNetstat(t *testing.T) {
	pcbs, err := AppendPCBs(nil, load(t, "made/bin_net.inet.tcp.pcblist_amd64_14.bin"))
	if err != nil || len(pcbs) != 2 {
		t.Fatalf("%d connections, %v", len(pcbs), err)
	}
	row := regexp.MustCompile(`(?m)^tcp4 +\d+ +(\d+) (\S+) +(\S+) +([0-9a-f]{8}) +(\d+) (\S+) +(\S+) +(\d+) +(\d+) +(\d+) off`)
	rows := row.FindAllStringSubmatch(string(load(t, "made/netstat_ncCRp_tcp.txt")), -1)
	if len(rows) != 3 {
		t.Fatal(rows)
	}
	dotted := func(p PCB) (local, remote string) {
		dot := func(s string) string { return strings.Replace(s, ":", ".", 1) }
		return dot(p.Local.String()), dot(p.Remote.String())
	}
	sent, found := string(load(t, "made/netstat_nTp_tcp.txt")), 0
	for _, p := range pcbs {
		local, remote := dotted(p)
		for _, r := range rows {
			if r[2] != local || r[3] != remote {
				continue
			}
			found++
			again := regexp.MustCompile(`(?m)^tcp4 +(\d+) +\d+ +\d+ +` + regexp.QuoteMeta(local) + ` +` + regexp.QuoteMeta(remote))
			if m := again.FindStringSubmatch(sent); m == nil || m[1] != strconv.Itoa(int(p.RexmitPackets)) {
				t.Errorf("%s: %d sent again, want %v", local, p.RexmitPackets, m)
			}
			got := fmt.Sprintf("%08x %d %s %s %d %d %d %d", p.FlowID, p.FlowType, p.Stack, p.CC, p.Cwnd, p.Ssthresh, p.MaxSeg, p.SendQueue)
			if want := strings.Join(append(r[4:11:11], r[1]), " "); got != want {
				t.Errorf("%s: %s, want %s", local, got, want)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of the connections stand in the table", found)
	}
}

// A table of vmstat -i: the kernel's names and counts as its own slots would have them.
func slotsAs(t *testing.T, file string, width int) (names, counts []byte) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^(.*?) +(\d+) +\d+$`)
	for _, r := range row.FindAllStringSubmatch(string(load(t, file)), -1) {
		if r[1] == "Total" {
			break
		}
		n, _ := strconv.ParseUint(r[2], 10, 64)
		names = append(names, fmt.Sprintf("%-*s\x00", width-1, r[1])...)
		counts = order.AppendUint64(counts, n)
	}
	return names, counts
}

// What of vmstat's tables belongs to a card: INTx with a "+" for what shares it, MSI-X
// with a line for each queue, arm64 with its wider slots.
func TestIntrAsVmstat(t *testing.T) {
	for _, c := range []struct {
		file   string
		width  int
		device string
		want   string
	}{
		{"legacy", 20, "em4", "irq0+ 29933812"}, {"legacy", 20, "em5", "irq0 812"}, {"legacy", 20, "ehci0", "+ 41233"},
		{"msix", 20, "igb0", "rxq0 120331, rxq1 80116, rxq2 99120, rxq3 70441, aq 2"}, {"msix", 20, "em0", "irq0 5120"},
		{"arm64", 39, "igb0", "rxq0 912001, rxq1 811221, aq 3"}, {"arm64", 39, "uart0", " 411"},
	} {
		file := map[string]string{"legacy": "vmstat_i_amd64_legacy", "msix": "vmstat_i_amd64_msix", "arm64": "vmstat_ia_arm64"}[c.file]
		names, counts := slotsAs(t, "made/"+file+".txt", c.width)
		lines, err := IntrLines(names, len(counts))
		if err != nil {
			t.Fatal(c.file, err)
		}
		var got []string
		for _, l := range lines {
			if queue, shared, ours := l.Of(c.device); ours {
				n, _ := IntrCount(counts, l.Slot)
				got = append(got, fmt.Sprintf("%s%s %d", queue, map[bool]string{true: "+"}[shared], n))
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s of %s: %q, want %q", c.file, c.device, s, c.want)
		}
	}
}

// The counters at t0 are vmstat's table, and one second later em4 and the timers have
// gone on by what vmstat -w 1 prints of that second.
func TestIntrCountsAsVmstat(t *testing.T) {
	names := load(t, "made/bin_hw.intrnames_amd64.bin")
	t0, t1 := load(t, "made/bin_hw.intrcnt_amd64_t0.bin"), load(t, "made/bin_hw.intrcnt_amd64_t1.bin")
	lines, err := IntrLines(names, len(t0))
	if err != nil {
		t.Fatal(err)
	}
	count := func(b []byte, name string) uint64 {
		for _, l := range lines {
			if l.Name == name {
				n, _ := IntrCount(b, l.Slot)
				return n
			}
		}
		return 0
	}
	text := string(load(t, "made/vmstat_i_amd64_legacy.txt"))
	for _, r := range regexp.MustCompile(`(?m)^(\S+:\S*(?: \S+)*) +(\d+) +\d+$`).FindAllStringSubmatch(text, -1) {
		if n := strconv.FormatUint(count(t0, r[1]), 10); n != r[2] {
			t.Errorf("%s: %s, want %s", r[1], n, r[2])
		}
	}
	blocks := strings.SplitAfter(string(load(t, "made/vmstat_i_w1_c3.txt")), "Total")
	if len(blocks) != 4 {
		t.Fatal(len(blocks), "blocks")
	}
	for _, name := range []string{"cpu0:timer", "cpu1:timer", "irq48: em4:irq0+"} {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` +(\d+) `).FindStringSubmatch(blocks[1])
		if n := strconv.FormatUint(count(t1, name)-count(t0, name), 10); row == nil || n != row[1] {
			t.Errorf("%s: %s in a second, want %v", name, n, row)
		}
	}
}

// The replies to SIOCGIFCAP are the masks that ifconfig -m prints of em4, and every mask
// has its words; 13 said NOMAP where later releases say MEXTPG, and had none for HWSTATS.
func TestCapsAsIfconfig(t *testing.T) {
	masks := regexp.MustCompile(`\t(options|capabilities)=([0-9a-f]+)<(.*)>`)
	seen := 0
	for file, bin := range map[string]string{
		"ifconfig_m_em4_tso_off": "bin_ifreq_siocgifcap_em4", "ifconfig_m_em4_tso4_on": "bin_ifreq_siocgifcap_em4_tso4",
		"ifconfig_m_em4_tso46_on_unsupported_tso": "", "ifconfig_em4_just_after_tso": "", "ifconfig_em4_autoneg_13": "",
	} {
		read := map[string]Caps{}
		for _, m := range masks.FindAllStringSubmatch(string(load(t, "made/"+file+".txt")), -1) {
			seen++
			mask, _ := strconv.ParseUint(m[2], 16, 32)
			read[m[1]] = Caps(mask)
			want := m[3]
			if strings.HasSuffix(file, "_13") {
				want = strings.Replace(want, "NOMAP", "HWSTATS,MEXTPG", 1)
			}
			if got := Caps(mask).String(); got != want {
				t.Errorf("%s %s:\n%s\nwant\n%s", file, m[1], got, want)
			}
		}
		if bin == "" {
			continue
		}
		enabled, supported, err := ParseIfCap(load(t, "made/"+bin+".bin"))
		if err != nil || enabled != read["options"] || supported != read["capabilities"] {
			t.Errorf("%s: %#x of %#x, %v, want %v", bin, uint32(enabled), uint32(supported), err, read)
		}
	}
	if seen != 3*2+2 {
		t.Errorf("%d masks", seen)
	}
}
