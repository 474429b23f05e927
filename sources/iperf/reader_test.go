package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// script writes text to a pipe at its times (milliseconds) and returns what the
// Stream made of it.
func script(t *testing.T, text map[int]string) (l *log, start time.Time) {
	t.Helper()
	l = &log{}
	synctest.Test(t, func(t *testing.T) {
		start = time.Now()
		r, w := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- FromReader("a pipe", r).Run(t.Context(), l) }()
		var when []int
		for ms := range text {
			when = append(when, ms)
		}
		slices.Sort(when)
		for _, ms := range when {
			time.Sleep(start.Add(time.Duration(ms) * time.Millisecond).Sub(time.Now()))
			io.WriteString(w, text[ms])
		}
		w.Close()
		if err := <-done; !errors.Is(err, io.EOF) {
			t.Errorf("Run ended with %v", err)
		}
	})
	return l, start
}

const head3 = "Connecting to host r1, port 5201\n[  5] local 10.1.1.2 port 1 connected to 10.1.1.3 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"

func row3(id int, from, to float64, mbit int) string {
	return fmt.Sprintf("[%3d] %6.2f-%-6.2f sec  %4d MBytes  %4d Mbits/sec    0    327 KBytes       \n", id, from, to, mbit/8, mbit)
}

const done3 = `- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   225 MBytes   944 Mbits/sec    0             sender
[  5]   0.00-2.00   sec   225 MBytes   942 Mbits/sec                  receiver

iperf Done.
`

// times are the ends of samples in milliseconds since start.
func times(samples []sources.Sample, start time.Time) (ms []int64) {
	for _, s := range samples {
		ms = append(ms, s.At.Sub(start).Milliseconds())
	}
	return ms
}

// TestAnchor: the first row ends where it arrives, the next ones by their distance
// to it, however late they are read.
func TestAnchor(t *testing.T) {
	l, start := script(t, map[int]string{
		150: head3, 1160: row3(5, 0, 1, 944), 2185: row3(5, 1, 2, 936), 3150: row3(5, 2, 3, 920), 3260: row3(5, 3, 3.05, 800), 3400: done3,
	})
	got := l.of("SUM", sources.Goodput)
	if want := []int64{1160, 2160, 3160, 3210}; !slices.Equal(times(got, start), want) {
		t.Errorf("samples at %v, want %v", times(got, start), want)
	}
	// Weighted by time: (944 + 936 + 920 + 0.05*800) / 3.05.
	if m, want := mean(got), 2840e6/3.05; m < want*0.9999 || m > want*1.0001 {
		t.Errorf("mean %g, want %g", m, want)
	}
	if got := l.text(sources.RunEnded); got != "iperf3 #1 944 Mbit/s sent (0 retransmits), 942 Mbit/s received in 2.0 s" {
		t.Errorf("ended: %q", got)
	}
	if got := l.text(sources.RunStarted); got != "iperf3 #1 to r1 port 5201" {
		t.Errorf("started: %q", got)
	}
}

// TestBufferedPipe: iperf3 without --forceflush says all at its end. The rows are
// of the last seconds, not of the future.
func TestBufferedPipe(t *testing.T) {
	l, start := script(t, map[int]string{3000: head3 + row3(5, 0, 1, 944) + row3(5, 1, 2, 936) + row3(5, 2, 3, 920) + done3})
	if got, want := times(l.of("5", sources.Goodput), start), []int64{1000, 2000, 3000}; !slices.Equal(got, want) {
		t.Errorf("samples at %v, want %v", got, want)
	}
	if e := kind(l, sources.RunStarted); len(e) != 1 || e[0].At.Sub(start) != 0 {
		t.Errorf("started %+v", e)
	}
}

// TestBlocks: the first block ends in the middle of a run.
func TestBlocks(t *testing.T) {
	l, start := script(t, map[int]string{150: head3, 1100: row3(5, 0, 1, 944), 1200: row3(5, 1, 2, 936) + row3(5, 2, 3, 920), 4200: row3(5, 3, 4, 900)})
	for _, at := range times(l.of("5", sources.Goodput), start) {
		if at > 4200 {
			t.Errorf("a sample at %d ms, in the future", at)
		}
	}
	if got := l.text(sources.SourceNote); !strings.Contains(got, "--forceflush") || strings.Contains(got, "\n") {
		t.Errorf("notes %q", got)
	}
}

// TestFinishedLog: what was over before netwatch looked is said, not drawn.
func TestFinishedLog(t *testing.T) {
	l, _ := script(t, map[int]string{0: head3 + row3(5, 0, 1, 944) + row3(5, 1, 2, 936) + done3, 5000: head3, 6000: row3(5, 0, 1, 900)})
	if got := l.of("5", sources.Goodput); len(got) != 1 || got[0].Last*8 != 900e6 {
		t.Errorf("samples %+v", got)
	}
	if got := l.text(sources.SourceNote); !strings.Contains(got, "944 Mbit/s") || !strings.Contains(got, "netwatch review") {
		t.Errorf("notes %q", got)
	}
	if got := l.text(sources.RunStarted); got != "iperf3 #1 to r1 port 5201" {
		t.Errorf("started %q", got)
	}
}

const pair3 = "Connecting to host r1, port 5201\n[  5] local 10.1.1.2 port 1 connected to 10.1.1.3 port 5201\n[  7] local 10.1.1.2 port 2 connected to 10.1.1.3 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"

// A growing file, as far as a Stream knows.
type growing struct {
	io.Reader
	since time.Time
}

func (g *growing) Since() time.Time { return g.since }

// TestCopiedFile: a minute after the start a file is at the path that has a whole run of
// three seconds. It is no run of now; one that takes its time is, also when all of it is
// written at its end.
func TestCopiedFile(t *testing.T) {
	whole := head3 + row3(5, 0, 1, 944) + row3(5, 1, 2, 936) + row3(5, 2, 3, 920) + done3
	for name, c := range map[string]struct {
		pieces []string
		after  time.Duration // between the opening and the writing
		runs   int
	}{
		"copied": {[]string{whole}, 0, 0}, "copied in pieces": {[]string{whole[:len(whole)/2], whole[len(whole)/2:]}, 0, 0},
		"written at its end": {[]string{whole}, 3 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &log{}
				r, w := io.Pipe()
				g := &growing{r, time.Now()}
				done := make(chan error)
				go func() { done <- FromReader("load", g).Run(t.Context(), l) }()
				time.Sleep(time.Minute)
				synctest.Wait()
				g.since = time.Now()
				time.Sleep(c.after)
				for _, p := range c.pieces {
					io.WriteString(w, p)
				}
				time.Sleep(time.Second)
				w.Close()
				<-done
				started, rows, said := len(kind(l, sources.RunStarted)), len(l.of("5", sources.Goodput)), strings.Contains(l.text(sources.SourceNote), "before netwatch began to look")
				if started != c.runs || rows != 3*c.runs || said != (c.runs == 0) {
					t.Errorf("%d runs, %d rows, said %v; want %d, %d", started, rows, said, c.runs, 3*c.runs)
				}
			})
		})
	}
}

// TestSumAtOnce: the sum is told with the last stream's row, and the tool's own
// [SUM] row, which --forceflush lets out an interval late, changes nothing.
func TestSumAtOnce(t *testing.T) {
	l := &log{}
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- FromReader("a pipe", r).Run(ctx, l) }()
		time.Sleep(200 * time.Millisecond)
		io.WriteString(w, pair3)
		time.Sleep(time.Second)
		io.WriteString(w, row3(5, 0, 1, 400))
		synctest.Wait()
		if n := len(l.of("SUM", sources.Goodput)); n != 0 {
			t.Errorf("%d sums before the second stream", n)
		}
		io.WriteString(w, row3(7, 0, 1, 480))
		synctest.Wait()
		if got := l.of("SUM", sources.Goodput); len(got) != 1 || got[0].Last*8 != 880e6 || got[0].Span != time.Second {
			t.Errorf("sum %+v", got)
		}
		time.Sleep(time.Second)
		io.WriteString(w, "[SUM]   0.00-1.00   sec   110 MBytes   880 Mbits/sec    0             \n- - - - - - - - - - - - - - - - - - - - - - - - -\n"+row3(5, 1, 2, 400))
		synctest.Wait()
		if n := len(l.of("SUM", sources.Goodput)); n != 1 {
			t.Errorf("%d sums, want 1", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v after its context", err)
		}
	})
}

// TestIperf2Interleaved: totals, sums and short last rows of iperf2 -P 2 come in any
// order; only whole intervals are summed.
func TestIperf2Interleaved(t *testing.T) {
	l, _ := script(t, map[int]string{150: `Client connecting to r1, TCP port 5001 with pid 1 (2 flows)
[  1] local 10.1.1.2 port 1 connected with 10.1.1.3 port 5001
[  2] local 10.1.1.2 port 2 connected with 10.1.1.3 port 5001
`, 1200: `[  2] 0.0000-1.0000 sec  60.0 MBytes   500 Mbits/sec
[  1] 0.0000-1.0000 sec  48.0 MBytes   400 Mbits/sec
[SUM] 0.0000-1.0000 sec   108 MBytes   900 Mbits/sec
`, 2200: `[  1] 1.0000-2.0000 sec  48.0 MBytes   400 Mbits/sec
[  1] 0.0000-2.1000 sec  96.0 MBytes   381 Mbits/sec
[  2] 1.0000-2.0000 sec  60.0 MBytes   500 Mbits/sec
[SUM] 1.0000-2.0000 sec   108 MBytes   900 Mbits/sec
[  2] 2.0000-3.2000 sec   128 KBytes   889 Kbits/sec
[  2] 0.0000-3.2000 sec   120 MBytes   320 Mbits/sec
[SUM] 0.0000-2.0634 sec   216 MBytes   880 Mbits/sec
`})
	got := l.of("SUM", sources.Goodput)
	if len(got) != 2 || got[0].Last*8 != 900e6 || got[1].Last*8 != 900e6 {
		t.Errorf("sums %+v", got)
	}
	if got := l.text(sources.RunEnded); got != "iperf2 #1 880 Mbit/s in 2.1 s" {
		t.Errorf("ended: %q", got)
	}
}

// TestJoinInTheMiddle: no banner, no connections; the streams are learned from the
// first interval.
func TestJoinInTheMiddle(t *testing.T) {
	text := map[int]string{}
	for i := range 4 {
		text[1000*(i+1)] = row3(5, float64(i+7), float64(i+8), 400) + row3(7, float64(i+7), float64(i+8), 480)
	}
	l, _ := script(t, text)
	if got := l.of("SUM", sources.Goodput); len(got) != 3 || got[0].Last*8 != 880e6 {
		t.Errorf("sums %+v", got)
	}
}

// TestUDP and latency: what only iperf2 servers and UDP know.
func TestUDPAndLatency(t *testing.T) {
	l, _ := script(t, map[int]string{150: `Server listening on UDP port 5001
[  1] local 10.77.1.2 port 5001 connected with 10.77.1.1 port 46681 (trip-times) (sock=3) (peer 2.1.8)
`, 1200: "[  1] 0.0000-1.0000 sec  2.28 MBytes  19.1 Mbits/sec   0.552 ms 63/1690 (3.7%) 6.059/5.133/24.626/1.693 ms 1630 pps 1627/10(3) pkts 395\n"})
	if s := l.of("1", sources.Latency); len(s) != 1 || s[0].Sum != 6059 || s[0].Min != 5133 || s[0].Max != 24626 {
		t.Errorf("latency %+v", s)
	}
	for m, want := range map[sources.Metric]float64{sources.Jitter: 552, sources.Lost: 63, sources.Datagrams: 1690, sources.NetPower: 395} {
		if s := l.of("1", m); len(s) != 1 || s[0].Sum != want {
			t.Errorf("%s %+v, want %g", m.Name, s, want)
		}
	}
	if s := l.of("SUM", sources.RxGood); len(s) != 1 || s[0].Last*8 != 19.1e6 {
		t.Errorf("goodput in %+v", s)
	}
}

// TestFullDuplex: iperf2's [FD1] row, which adds both directions, is nobody's
// goodput. The rates are of i2-fullduplex-e: 109, 96.5, 94.4 out, 85.9, 91.8, 97.6 in.
func TestFullDuplex(t *testing.T) {
	l, _ := script(t, map[int]string{150: `Client connecting to 10.77.1.2, TCP port 5001 with pid 14071 (1 flows)
[  1] local 10.77.1.1%tun0 port 33408 connected with 10.77.1.2 port 5001 (full-duplex) (sock=3) (icwnd/mss/irtt=14/1448/12262) (ct=12.41 ms) on 2026-11-30 10:57:14 (UTC)
`, 1200: `[  1] 0.0000-1.0000 sec  13.0 MBytes   109 Mbits/sec  104/0        658      412K/28005(264) us  487
[ *1] 0.0000-1.0000 sec  10.2 MBytes  85.9 Mbits/sec  1523=1405:64:23:3:5:2:2:19
[FD1] 0.0000-1.0000 sec  23.2 MBytes   195 Mbits/sec
`, 2200: `[ *1] 1.0000-2.0000 sec  10.9 MBytes  91.8 Mbits/sec  822=684:54:21:7:12:4:2:38
[  1] 1.0000-2.0000 sec  11.5 MBytes  96.5 Mbits/sec  92/0        444      364K/31956(1146) us  377
[FD1] 1.0000-2.0000 sec  22.4 MBytes   188 Mbits/sec
`, 3200: `[  1] 2.0000-3.0000 sec  11.2 MBytes  94.4 Mbits/sec  90/0        150      424K/32381(1207) us  364
[ *1] 2.0000-3.0000 sec  11.6 MBytes  97.6 Mbits/sec  1644=1515:66:21:4:6:3:4:25
[FD1] 2.0000-3.0000 sec  22.9 MBytes   192 Mbits/sec
[  1] 0.0000-3.0032 sec  35.9 MBytes   100 Mbits/sec  287/0       1252      424K/32381(1207) us  387
[ *1] 0.0000-3.1826 sec  34.9 MBytes  91.9 Mbits/sec  4269=3862:199:65:14:26:9:8:86
[FD1] 0.0000-3.1826 sec  70.8 MBytes   186 Mbits/sec
`})
	out, in := l.of("SUM", sources.Goodput), l.of("SUM", sources.RxGood)
	if len(out) != 3 || len(in) != 3 || math.Abs(mean(out)-(109+96.5+94.4)/3*1e6) > 1 || math.Abs(mean(in)-(85.9+91.8+97.6)/3*1e6) > 1 {
		t.Errorf("out %g of %d, in %g of %d", mean(out), len(out), mean(in), len(in))
	}
	for _, s := range l.samples {
		if strings.HasPrefix(s.Series.Subject, "FD") {
			t.Errorf("%+v", s.Series)
		}
	}
}

// TestServerReport: the server's figure at the end of a UDP run is not an interval.
func TestServerReport(t *testing.T) {
	l, _ := script(t, map[int]string{150: `Client connecting to 10.77.1.2, UDP port 5001
[  1] local 10.77.1.1 port 60055 connected with 10.77.1.2 port 5001
`, 1200: "[  1] 0.0000-1.0000 sec  1.19 MBytes  10.0 Mbits/sec\n", 2200: `[  1] 1.0000-2.0000 sec  1.19 MBytes  10.0 Mbits/sec
[  1] 0.0000-2.0012 sec  2.38 MBytes  10.0 Mbits/sec
[  1] Sent 1703 datagrams
[  1] Server Report:
[  1] 0.0000-2.0004 sec  2.38 MBytes  9.99 Mbits/sec   0.213 ms 4/1702 (0.16%)
`})
	if got := l.of("1", sources.Goodput); len(got) != 2 || len(l.of("1", sources.Jitter)) != 0 {
		t.Errorf("samples %+v", got)
	}
}

func TestOmitted(t *testing.T) {
	l, start := script(t, map[int]string{
		150: head3, 1000: strings.TrimSpace(row3(5, 0, 1, 999)) + " (omitted)\n", 2000: row3(5, 0, 1, 900), 3000: row3(5, 1, 2, 900),
	})
	if got := l.of("5", sources.Goodput); !slices.Equal(times(got, start), []int64{2000, 3000}) {
		t.Errorf("samples %+v", got)
	}
}

func TestBadLinesAreCounted(t *testing.T) {
	text := head3
	for range 9 {
		text += "[  5]   4.00-2.00   sec  1.00 MBytes  8.39 Mbits/sec\n"
	}
	l, _ := script(t, map[int]string{150: text})
	notes := l.text(sources.SourceNote)
	if strings.Count(notes, "ends before it starts") != 3 || !strings.Contains(notes, "9 lines could not be read") || !strings.Contains(notes, "line 4: ") {
		t.Errorf("notes %q", notes)
	}
}

// iperf3 prints its last row again when its server is gone: a note, once.
func TestARowThatCameAgain(t *testing.T) {
	l, _ := script(t, map[int]string{150: head3, 1160: row3(5, 0, 1, 944), 2160: row3(5, 1, 2, 936),
		2170: row3(5, 1, 2, 936), 2180: row3(5, 1, 2, 936)})
	const want = "line 6: the row of 1.00-2.00 came again or went back in time"
	notes := kind(l, sources.SourceNote)
	if len(notes) != 1 || notes[0].Text != want || notes[0].Error {
		t.Errorf("notes %+v", notes)
	}
	if got := l.of("SUM", sources.Goodput); len(got) != 2 {
		t.Errorf("%d samples of 2 rows", len(got))
	}
}

// What a pipe came to is known at its end.
func TestResultOfAStream(t *testing.T) {
	for text, failed := range map[string]bool{
		head3 + row3(5, 0, 1, 944): false,
		"iperf3: error - unable to connect to server: Connection refused\n": true,
	} {
		s := FromReader("load", strings.NewReader(text))
		if s.Result().Ended {
			t.Error("ended before it began")
		}
		if err := s.Run(t.Context(), &log{}); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if r := s.Result(); !r.Ended || r.Failed != failed || failed != strings.Contains(r.Text, "Connection refused") {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

func TestRate(t *testing.T) {
	for bits, want := range map[float64]string{0: "0 bit/s", 999: "999 bit/s", 1000: "1.00 kbit/s", 98504362: "98.5 Mbit/s", 938e6: "938 Mbit/s", 999.9e6: "1.00 Gbit/s", 37.6e9: "37.6 Gbit/s"} {
		if got := Rate(bits); got != want {
			t.Errorf("%g is %q, want %q", bits, got, want)
		}
	}
}
