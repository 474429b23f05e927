package siftr_test

import (
	"bytes"
	"strings"
	"testing"

	"netwatch/parsers/siftr/siftrgen"
)

// Records that stand alone at the end of a Write are read digit by digit; records
// with more behind them are read by vector instructions, or by what was there before.
// TestSpeedIsNoLicence puts bytes of every kind in each place of a record and wants
// all ways to say the same.
func TestSpeedIsNoLicence(t *testing.T) {
	const kinds = "\x00\x01\n\r\x10\x1f ,-./0179:@AFG`afgio\x50\x57\x60\x70\x7f\x80\xaf\xb0\xff"
	for _, f := range []struct {
		name   string
		format siftrgen.Format
	}{{"hex", siftrgen.Text25}, {"decimal", siftrgen.Stock130}} {
		t.Run(f.name, func(t *testing.T) {
			var log bytes.Buffer
			if err := siftrgen.Write(&log, siftrgen.Config{Format: f.format, Records: 12, Flows: 1, Cut: true, Seed: 3, Start: 1_796_040_000_000_000}); err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(log.Bytes(), []byte("\n"))
			const victim = 4 // it and its neighbours are read fast
			for at := range lines[victim] {
				for _, c := range []byte(kinds) {
					changed := bytes.Clone(log.Bytes())
					changed[len(bytes.Join(lines[:victim], nil))+at] = c
					slow := byLines(changed)
					for _, fast := range []string{traced(changed, whole), tracedPlain(changed, whole)} {
						if fast != slow {
							t.Fatalf("byte %d of a record is %q\nfast and slow differ: %s", at, c, difference(fast, slow))
						}
					}
				}
			}
		})
	}
}

// TestFieldsThatGrowAndShrink: every length of a number after every other.
func TestFieldsThatGrowAndShrink(t *testing.T) {
	for _, f := range []struct {
		name, header, before, after string
		numbers                     []string
	}{
		{"hex", "enable_time_secs=1796040000\tenable_time_usecs=000001\tsiftrver=2.5\trec_fmt=text\tsysver=FreeBSD\n",
			"52455584,o,10,", ",3fffc000,140,5a8,13718,100a4,10003e1,2,38270,bbbc,3083,100a4,0,2d40,0\n",
			[]string{"0", "1f", "abc", "9a9a", "fffff", "123456", "abcdef0", "f0f0f0f0", "", "123456789", "1g", "A"}},
		{"decimal", "enable_time_secs=1796040000\tenable_time_usecs=000001\tsiftrver=1.3.0\tsysname=FreeBSD\tsysver=1400000\tipmode=4\n",
			"o,1796040000.000100,10.0.0.1,5001,10.0.0.2,5002,1073725440,", ",0,65536,65536,6,6,4,1448,1000,1,1073742832,230000,33580,0,66608,0,4344,0,0,0\n",
			[]string{"0", "12", "999", "1234", "54321", "654321", "7654321", "87654321", "987654321", "4294967295", "4294967296", "", "12345678901", "1a", "-5"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			var log strings.Builder
			log.WriteString(f.header)
			for _, a := range f.numbers {
				for _, b := range f.numbers {
					for _, n := range []string{a, b, b, a} {
						log.WriteString(f.before + n + f.after)
					}
				}
			}
			slow := byLines([]byte(log.String()))
			for _, fast := range []string{traced([]byte(log.String()), whole), tracedPlain([]byte(log.String()), whole)} {
				if fast != slow {
					t.Fatalf("fast and slow differ: %s", difference(fast, slow))
				}
			}
		})
	}
}

// byLines reads a log in Writes of one line, each of which is read digit by digit.
func byLines(log []byte) string {
	rest := log
	return traced(log, func() int {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		rest = rest[n:]
		return n
	})
}
