package siftr_test

import (
	"bufio"
	"bytes"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"netwatch/parsers/siftr"
)

// badLines are the real logs with something unreadable in them, and how much.
var badLines = map[string]int64{}

// TestRealLogs reads every log that a real kernel wrote. Records are the file's
// own lines (text) or 72-byte pieces; the footer's counts must be met where nothing
// was filtered.
func TestRealLogs(t *testing.T) {
	for _, name := range logNames(t, "real") {
		t.Run(base(name), func(t *testing.T) {
			log := readLog(t, name)
			s, report := summarise(log)
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			if report.BadLines != badLines[base(name)] {
				t.Errorf("%d bad lines: %+v", report.BadLines, s.Bads)
			}
			for _, c := range report.Cycles {
				checkCycle(t, base(name), c)
			}
			if want := recordsByBytes(log); totalRecords(report) != want {
				t.Errorf("%d records, the bytes hold %d", totalRecords(report), want)
			}
		})
	}
}

func totalRecords(r siftr.Report) (n int64) {
	for _, c := range r.Cycles {
		n += int64(max(c.Records, 0))
	}
	return n
}

// recordsByBytes counts records without reading them: what is neither header nor
// footer is a line, or 72 bytes.
func recordsByBytes(log []byte) (n int64) {
	for len(log) > 0 {
		line, rest, _ := bytes.Cut(log, []byte("\n"))
		switch {
		case bytes.Contains(line, []byte("able_time_secs=")), len(line) == 0:
			log = rest
		case len(log) >= 72 && log[4] <= 1 && log[5] == 0:
			log = log[72:]
			n++
		default:
			log = rest
			n++
		}
	}
	return n
}

// checkCycle holds a cycle against its own footer.
func checkCycle(t *testing.T, name string, c siftr.CycleReport) {
	t.Helper()
	var sum int64
	for _, f := range c.Flows {
		sum += int64(f.RecordsIn + f.RecordsOut)
		if f.FooterRecords == nil || !c.HasHeader { // the log was switched: the rest is in another file
			continue
		}
		if got := int64(f.RecordsIn + f.RecordsOut); got != *f.FooterRecords {
			t.Errorf("flow %s: %d records, the footer says %d", *f.FlowID, got, *f.FooterRecords)
		}
	}
	if sum != int64(c.Records) {
		t.Errorf("flows have %d records, the cycle %d", sum, c.Records)
	}
	thinned := strings.Contains(name, "append") || strings.Contains(name, "ppl10") || strings.Contains(name, "across-tso-toggle")
	if f := c.Footer; c.HasHeader && f.InPackets != nil && !thinned {
		if want := *f.InPackets + *f.OutPackets - *f.Skipped; int64(c.Records) != want {
			t.Errorf("%d records, the footer says %d", c.Records, want)
		}
	}
}

// TestFlowID holds the computed ids against those that a kernel logged.
func TestFlowID(t *testing.T) {
	f, err := os.Open("testdata/flowid-vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		p := strings.Split(sc.Text(), "\t")
		if len(p) < 7 || p[0] == "laddr" {
			continue
		}
		// Column 5 is the hash of the whole 4-tuple; where it "differs" from the
		// logged id, the id is that of local port 0.
		want, err := strconv.ParseUint(p[5], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		local, remote := endpoint(t, p[0], p[1]), endpoint(t, p[2], p[3])
		if got := siftr.FlowID(local, remote); got != uint32(want) {
			t.Errorf("FlowID(%v, %v) = %08x, want %08x", local, remote, got, want)
		}
		logged, _ := strconv.ParseUint(p[4], 16, 32)
		if p[6] != "match" {
			local = netip.AddrPortFrom(local.Addr(), 0)
		}
		if got := siftr.FlowID(local, remote); got != uint32(logged) {
			t.Errorf("FlowID(%v, %v) = %08x, the log has %08x", local, remote, got, logged)
		}
		n++
	}
	if n != 143 {
		t.Errorf("%d vectors, want 143", n)
	}
}

func endpoint(t *testing.T, addr, port string) netip.AddrPort {
	t.Helper()
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.MustParseAddr(addr), uint16(n))
}

// TestRealFigures holds the figures of real logs against those of the plain reader
// of the benchmarks.
func TestRealFigures(t *testing.T) {
	for _, tt := range []struct {
		name    string
		columns columnsOf
		fields  int
	}{
		{"siftr2-2.5__relay__txt-relay-20ms-8mbit", hexColumns, 18},
		{"siftr2-2.5__txt-2flows", hexColumns, 18},
		{"siftr2-2.4__txt-2flows-plus-v6", hexColumns, 18},
		{"siftr-1.3.0__siftr-20ms-rtt-8mbit-queue30", stockColumns, 27},
		{"freebsd-14.0__siftr-across-tso-toggle", stockColumns, 27},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := readLog(t, "real/"+tt.name+".log.gz")
			want := plainText(log, tt.columns, tt.fields)
			_, report := summarise(log)
			flows := report.Cycles[0].Flows
			if len(flows) != len(want.flows) {
				t.Fatalf("%d flows, want %d", len(flows), len(want.flows))
			}
			for _, f := range flows {
				key := *f.FlowID
				if len(tt.columns.flow) > 1 {
					key = *f.Laddr + "," + strconv.Itoa(int(*f.Lport)) + "," + *f.Faddr + "," + strconv.Itoa(int(*f.Fport))
				}
				compareFlow(t, key, f, want.flows[key])
			}
		})
	}
}

func compareFlow(t *testing.T, key string, got siftr.FlowReport, want *plainFlow) {
	t.Helper()
	n := float64(want.records[0] + want.records[1])
	for name, pair := range map[string][2]float64{
		"records in":  {float64(got.RecordsIn), float64(want.records[0])},
		"records out": {float64(got.RecordsOut), float64(want.records[1])},
		"cwnd":        {*got.AvgCwnd, float64(want.cwnd) / n},
		"min cwnd":    {float64(*got.MinCwnd), float64(want.minCwnd)},
		"max cwnd":    {float64(*got.MaxCwnd), float64(want.maxCwnd)},
		"srtt":        {*got.AvgSRTT, float64(want.srtt) / n},
		"min srtt":    {*got.MinSRTT, float64(want.minSRTT)},
		"max srtt":    {*got.MaxSRTT, float64(want.maxSRTT)},
		"inflight":    {*got.AvgInflight, float64(want.inflight) / n},
		"in recovery": {float64(*got.InRecovery), float64(want.recovery)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s = %v, want %v", key, name, pair[0], pair[1])
		}
	}
	if got.Bytes == nil {
		return
	}
	if b := uint64(want.bytes[0] + want.bytes[1]); *got.Bytes != b || *got.OutBytes != uint64(want.bytes[1]) || *got.Packets != want.data[0]+want.data[1] {
		t.Errorf("%s: %d bytes, %d out, want %d and %d", key, *got.Bytes, *got.OutBytes, b, want.bytes[1])
	}
	var fragments int64
	for size, count := range want.sizes {
		if size%int64(*got.MSS) != 0 {
			fragments += count
		}
	}
	if *got.Fragments != fragments {
		t.Errorf("%s: %d fragments, want %d", key, *got.Fragments, fragments)
	}
}

// TestHandshake: the SYN records of 1.2.x count as records, but their cwnd, which
// is no window, is in no figure. The log has two of them.
func TestHandshake(t *testing.T) {
	log := readLog(t, "real/siftr-1.2.4__ppl1-to-linux-peer.log.gz")
	var all, running, sum float64
	for line := range strings.Lines(string(log)) {
		p := strings.Split(line, ",")
		if len(p) != 28 {
			continue
		}
		all++
		if p[14] >= "4" || len(p[14]) > 1 {
			running++
			cwnd, _ := strconv.ParseFloat(p[8], 64)
			sum += cwnd
		}
	}
	_, report := summarise(log)
	f := report.Cycles[0].Flows[0]
	if got := float64(f.RecordsIn + f.RecordsOut); got != all || all-running != 2 {
		t.Errorf("%v records, want %v of which 2 belong to the handshake, not %v", got, all, all-running)
	}
	if *f.AvgCwnd != sum/running || *f.MaxCwnd >= siftr.SsthreshUnset {
		t.Errorf("cwnd %v, at most %v; want %v", *f.AvgCwnd, *f.MaxCwnd, sum/running)
	}
}
