package iperf

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
)

// fake writes a program called name that runs a script of /bin/sh, with the
// captured files of testdata beside it.
func fake(t *testing.T, name, script string) string {
	t.Helper()
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("the fake programs are scripts: ", err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncd "+here+"\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// runLoad runs a Load to its end.
func runLoad(t *testing.T, l *Load) (*log, error) {
	t.Helper()
	sink := &log{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := l.Run(ctx, sink)
	return sink, err
}

const knowsJSON = `case "$*" in *--help*) echo " --json-stream --forceflush"; exit 0;; esac
`

// TestJSONStream: an iperf3 of 3.21 is started in its best mode; the sums are
// exact. The run has 61603840 bytes in 5.003136 s, its ten windows and RTTs are
// those of the file.
func TestJSONStream(t *testing.T) {
	l := New([]string{fake(t, "iperf3", knowsJSON+`case "$*" in *--json-stream*) cat i3-json-stream.ndjson;; esac`), "-c", "10.77.1.2"})
	sink, err := runLoad(t, l)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for _, subject := range []string{"5", "SUM"} {
		got := sink.of(subject, sources.Goodput)
		sum := 0.0
		for _, s := range got {
			sum += s.Sum
		}
		if len(got) != 10 || sum != 61603840 {
			t.Errorf("%s: %d samples with %g bytes, want 10 with 61603840", subject, len(got), sum)
		}
		// The rates of the file, weighted by its own times.
		if m := mean(got); math.Abs(m-98504363.061) > 100 {
			t.Errorf("%s: mean %g", subject, m)
		}
	}
	rtt, cwnd := sink.of("5", sources.IperfRTT), sink.of("5", sources.Cwnd)
	if len(rtt) != 10 || rtt[9].Sum != 20002 || len(cwnd) != 10 || cwnd[9].Sum != 344624 || len(sink.of("5", sources.RTTVar)) != 10 {
		t.Errorf("rtt %v, cwnd %v", rtt, cwnd)
	}
	if got := sink.text(sources.SourceUp); got != "iperf3 3.21" {
		t.Errorf("up: %q", got)
	}
	if got, want := sink.text(sources.RunEnded), "iperf3 #1 98.5 Mbit/s sent (1101 retransmits), 95.6 Mbit/s received in 5.0 s, bbr"; got != want {
		t.Errorf("ended: %q, want %q", got, want)
	}
	if r := l.Result(); !r.Ended || r.Failed {
		t.Errorf("result %+v", r)
	}
	if got := sink.text(sources.FlowSeen); got != "5" || sink.events[2].Flow.Remote.String() != "10.77.1.2:5201" {
		t.Errorf("flows %q %+v", got, sink.events)
	}
}

// TestAgain: the same Load runs twice; series stay, runs are numbered on.
func TestAgain(t *testing.T) {
	l := New([]string{fake(t, "iperf3", knowsJSON+`cat i3-json-stream-P3-R.ndjson`), "-c", "r1", "-P", "3", "-R"})
	first, _ := runLoad(t, l)
	second, _ := runLoad(t, l)
	if !strings.HasPrefix(first.text(sources.RunStarted), "iperf3 #1 ") || !strings.HasPrefix(second.text(sources.RunStarted), "iperf3 #2 ") {
		t.Errorf("%q, %q", first.text(sources.RunStarted), second.text(sources.RunStarted))
	}
	a, b := first.of("SUM", sources.RxGood), second.of("SUM", sources.RxGood)
	if len(a) != 4 || len(b) != 4 || a[0].Series != b[0].Series {
		t.Fatalf("%d and %d sums", len(a), len(b))
	}
	// 4063232 + 3145728 + 4194304 bytes in the first interval.
	if a[0].Sum != 11403264 {
		t.Errorf("first sum %g", a[0].Sum)
	}
	if n := len(first.of("SUM", sources.Retrans)); n != 0 {
		t.Errorf("%d retransmit samples of a receiver", n)
	}
}

// TestLyingExits: the exit status says nothing, the text does.
func TestLyingExits(t *testing.T) {
	tests := []struct {
		name, program, script string
		failed                bool
		note                  string
	}{
		{"iperf2 refused, status 0", "iperf", `echo "tcp connect failed: Connection refused"`, true, "start iperf3 -s (iperf2: iperf -s)"},
		{"iperf3 refused", "iperf3", `echo "iperf3: error - unable to connect to server: Connection refused" >&2; exit 1`, true, "no server there"},
		{"iperf3 -J with status 0", "iperf3", `printf '{\n"start":{},\n"error":"the server is busy running a test. try again later"\n}\n'`, true, "wait for the other test"},
		{"status 1 without a word", "iperf3", `exit 1`, true, "exit status 1"},
		{"crash", "iperf3", `kill -SEGV $$`, true, "signal"},
		{"other command, last lines", "nuttcp", `echo one; echo two; echo three; echo four; exit 2`, true, "two | three | four"},
		{"other command, fine", "nuttcp", `echo fine`, false, "exit status 0: fine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New([]string{fake(t, tt.program, `case "$*" in *--help*|*-v*) exit 0;; esac
`+tt.script), "-c", "r1", "-J"})
			sink, err := runLoad(t, l)
			if !errors.Is(err, io.EOF) || l.Result().Failed != tt.failed || !strings.Contains(sink.text(sources.SourceNote), tt.note) {
				t.Errorf("%v, %+v, notes %q", err, l.Result(), sink.text(sources.SourceNote))
			}
			if s, e := len(kind(sink, sources.RunStarted)), len(kind(sink, sources.RunEnded)); s != e {
				t.Errorf("%d runs started, %d ended", s, e)
			}
		})
	}
}

func kind(l *log, k sources.EventKind) (got []sources.Event) {
	for _, e := range l.events {
		if e.Kind == k {
			got = append(got, e)
		}
	}
	return got
}

// TestScriptOfRuns: a command that runs iperf3 itself: its runs are the runs.
func TestScriptOfRuns(t *testing.T) {
	l := New([]string{fake(t, "experiment", "echo hello; cat i3-json-stream.ndjson; cat i3-json-stream-P3-R.ndjson")})
	sink, _ := runLoad(t, l)
	var names []string
	open := 0
	for _, e := range sink.events {
		switch e.Kind {
		case sources.RunStarted:
			names = append(names, e.Subject)
			open++
		case sources.RunEnded:
			open--
		}
		if open > 1 {
			t.Error("two runs at a time")
		}
	}
	if strings.Join(names, ",") != "load #1,iperf3 #1,iperf3 #2" || open != 0 {
		t.Errorf("runs %q, %d open", names, open)
	}
}

func TestCannotStartLoad(t *testing.T) {
	_, err := runLoad(t, New([]string{"no-such-load-generator"}))
	if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "no-such-load-generator") {
		t.Errorf("got %v", err)
	}
}

// TestStopBeforeStart: what is stopped while netwatch asks for its options never
// starts.
func TestStopBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sink := &log{}
	l := New([]string{fake(t, "iperf3", `echo "Connecting to host r1, port 5201"`), "-c", "r1"})
	if err := l.Run(ctx, sink); err != nil || len(sink.events) != 0 || l.Running() || l.Result().Ended {
		t.Errorf("%v, %+v, %+v", err, sink.events, l.Result())
	}
}

// TestStop: Stop is Ctrl-C; what the user stopped has not failed.
func TestStop(t *testing.T) {
	l := New([]string{fake(t, "iperf3", `case "$*" in *--help*) exit 0;; esac
trap 'echo "iperf3: interrupt - the client has terminated" >&2; exit 1' INT
echo "Connecting to host r1, port 5201"
while :; do sleep 0.05; done`), "-c", "r1"})
	sink := &log{heard: make(chan sources.EventKind, 100)}
	done := make(chan error, 1)
	go func() { done <- l.Run(t.Context(), sink) }()
	for kind := range sink.heard {
		if kind == sources.RunStarted {
			break
		}
	}
	if !l.Running() {
		t.Error("a load that runs does not run")
	}
	if err := l.Run(t.Context(), sink); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a second Run at the same time: %v", err)
	}
	l.Stop()
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if r := l.Result(); r.Failed || r.Status.Code != 1 || l.Running() {
		t.Errorf("result %+v", r)
	}
	if got := sink.text(sources.RunEnded); got != "iperf3 #1 no final figure, exit status 1" {
		t.Errorf("ended: %q", got)
	}
}

// A load that is killed in the middle of a run is told once, as an error, with its last
// words.
func TestAKilledLoadIsToldOnce(t *testing.T) {
	sink, err := runLoad(t, New([]string{fake(t, "iperf3", `case "$*" in *--help*) exit 0;; esac
echo "Connecting to host r1, port 5201"
kill -KILL $$`), "-c", "r1"}))
	ended := kind(sink, sources.RunEnded)
	if !errors.Is(err, io.EOF) || len(ended) != 1 || !ended[0].Error || !strings.Contains(ended[0].Text, "signal") || sink.text(sources.SourceNote) != "" {
		t.Errorf("%v, %+v, notes %q", err, ended, sink.text(sources.SourceNote))
	}
}
