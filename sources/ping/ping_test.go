package ping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// A log keeps what a source said.
type log struct {
	samples []sources.Sample
	events  []sources.Event
}

func (l *log) Sample(s sources.Sample) { l.samples = append(l.samples, s) }
func (l *log) Event(e sources.Event)   { l.events = append(l.events, e) }

func (l *log) of(m sources.Metric) (got []sources.Sample) {
	for _, s := range l.samples {
		if s.Series.Metric == m {
			got = append(got, s)
		}
	}
	return got
}

func (l *log) text(kind sources.EventKind) string {
	var all []string
	for _, e := range l.events {
		if e.Kind == kind {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n")
}

// at are the times of samples in milliseconds since start.
func at(samples []sources.Sample, start time.Time) (ms []int64) {
	for _, s := range samples {
		ms = append(ms, s.At.Sub(start).Milliseconds())
	}
	return ms
}

// script writes lines to a pipe at their times (milliseconds) and returns what the
// Stream made of them and how its Run ended.
func script(t *testing.T, lines map[int]string, until time.Duration) (l *log, start time.Time, err error) {
	t.Helper()
	l = &log{}
	synctest.Test(t, func(t *testing.T) {
		start = time.Now()
		r, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- FromReader("ping log", r).Run(ctx, l) }()
		var when []int
		for ms := range lines {
			when = append(when, ms)
		}
		slices.Sort(when)
		for _, ms := range when {
			time.Sleep(start.Add(time.Duration(ms) * time.Millisecond).Sub(time.Now()))
			io.WriteString(w, lines[ms])
		}
		time.Sleep(start.Add(until).Sub(time.Now()))
		w.Close()
		err = <-done
		cancel()
	})
	return l, start, err
}

func reply(seq int, ms string) string {
	return fmt.Sprintf("64 bytes from 10.0.0.2: icmp_seq=%d ttl=64 time=%s ms\n", seq, ms)
}

const (
	iputilsHead = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n"
	bsdHead     = "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n"
)

func TestRepliesAreSampledWhenTheyArrive(t *testing.T) {
	l, start, err := script(t, map[int]string{
		200: iputilsHead, 201: reply(1, "0.500"), 401: reply(2, "0.250"), 402: reply(2, "0.900 ms (DUP!)"), 601: reply(3, "0.125"),
	}, 3*time.Second)
	if !errors.Is(err, io.EOF) {
		t.Errorf("Run ended with %v", err)
	}
	got := l.of(sources.PingRTT)
	if want := []int64{201, 401, 601}; !slices.Equal(at(got, start), want) {
		t.Errorf("replies at %v ms, want %v", at(got, start), want)
	}
	for i, us := range []float64{500, 250, 125} {
		if i < len(got) && (got[i].Sum != us || got[i].N != 1 || got[i].Series.Subject != "10.0.0.2") {
			t.Errorf("sample %d is %+v", i, got[i])
		}
	}
	if n := len(l.of(sources.PingLost)); n != 0 {
		t.Errorf("%d losses, want none", n)
	}
}

// TestGapIsLossAfterGrace: probes 2 and 3 have no answer; at 1 s the pings are 1 s
// apart, so the grace is 3 s and the gap is told after it, at the probes' own times.
func TestGapIsLossAfterGrace(t *testing.T) {
	lines := map[int]string{1000: iputilsHead, 1001: reply(1, "1.00"), 4001: reply(4, "1.00")}
	early, _, _ := script(t, lines, 4500*time.Millisecond)
	if n := len(early.of(sources.PingLost)); n != 0 {
		t.Errorf("%d losses within the grace time, want none", n)
	}
	l, start, _ := script(t, lines, 9*time.Second)
	got := l.of(sources.PingLost)
	if want := []int64{2000, 3000}; !slices.Equal(at(got, start), want) {
		t.Errorf("losses at %v ms, want %v", at(got, start), want)
	}
	for _, s := range got {
		if s.Sum != 1 || s.Span != time.Second {
			t.Errorf("a loss is %+v, want 1 over 1 s", s)
		}
	}
}

// TestPendingIsNoLoss: with -O and an RTT above the interval every probe first has
// no answer; all answers come within the grace time.
func TestPendingIsNoLoss(t *testing.T) {
	lines := map[int]string{150: iputilsHead}
	for i := 1; i <= 10; i++ {
		lines[150+i*100] = fmt.Sprintf("no answer yet for icmp_seq=%d\n", i)
		lines[151+(i-1)*100+302] = reply(i, "302")
	}
	l, _, _ := script(t, lines, 8*time.Second)
	if n, r := len(l.of(sources.PingLost)), len(l.of(sources.PingRTT)); n != 0 || r != 10 {
		t.Errorf("%d losses and %d replies, want 0 and 10", n, r)
	}
}

// TestLateAnswer: the answer to probe 2 comes 5 s after it was sent, past the grace.
func TestLateAnswer(t *testing.T) {
	l, _, _ := script(t, map[int]string{
		150: iputilsHead, 151: reply(1, "1.00"), 2150: "no answer yet for icmp_seq=2\n", 6150: reply(2, "5000"), 6151: reply(6, "1.00"),
	}, 7*time.Second)
	if n := len(l.of(sources.PingLost)); n == 0 {
		t.Error("no loss was told")
	}
	if text := l.text(sources.PingLate); !strings.Contains(text, "probe 2") || strings.Count(text, "\n") != 0 {
		t.Errorf("late answers: %q", text)
	}
	if n := len(l.of(sources.PingRTT)); n != 3 {
		t.Errorf("%d round trips, want 3", n)
	}
}

// TestForeignSilenceIsNoLoss: nobody knows whether a ping of somebody else's still
// runs.
func TestForeignSilenceIsNoLoss(t *testing.T) {
	l, _, _ := script(t, map[int]string{150: bsdHead, 151: reply(0, "1.00"), 1151: reply(1, "1.00")}, time.Minute)
	if n := len(l.of(sources.PingLost)); n != 0 {
		t.Errorf("%d losses, want none", n)
	}
}

// TestBacklog: four answers at once were there before; those that come one by one,
// and those with a time of their own, are drawn where they belong.
func TestBacklog(t *testing.T) {
	old := bsdHead + reply(0, "1.00") + reply(1, "1.00") + reply(2, "1.00") + reply(3, "1.00")
	l, start, _ := script(t, map[int]string{0: old, 20: reply(4, "1.00"), 600: reply(5, "1.00")}, time.Second)
	if got := l.of(sources.PingRTT); !slices.Equal(at(got, start), []int64{20, 600}) || !strings.HasPrefix(l.text(sources.SourceNote), "4 earlier answers") {
		t.Errorf("replies at %v, notes %q", at(got, start), l.text(sources.SourceNote))
	}
	stamped := iputilsHead // the clock of a synctest bubble begins in 2000
	for i := 1; i <= 5; i++ {
		stamped += fmt.Sprintf("[%d.000000] %s", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()-20+int64(i), reply(i, "1.00"))
	}
	l, start, _ = script(t, map[int]string{0: stamped}, time.Second)
	if got := at(l.of(sources.PingRTT), start); !slices.Equal(got, []int64{-19000, -18000, -17000, -16000, -15000}) {
		t.Errorf("replies at %v", got)
	}
}

func TestEndedLogIsNotDrawn(t *testing.T) {
	l, _, err := script(t, map[int]string{0: bsdHead + reply(0, "1.00") + reply(1, "1.00") + reply(2, "1.00") + reply(3, "1.00") +
		"\n--- 10.0.0.2 ping statistics ---\n4 packets transmitted, 4 packets received, 0.0% packet loss\n"}, time.Second)
	if len(l.samples) != 0 || !strings.Contains(l.text(sources.SourceNote), "netwatch review") || !errors.Is(err, io.EOF) {
		t.Errorf("%d samples, notes %q, %v", len(l.samples), l.text(sources.SourceNote), err)
	}
}

// own feeds the output of a FreeBSD ping that netwatch started, with a tick every
// 200 ms until end.
func own(t *testing.T, lines map[int]string, interval time.Duration, end int) (*log, time.Time) {
	t.Helper()
	l := &log{}
	start := time.Unix(1_800_000_000, 0)
	f := newFeed(book{}, l, "10.0.0.2", true, interval)
	for ms := 0; ms <= end; ms++ {
		now := start.Add(time.Duration(ms) * time.Millisecond)
		if s, ok := lines[ms]; ok {
			f.read([]byte(s), false)
			f.flush(now)
		}
		if ms%200 == 0 {
			f.tick(now)
		}
	}
	return l, start
}

// TestSilenceOfFreeBSD: ping says nothing of lost probes. Ten answers come, then
// none; at 1 s per probe and 3 s grace, probes 10 to 16 (sent at 10 s to 16 s) are
// lost at 20 s, or one fewer because the clock is kept slow on purpose.
func TestSilenceOfFreeBSD(t *testing.T) {
	lines := map[int]string{0: bsdHead}
	for i := range 10 {
		lines[i*1000+1] = reply(i, "1.000")
	}
	l, start := own(t, lines, time.Second, 20000)
	got := l.of(sources.PingLost)
	if len(got) < 6 || len(got) > 7 {
		t.Fatalf("%d losses, want 6 or 7", len(got))
	}
	for i, s := range got {
		want := start.Add(time.Duration(10+i) * time.Second)
		if s.At.Sub(want).Abs() > 200*time.Millisecond {
			t.Errorf("loss %d at %v, want %v", i, s.At.Sub(start), want.Sub(start))
		}
	}
	// Then probe 20 is answered: 10 to 19 were lost, each once, and none came late.
	lines[20001] = reply(20, "1.000")
	l, _ = own(t, lines, time.Second, 30000)
	lost := 0
	for _, s := range l.of(sources.PingLost) {
		if s.At.Before(start.Add(20 * time.Second)) {
			lost++
		}
	}
	if lost != 10 || l.text(sources.PingLate) != "" {
		t.Errorf("%d losses before probe 20, want 10; late: %q", lost, l.text(sources.PingLate))
	}
}

func TestNeverAnAnswer(t *testing.T) {
	l, _ := own(t, map[int]string{0: bsdHead}, time.Second, 10000)
	if n := len(l.of(sources.PingLost)); n < 6 || n > 8 { // probes of 0 s to 7 s, grace 3 s
		t.Errorf("%d losses in 10 s of silence, want 6 to 8", n)
	}
}

// TestComplaints: an unreachable network says the same each probe; it is told every
// ten seconds.
func TestComplaints(t *testing.T) {
	lines := map[int]string{150: iputilsHead}
	for i := 1; i <= 15; i++ {
		lines[i*1000] = fmt.Sprintf("From 10.0.0.1 icmp_seq=%d Destination Host Unreachable\n", i)
	}
	l, _, _ := script(t, lines, 20*time.Second)
	if got := l.text(sources.SourceNote); got != "10.0.0.1 says: Destination Host Unreachable\n10.0.0.1 says: Destination Host Unreachable" {
		t.Errorf("notes %q", got)
	}
}

// Both are sources.
var _ = []sources.Source{(*Ping)(nil), (*Stream)(nil)}

func TestCommand(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	tests := []struct {
		goos    string
		root    bool
		iputils func() bool
		asked   time.Duration
		want    string
		every   time.Duration
		note    bool
	}{
		{"linux", false, yes, Fastest, "ping -n -D -O -i 0.2 r1", Fastest, false},
		{"linux", false, yes, 10 * time.Millisecond, "ping -n -D -O -i 0.2 r1", Fastest, true},
		{"linux", true, yes, 10 * time.Millisecond, "ping -n -D -O -i 0.01 r1", 10 * time.Millisecond, false},
		{"linux", false, no, Fastest, "ping r1", time.Second, true},
		{"freebsd", false, no, Fastest, "ping -n r1", time.Second, true},
		{"freebsd", false, no, time.Second, "ping -n r1", time.Second, false},
		{"freebsd", false, no, 2 * time.Second, "ping -n -i 2 r1", 2 * time.Second, false},
		{"freebsd", true, no, Fastest, "ping -n -i 0.2 r1", Fastest, false},
	}
	for _, tt := range tests {
		argv, every, note := command(tt.goos, tt.root, tt.iputils, tt.asked, "r1")
		if got := strings.Join(argv, " "); got != tt.want || every != tt.every || (note != "") != tt.note {
			t.Errorf("%s root=%v %s: %q every %s, note %q; want %q", tt.goos, tt.root, tt.asked, got, every, note, tt.want)
		}
	}
}

func TestNoHost(t *testing.T) {
	for _, target := range []string{"", "-f", "--help", "r1 r2", "r\x1b[2J"} {
		if err := New(target, 0).Run(t.Context(), &log{}); err == nil {
			t.Errorf("%q was pinged", target)
		}
	}
}
