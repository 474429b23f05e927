package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// sample is a file that a parser has for its tests.
func sample(parser, name string) string {
	return filepath.Join("..", "..", "parsers", parser, "testdata", filepath.FromSlash(name))
}

// TestReviewWords: the figures are those of the tools' own last lines and footers.
func TestReviewWords(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{sample("iperf", "i3-json-stream-P3-R.ndjson"), []string{"3.21, 1 run, 12 interval rows", "received  2815 retransmits by iperf3's own total; the interval rows do not tell"}},
		{sample("iperf", "i3-tcp-R.txt"), []string{"received  842 retransmits by iperf3's own total"}},
		{sample("iperf", "i3-tcp-bidir-P2.txt"), []string{"sent TX-C      1134 retransmits\n", "received RX-C  949 retransmits by", "SUM   RX-C receiver  88.3 Mbit/s\n"}},
		{sample("iperf", "i2-P4-e-client.txt"), []string{"sent  3644 retransmits by iperf2's own total, 3539 in the interval rows"}},
		{sample("iperf", "i3-udp.txt"), []string{"sent  3 of 6905 datagrams lost (0.043 %), jitter 0.239 ms\n", "sender    20.0 Mbit/s, 6905 datagrams\n"}},
		{sample("iperf", "i2-udp-e-server.txt"), []string{"received  147 of 6806 datagrams lost (2.2 %), jitter 0.513 ms\n"}},
		{sample("iperf", "i2-udp-client.txt"), []string{"4 of 2554 datagrams lost (0.16 %), jitter 0.213 ms by the receiver's report"}},
		{sample("iperf", "siftr2-transcript.txt"), []string{"3 runs", "\n  run 1 to r1 port 5001: 5 rows, mean 942 Mbit/s, iperf2's own 941 Mbit/s\n",
			"\n  run 2 to r1 port 5001: 5 rows, mean 573 Mbit/s, iperf2's own 572 Mbit/s\n", "\n  run 3 to r1 port 5001: 5 rows, mean 668 Mbit/s, iperf2's own 667 Mbit/s\n"}},
		{sample("ping", "fping-Q1.txt"), []string{"fping, 10.77.1.2, its counts only\n", "33 sent, 24 received, loss 27 %", "17.8/21.1/23.6 ms"}},
		{sample("ping", "fping-D-c.txt"), []string{"fping, 2 hosts\n", "10.77.1.2, 17 replies", "20 sent, 17 received, loss 15 %", "fd77:1::2, 19 replies", "20 sent, 19 received, loss 5 %"}},
		{sample("ping", "linux-quiet.txt"), []string{"its counts only", "5 sent, 5 received, loss 0 %"}},
		{sample("siftr", "generated/siftr2-2.5-binary-1flow-1gbps-ppl100.log.gz"), []string{": siftr2 2.5, 1 cycle,", "sampled: 1 of 100 packets (1800 of 180000)"}},
		{sample("siftr", "generated/siftr2-2.5-text-1flow-cwndfilter.log.gz"), []string{"sampled: 1300 of 5178 packets (25.1 %)"}},
		{sample("siftr", "generated/stock-1.3.0-ppl10-1flow-1gbps.log.gz"), []string{"sampled: 1 of 10 packets (850 of 8500)"}},
		{sample("siftr", "generated/siftr2-2.5-text-ringdrops-2flows.log.gz"), []string{"sampled: 20 packets lost in the kernel's ring"}},
		{sample("siftr", "generated/siftr2-2.0-2flows.log.gz"), []string{"whether it has all packets is not told"}},
		{sample("siftr", "generated/siftr2-2.5-text-5flows-loss-rttstep.log.gz"), []string{"sRTT in us", "cwnd in bytes", "inflight in bytes", "payload in bytes", "stack rack, cc cubic"}},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			status, stdout, stderr := cli("review", c.file)
			for _, want := range c.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q is not said", want)
				}
			}
			if status != exitOK || t.Failed() {
				t.Errorf("status %d, %s\n%s", status, stderr, stdout)
			}
		})
	}
}

// TestReviewLooks: what every review keeps to, of all files that the parsers have.
func TestReviewLooks(t *testing.T) {
	one := regexp.MustCompile(`(^|[ (])1 (runs|rows|interval rows|cycles|records|bad lines|replies|duplicates|retransmits|packets|probes|hosts|datagrams|reports)\b`)
	n := 0
	for _, pattern := range []string{
		sample("iperf", "*.txt"), sample("iperf", "*.ndjson"), sample("iperf", "*.csv"), sample("ping", "*.txt"),
		sample("siftr", "generated/*.log.gz"), sample("siftr", "real/*.log.gz"),
	} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			n++
			_, stdout, _ := cli("review", file)
			for line := range strings.Lines(strings.ReplaceAll(stdout, file, filepath.Base(file))) {
				line = strings.TrimSuffix(line, "\n")
				said := strings.Contains(line, "it said: ")
				switch {
				case strings.TrimRight(line, " ") != line, one.MatchString(line), strings.Contains(line, "-Csender"), strings.Contains(line, "-/-"):
					t.Errorf("%s: %q", file, line)
				case utf8.RuneCountInString(line) > lineWidth && !said:
					t.Errorf("%s: %d columns: %q", file, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d files", n)
	}
}

func TestSampledWords(t *testing.T) {
	for _, c := range []struct {
		records, packets int64
		want             string
	}{
		{1800, 180000, "sampled: 1 of 100 packets (1800 of 180000)"},
		{34, 344, "sampled: 1 of 10 packets (34 of 344)"},
		{35, 344, "sampled: 1 of 10 packets (35 of 344)"},
		{10, 106, "sampled: 10 of 106 packets (9.43 %)"}, // of ten or of eleven
		{41, 252, "sampled: 41 of 252 packets (16.3 %)"}, // a sixth would be 42
		{1300, 5178, "sampled: 1300 of 5178 packets (25.1 %)"},
		{0, 7, "sampled: 0 of 7 packets (0 %)"},
	} {
		if got := sampledWords(c.records, c.packets); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.records, c.packets, got, c.want)
		}
	}
}

// What was asked for and is none of its kind is said, and is a status; what only begins
// with something else is neither.
func TestInputOfAnotherKind(t *testing.T) {
	loop := loopback()
	passwd := writeTemp(t, "passwd", "root:x:0:0:root:/root:/bin/sh\n")
	log := writeTemp(t, "begins.log", "a line of a shell\n"+gunzip(t, "testdata/siftr2.log.gz"))
	for _, c := range []struct {
		name, stdin string
		args        []string
		status      int
		said        string
	}{
		{"a load", "garbage\n", []string{"--load", "-"}, exitFailure, `load is no output of iperf3 or iperf: "garbage"`},
		{"a load of iperf3", transcriptOf(3), []string{"--load", "-"}, exitOK, ""},
		{"a siftr log", "", []string{"--siftr", passwd}, exitFailure, `passwd is no siftr log: line 1: not a siftr log line: "root:x:0:0:root:/root:/bin/sh"`},
		{"a log behind a line", "", []string{"--siftr", log}, exitOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			status := run(append(c.args, "-o", "text", "-d", "1500ms", "--read-only", loop), strings.NewReader(c.stdin), &out, &errs)
			if status != c.status || !strings.Contains(errs.String(), c.said) || !strings.Contains(out.String(), c.said) {
				t.Errorf("status %d, want %d\n%s\n%s", status, c.status, errs.String(), out.String())
			}
		})
	}
}

// A usage error says what is wanted, not what the flag library thinks.
func TestUsageWords(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"review"}, "wanted is netwatch review FILE... [flags], not 0 arguments"},
		{[]string{"replay"}, "wanted is netwatch replay FILE [flags], not 0 arguments"},
		{[]string{"set", "em4"}, "wanted is netwatch set IFACE KNOB=VALUE... [flags], not 1 argument"},
		{[]string{"demo", "em4"}, "wanted is netwatch demo [flags], not 1 argument"},
		{[]string{"-d", "x", "em4"}, "--duration x: wanted is a time such as 500ms, 10s or 2m"},
		{[]string{"em4", "--load"}, "--load needs a value"},
		{[]string{"review", "--json=x", "f"}, "--json takes no value, not x"},
	} {
		status, _, stderr := cli(c.args...)
		if status != exitUsage || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "arg(s)") || strings.Contains(stderr, "strconv") {
			t.Errorf("%q: status %d, %s", c.args, status, stderr)
		}
	}
}

func loopback() string {
	if _, err := net.InterfaceByName("lo"); err != nil {
		return "lo0"
	}
	return "lo"
}

func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
