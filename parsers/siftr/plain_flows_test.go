package siftr_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netwatch/parsers/siftr"
)

// optionBits are TF_REQ_SCALE, TF_RCVD_SCALE, TF_REQ_TSTMP and TF_RCVD_TSTMP: a
// connection of a host with net.inet.tcp.rfc1323=0, or to one, has none of them.
const optionBits = 0x1e0

// binaryLogs are those of the samples, with the place of their first record and of
// what is behind the last.
func binaryLogs(t *testing.T) map[string][3][]byte {
	t.Helper()
	logs := map[string][3][]byte{}
	for _, name := range logNames(t, "generated") {
		if !strings.Contains(name, "binary") {
			continue
		}
		log := readLog(t, name)
		first, last := bytes.IndexByte(log, '\n')+1, bytes.LastIndex(log, []byte("\ndisable_time_secs="))
		logs[name] = [3][]byte{log[:first], log[first:last], log[last:]}
	}
	if len(logs) != 3 {
		t.Fatalf("%d binary logs", len(logs))
	}
	return logs
}

// A binary log whose header says so is read whole, whatever its records say: none of
// its values has to look like a connection's.
func TestBinaryOfOddConnections(t *testing.T) {
	const cwnd, flags, rto, pipe = 12, 36, 44, 64
	odd := map[string]func(record []byte){
		"no options":        func(r []byte) { clearBits(r[flags:], optionBits) },
		"no flags":          func(r []byte) { clearBits(r[flags:], 1<<32-1) },
		"no timeout":        func(r []byte) { clearBits(r[rto:], 1<<32-1) },
		"no window":         func(r []byte) { clearBits(r[cwnd:], 1<<32-1) },
		"more than is sent": func(r []byte) { binary.LittleEndian.PutUint32(r[pipe:], 1<<30) },
		"all of it": func(r []byte) {
			clearBits(r[flags:], optionBits)
			clearBits(r[rto:], 1<<32-1)
			binary.LittleEndian.PutUint32(r[pipe:], 1<<30)
		},
	}
	for name, log := range binaryLogs(t) {
		for what, change := range odd {
			records := bytes.Clone(log[1])
			for r := range slices.Chunk(records, siftr.RecordSize) {
				change(r)
			}
			want := int64(len(records) / siftr.RecordSize)
			s, report := summarise(cat(log[0], records, log[2]))
			if s.Err() != nil || report.BadLines != 0 || totalRecords(report) != want {
				t.Errorf("%s, %s: %v, %d bad, %d records, want %d", name, what, s.Err(), report.BadLines, totalRecords(report), want)
			}
			// And as it grows, cut anywhere.
			if cuts := sum(cat(log[0], records, log[2]), func() int { return 41 }); cuts != sum(cat(log[0], records, log[2]), whole) {
				t.Errorf("%s, %s: in pieces it is read otherwise", name, what)
			}
		}
	}
}

func clearBits(b []byte, bits uint32) {
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)&^bits)
}

// Bytes that are lost from such a log, or added, cost records, and no flow is made up.
func TestDamageAmongOddConnections(t *testing.T) {
	for name, log := range binaryLogs(t) {
		records := bytes.Clone(log[1])
		ids := map[string]bool{}
		for r := range slices.Chunk(records, siftr.RecordSize) {
			clearBits(r[36:], optionBits)
			ids[fmt.Sprintf("%08x", binary.LittleEndian.Uint32(r))] = true
		}
		all := int64(len(records) / siftr.RecordSize)
		for _, at := range []int{0, 1, 5, 700} {
			for size := 1; size < siftr.RecordSize; size += 7 {
				cut := at*siftr.RecordSize + 20
				for what, damaged := range map[string][]byte{
					"lost":  cat(records[:cut], records[cut+size:]),
					"added": cat(records[:cut], bytes.Repeat([]byte{0, 7, 1}, siftr.RecordSize)[:size], records[cut:]),
				} {
					_, report := summarise(cat(log[0], damaged, log[2]))
					for _, c := range report.Cycles {
						for _, f := range c.Flows {
							if f.FlowID == nil || !ids[*f.FlowID] {
								t.Fatalf("%s: %d bytes %s in record %d: a flow %v that there was not", name, size, what, at, f.FlowID)
							}
						}
					}
					if n := totalRecords(report); at > 1 && n < all-3 || n > all || report.BadLines == 0 {
						t.Errorf("%s: %d bytes %s in record %d: %d of %d records, %d bad", name, size, what, at, n, all, report.BadLines)
					}
				}
			}
		}
	}
}

// textColumns rewrites the records of a log of hexadecimal text.
func textColumns(log []byte, change func(p []string) []string) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		p := strings.Split(strings.TrimSuffix(string(line), "\n"), ",")
		if len(p) == 18 && !bytes.Contains(line, []byte("able_time")) {
			line = []byte(strings.Join(change(p), ",") + "\n")
		}
		out = append(out, line...)
	}
	return out
}

// The final 2.3 is read without options, too, and the order of before is never taken for
// it: flow id, direction, tval, cwnd, ssthresh, snd_wnd, rcv_wnd, t_flags, t_flags2,
// srtt, rto, the four of the buffers, inflight, reassembly queue, payload.
func Test23WithoutOptions(t *testing.T) {
	log := readLog(t, "generated/siftr2-2.3-18fields-2flows.log.gz")
	_, right := summarise(log)
	plain := func(p []string) []string {
		flags, _ := strconv.ParseUint(p[9], 16, 32)
		p[9] = strconv.FormatUint(flags&^optionBits, 16)
		return p
	}
	s, report := summarise(textColumns(log, plain))
	if s.Err() != nil || report.BadLines != 0 || totalRecords(report) != totalRecords(right) {
		t.Errorf("final: %v, %d bad, %d records, want %d", s.Err(), report.BadLines, totalRecords(report), totalRecords(right))
	}
	for _, flags := range []string{"0", "200", "3e0", "10003e1"} {
		for _, srtt := range []string{"", "1f0", "3e8", "60"} {
			for _, window := range []string{"", "fe88"} {
				old := textColumns(log, func(p []string) []string {
					q := []string{p[0], p[1], p[2], p[3], p[4], p[7], p[8], flags, p[10], p[5], p[11], p[12], p[13], p[14], p[15], p[16], p[17], p[6]}
					if srtt != "" {
						q[9] = srtt
					}
					if window != "" {
						q[5], q[6] = window, window
					}
					return q
				})
				s, report := summarise(old)
				if s.Err() == nil || totalRecords(report) != 0 {
					t.Errorf("old order, t_flags %s, srtt %s, windows %s: %d records, %v", flags, srtt, window, totalRecords(report), s.Err())
				}
			}
		}
	}
}

// Nothing usable is an error, also where no header tells why.
func TestNothingUsable(t *testing.T) {
	for _, name := range []string{"dev19fields-1flow", "dev21fields-1flow", "devdecimal-1flow"} {
		log := readLog(t, "generated/siftr2-2.3-"+name+".log.gz")
		_, headless, _ := bytes.Cut(log, []byte("\n"))
		for what, log := range map[string][]byte{"whole": log, "without its header": headless} {
			s, report := summarise(log)
			if s.Err() == nil {
				t.Errorf("%s %s: %d records and no error", name, what, totalRecords(report))
			}
			// What was not read is not counted: no zero stands for it.
			said, err := json.Marshal(report)
			if err != nil || !bytes.Contains(said, []byte(`"records":null`)) || !bytes.Contains(said, []byte(`"records_out":null,"records_in":null,"footer_records":400`)) {
				t.Errorf("%s %s: %v, %s", name, what, err, said)
			}
		}
	}
	h, _, f := parts(t, "real/siftr2-2.5__txt-ppl10.log.gz")
	if s, _ := summarise(cat(h, f)); s.Err() != nil {
		t.Error("a log of no packets: ", s.Err())
	}
}

// A log is known for one by its start, also a damaged or headless one.
func TestIs(t *testing.T) {
	h, r, f := parts(t, "real/siftr2-2.5__txt-ppl10.log.gz")
	bh, br, bf := binaryParts(t)
	sh, sr, _ := parts(t, "real/siftr-1.3.0__siftr-unloaded-while-on.log.gz")
	for name, c := range map[string]struct {
		head []byte
		is   bool
	}{
		"text":                      {cat(h, flat(r), f), true},
		"binary":                    {cat(bh, flat(br), bf), true},
		"binary without its header": {flat(br), true},
		"text without its header":   {flat(r), true},
		"stock without its header":  {flat(sr), true},
		"stock, cut in mid-line":    {cat(sr[0][30:], flat(sr[1:])), true},
		"a torn header":             {cat(sh[9:], flat(sr)), true},
		"a hole before all":         {make([]byte, 64<<10), true},
		"a line of 64 KiB and more": {bytes.Repeat([]byte("y"), 64<<10), true},
		"words":                     {[]byte("Nov 30 12:00:00 host syslogd: restart\nmore\n"), false},
		"ping":                      {[]byte("PING r1 (10.1.1.3): 56 data bytes\n64 bytes from 10.1.1.3: icmp_seq=0 ttl=64 time=0.169 ms\n"), false},
		"JSON without lines":        {append([]byte(`{"start":`), bytes.Repeat([]byte("1,"), 64<<10)...), false},
		"bytes of no kind":          {bytes.Repeat([]byte{1, 2, 3, 0xff, 10}, 5000), false},
		"nothing":                   {nil, false},
	} {
		if got := siftr.Is(c.head[:min(len(c.head), 64<<10)]); got != c.is {
			t.Errorf("%s: %v", name, got)
		}
	}
}
