package bsd

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What was made in the layout of FreeBSD 14: a shared INTx line, the switch of TSO4,
// a table of two connections. The numbers are those of vmstat -i and netstat beside it.
func TestMadeReplies(t *testing.T) {
	names := load(t, "bin_hw.intrnames_amd64.bin")
	for file, want := range map[string]string{
		"bin_hw.intrcnt_amd64_t0.bin": "irq1: atkbd0 6, irq4: uart0 1288, irq16: uhci0+ 23, irq18: ata0 ehci0 41233, irq24: mpt0 288120, " +
			"cpu0:timer 5122817, cpu1:timer 4998210, irq48: em4:irq0+ 29933812, irq49: em5:irq0 812",
		"bin_hw.intrcnt_amd64_t1.bin": "irq1: atkbd0 6, irq4: uart0 1288, irq16: uhci0+ 23, irq18: ata0 ehci0 41233, irq24: mpt0 288120, " +
			"cpu0:timer 5122945, cpu1:timer 4998337, irq48: em4:irq0+ 29937815, irq49: em5:irq0 812",
	} {
		counts := load(t, file)
		lines, err := IntrLines(names, len(counts))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			if n, ok := IntrCount(counts, l.Slot); ok && n > 0 {
				got = append(got, fmt.Sprintf("%s %d", l.Name, n))
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s:\n%s\nwant\n%s", file, s, want)
		}
	}
	for file, on := range map[string]bool{"bin_ifreq_siocgifcap_em4.bin": false, "bin_ifreq_siocgifcap_em4_tso4.bin": true} {
		enabled, supported, err := ParseIfCap(load(t, file))
		if err != nil || enabled&CapTSO4 != 0 != on || supported&CapTSO4 == 0 {
			t.Errorf("%s: enabled %v of %v, %v", file, enabled, supported, err)
		}
	}
	pcbs, err := AppendPCBs(nil, load(t, "bin_net.inet.tcp.pcblist_amd64_14.bin"))
	if err != nil || len(pcbs) != 2 {
		t.Fatalf("%d connections, %v", len(pcbs), err)
	}
	if p := pcbs[0]; p.Local.String() != "10.1.1.2:54321" || p.Remote.String() != "10.1.1.3:5201" || p.Stack != "freebsd" || p.CC != "cubic" {
		t.Errorf("%+v", p)
	}
	t0, err0 := ParseIfMIB(load(t, "bin_ifmib_general_em4_t0.bin"))
	t1, err1 := ParseIfMIB(load(t, "bin_ifmib_general_em4_t1.bin"))
	if err0 != nil || err1 != nil || t1.Data.TxOctets <= t0.Data.TxOctets || t1.Data.TxPackets <= t0.Data.TxPackets {
		t.Errorf("%+v, %v\n%+v, %v", t0, err0, t1, err1)
	}
}

// Every reply of the kernels of 14.0 and 15.0 that netwatch asks for is decoded, and
// no counter of the later one is below that of the earlier one.
func TestCapturedReplies(t *testing.T) {
	first, err := filepath.Glob(filepath.Join("testdata", "raw", "*-t0.*"))
	if err != nil || len(first) != 12 {
		t.Fatal(first, err)
	}
	for _, path := range first {
		name := filepath.Join("raw", filepath.Base(path))
		a, b := load(t, name), load(t, strings.Replace(name, "-t0.", "-t1.", 1))
		before, err0 := countersOf(name, a)
		after, err1 := countersOf(name, b)
		if err0 != nil || err1 != nil || len(before) != len(after) || len(after) == 0 {
			t.Errorf("%s: %v, %v; %v and %v", name, before, after, err0, err1)
			continue
		}
		for i := range before {
			if after[i] < before[i] {
				t.Errorf("%s: counter %d goes from %d to %d", name, i, before[i], after[i])
			}
		}
	}
}

// countersOf decodes a reply by the name of its file.
func countersOf(name string, b []byte) (list []uint64, err error) {
	switch {
	case strings.Contains(name, "ifdata"):
		m, err := ParseIfMIB(b)
		return []uint64{m.Data.RxOctets, m.Data.TxOctets, m.Data.RxPackets, m.Data.TxPackets}, err
	case strings.Contains(name, "cp_times"):
		cores, err := AppendCPTimes(nil, b)
		for _, c := range cores {
			list = append(list, c.User, c.Nice, c.Sys, c.Intr, c.Idle)
		}
		return list, err
	case strings.Contains(name, "pcblist"):
		pcbs, err := AppendPCBs(nil, b)
		for range pcbs {
			list = append(list, 1)
		}
		return list, err
	}
	_, supported, err := ParseIfCap(b)
	return []uint64{uint64(supported)}, err
}
