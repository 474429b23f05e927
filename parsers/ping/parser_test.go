package ping

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netwatch/parsers/lines"
)

func parse(pieces ...string) (got []Record) {
	p := NewParser(func(r Record) { got = append(got, r) })
	for _, s := range pieces {
		p.Write([]byte(s))
	}
	p.Close()
	return got
}

// TestLines: each line as its program prints it.
func TestLines(t *testing.T) {
	tests := []struct {
		name, line string
		want       Record
	}{
		{"iputils head", "PING r1 (10.1.1.3) 56(84) bytes of data.", Start{1, Iputils, "r1", "10.1.1.3"}},
		{"iputils head v6", "PING fd77::2(fd77::2) 56 data bytes", Start{1, Iputils, "fd77::2", "fd77::2"}},
		{"iputils head v6 with a name", "PING r1(r1.example (fd77::2)) 56 data bytes", Start{1, Iputils, "r1", "fd77::2"}},
		{"FreeBSD head", "PING r1-link1 (10.1.1.3): 56 data bytes", Start{1, BSD, "r1-link1", "10.1.1.3"}},
		{"FreeBSD head v6, old", "PING6(56=40+8+8 bytes) fd77::1 --> fd77::2", Start{1, BSD, "fd77::2", "fd77::2"}},
		{"FreeBSD head v6", "PING(56=40+8+8 bytes) fd77::1 --> fd77::2", Start{1, BSD, "fd77::2", "fd77::2"}},
		{"iputils", "64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.117 ms", Reply{Line: 1, From: "10.77.0.2", Seq: num(1), RTT: num(117)}},
		{"iputils -D", "[1796036202.126113] 64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=302 ms", Reply{Line: 1, From: "10.77.0.2", Seq: num(1), RTT: num(302000), Stamp: num(1796036202.126113)}},
		{"iputils with a name", "64 bytes from r1 (10.77.0.2): icmp_seq=1 ttl=64 time=13.5 ms", Reply{Line: 1, From: "r1", Seq: num(1), RTT: num(13500)}},
		{"FreeBSD v4", "64 bytes from 10.1.1.3: icmp_seq=0 ttl=64 time=0.221 ms", Reply{Line: 1, From: "10.1.1.3", Seq: num(0), RTT: num(221)}},
		{"FreeBSD v6", "16 bytes from fd77::2, icmp_seq=0 hlim=64 time=0.331 ms", Reply{Line: 1, From: "fd77::2", Seq: num(0), RTT: num(331)}},
		{"FreeBSD v6 twice", "16 bytes from fd77::2, icmp_seq=0 hlim=64 time=0.331 ms(DUP!)", Reply{Line: 1, From: "fd77::2", Seq: num(0), RTT: num(331), Dup: true}},
		{"busybox", "64 bytes from 10.1.1.3: seq=7 ttl=64 time=0.221 ms", Reply{Line: 1, From: "10.1.1.3", Seq: num(7), RTT: num(221)}},
		{"no time", "16 bytes from 10.77.0.2: icmp_seq=1 ttl=64", Reply{Line: 1, From: "10.77.0.2", Seq: num(1)}},
		{"decimal comma", "64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=30,406 ms", Reply{Line: 1, From: "10.77.0.2", Seq: num(1), RTT: num(30406)}},
		{"flood dots", "..64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.117 ms", Reply{Line: 1, From: "10.77.0.2", Seq: num(1), RTT: num(117)}},
		{"no answer yet", "no answer yet for icmp_seq=6", NoAnswer{Line: 1, Seq: num(6)}},
		{"macOS timeout", "Request timeout for icmp_seq 1", NoAnswer{Line: 1, Seq: num(1), Timeout: true}},
		{"iputils unreachable", "From 10.77.0.1 icmp_seq=1 Destination Host Unreachable", Unreachable{Line: 1, From: "10.77.0.1", Seq: num(1), Text: "Destination Host Unreachable"}},
		{"FreeBSD unreachable", "92 bytes from 10.77.0.1: Destination Host Unreachable", Unreachable{Line: 1, From: "10.77.0.1", Text: "Destination Host Unreachable"}},
		{"redirect", "From 10.77.0.1 icmp_seq=1 Redirect Host(New nexthop: 10.77.0.3)", Other{1, "From 10.77.0.1 icmp_seq=1 Redirect Host(New nexthop: 10.77.0.3)"}},
		{"FreeBSD counts", "10 packets transmitted, 9 packets received, 10.0% packet loss, 1 packets out of wait time", Counts{Line: 1, Transmitted: 10, Received: 9, LossPct: num(10)}},
		{"FreeBSD too many", "5 packets transmitted, 6 packets received, -- somebody's printing up packets!", Counts{Line: 1, Transmitted: 5, Received: 6}},
		{"iputils counts", "4 packets transmitted, 0 received, +4 errors, +1 duplicates, 100% packet loss, time 3072ms", Counts{Line: 1, Transmitted: 4, LossPct: num(100), Errors: num(4), Duplicates: num(1), TimeMS: num(3072)}},
		{"iputils rtt", "rtt min/avg/max/mdev = 0.004/0.008/0.092/0.019 ms, pipe 2, ipg/ewma 0.049/0.011 ms", RTTs{1, num(0.004), num(0.008), num(0.092), num(0.019), num(2), num(0.049), num(0.011)}},
		{"FreeBSD rtt", "round-trip min/avg/max/stddev = 0.164/0.205/0.249/0.027 ms", RTTs{Line: 1, Min: num(0.164), Avg: num(0.205), Max: num(0.249), Dev: num(0.027)}},
		{"FreeBSD rtt v6", "round-trip min/avg/max/std-dev = 0.164/0.205/0.249/0.027 ms", RTTs{Line: 1, Min: num(0.164), Avg: num(0.205), Max: num(0.249), Dev: num(0.027)}},
		{"busybox rtt", "round-trip min/avg/max = 0.164/0.205/0.249 ms", RTTs{Line: 1, Min: num(0.164), Avg: num(0.205), Max: num(0.249)}},
		{"unknown host", "ping: r9: Name or service not known", Message{1, "ping: r9: Name or service not known", "check the host's name"}},
		{"FreeBSD unknown host", "ping: cannot resolve r9: Unknown host", Message{1, "ping: cannot resolve r9: Unknown host", "check the host's name"}},
		{"FreeBSD interval", "ping: -i interval too short: Operation not permitted", Message{1, "ping: -i interval too short: Operation not permitted", "an ordinary user may not ping that fast: use a longer interval or root"}},
		{"no rights", "ping: socket: Operation not permitted", Message{1, "ping: socket: Operation not permitted", "ping needs its set-user-id bit, CAP_NET_RAW or root"}},
		{"other program", "user@s1:~ % ping -c 10 r1", Other{1, "user@s1:~ % ping -c 10 r1"}},
		{"control characters", "\x1b]0;x\aping: \x1b[31mr9\x1b[m: Name or service not known\a", Message{1, "ping: r9: Name or service not known", "check the host's name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n"} {
				if d := cmp.Diff([]Record{tt.want}, parse(tt.line+end)); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	for _, line := range []string{
		"64 bytes from 10.77.0.2:",
		"64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=abc ms",
		"64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=-1 ms",
		"64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=nan ms",
		"64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.1",
		"no answer yet for icmp_seq=",
		"x packets transmitted, 1 received",
		"5 packets transmitted, nothing",
		"rtt min/avg/max/mdev = a/b/c/d ms",
		"10.77.1.2 : xmt/rcv/%loss = 20",
		strings.Repeat("x", 70000),
	} {
		bad := 0
		for _, r := range parse("PING r1 (10.1.1.3): 56 data bytes\n" + line + "\n64 bytes from 10.1.1.3: icmp_seq=0 ttl=64 time=0.221 ms\n") {
			switch r := r.(type) {
			case Bad:
				bad++
				if r.Line != 2 || r.Reason == "" || len(r.Text) > 120 {
					t.Errorf("%.40q: %+v", line, r)
				}
			case Reply:
				if r.Line != 3 {
					t.Errorf("%.40q is a reply: %+v", line, r)
				}
			}
		}
		if bad != 1 {
			t.Errorf("%.40q: %d bad lines, want 1", line, bad)
		}
	}
	if got := parse("64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.1"); len(got) != 1 || got[0].(Bad).Reason == "" {
		t.Errorf("a cut last line gives %+v", got)
	}
}

// TestWrap: sequence numbers have 16 bits on the wire.
func TestWrap(t *testing.T) {
	var text strings.Builder
	in := []int{65534, 65535, 0, 65533, 1, 2}
	for _, seq := range in {
		fmt.Fprintf(&text, "64 bytes from 10.77.0.2: icmp_seq=%d ttl=64 time=1 ms\n", seq)
	}
	want := []float64{65534, 65535, 65536, 65533, 65537, 65538}
	for i, r := range parse(text.String()) {
		if got := r.(Reply).Seq.V; got != want[i] {
			t.Errorf("%d unwraps to %g, want %g", in[i], got, want[i])
		}
	}
}

// TestFpingTargets: two targets have numbers of their own.
func TestFpingTargets(t *testing.T) {
	b, err := os.ReadFile("testdata/fping-D-c.txt")
	if err != nil {
		t.Fatal(err)
	}
	replies, lost, starts := map[string]int{}, map[string][]float64{}, 0
	for _, rec := range parse(string(b)) {
		switch r := rec.(type) {
		case Start:
			starts++
		case Reply:
			replies[r.From]++
		case NoAnswer:
			lost[r.From] = append(lost[r.From], r.Seq.V)
		case Bad:
			t.Errorf("%+v", r)
		}
	}
	// The facts of fping-D-c.expect.json.
	if d := cmp.Diff(map[string]int{"10.77.1.2": 17, "fd77:1::2": 19}, replies); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string][]float64{"10.77.1.2": {8, 11, 14}, "fd77:1::2": {9}}, lost); d != "" || starts != 2 {
		t.Error(d, starts)
	}
}

func TestCuts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := parse(string(b))
		for cut := 0; cut <= len(b); cut++ {
			if got := parse(string(b[:cut]), string(b[cut:])); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s cut at %d: %s", name, cut, cmp.Diff(want, got))
			}
		}
		if got := parse(strings.Split(string(b), "")...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s byte by byte differs", name)
		}
	}
}

func FuzzParser(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b, len(b)/2)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		v := NewReview("x")
		var whole []Record
		p := NewParser(func(r Record) { whole = append(whole, r); v.Add(r) })
		p.Write(b)
		p.Close()
		v.Done()
		cut = max(0, min(cut, len(b)))
		if got := parse(string(b[:cut]), string(b[cut:])); !reflect.DeepEqual(got, whole) {
			t.Fatalf("cut at %d: %s", cut, cmp.Diff(whole, got))
		}
		for _, rec := range whole {
			if r, ok := rec.(Reply); ok && (r.RTT.V < 0 || r.RTT.V != r.RTT.V) {
				t.Fatalf("%+v", r)
			}
			if strings.ContainsFunc(fmt.Sprintf("%+v", rec), lines.IsControl) {
				t.Fatalf("control characters in %+q", fmt.Sprintf("%+v", rec))
			}
		}
	})
}

// BenchmarkReply is one line of ping; -i 0.01 gives 100 a second.
func BenchmarkReply(b *testing.B) {
	line := []byte("[1796036202.126113] 64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.040 ms\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	p := NewParser(func(Record) {})
	for b.Loop() {
		p.Write(line)
	}
}
