package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/experiment/recording"
	"netwatch/screenshots/terminal"
)

// costTime is how long a cost is measured: the budgets are for 20 s.
const costTime = 20 * time.Second

// cost runs netwatch on a screen of 120x40 and reports what it took from the
// machine: user and system time of the process, its largest resident size, what it
// wrote to the terminal, and the time to its first frame.
func cost(b *testing.B, during func(time.Duration), args ...string) {
	bin, err := buildOnce()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		began := time.Now()
		term, err := terminal.Start(120, 40, nil, append([]string{bin}, args...)...)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := term.Wait(5*time.Second, func(s string) bool { return strings.TrimSpace(s) != "" }); err != nil {
			b.Fatal(err)
		}
		first := time.Since(began)
		before := term.Bytes()
		during(costTime)
		written := term.Bytes() - before
		if err := term.Keys("q"); err != nil {
			b.Fatal(err)
		}
		if _, _, err := term.End(10 * time.Second); err != nil {
			b.Fatal(err)
		}
		u := term.Cmd.ProcessState.SysUsage().(*syscall.Rusage)
		cpu := time.Duration(u.Utime.Nano() + u.Stime.Nano())
		b.ReportMetric(100*cpu.Seconds()/costTime.Seconds(), "%core")
		b.ReportMetric(float64(u.Maxrss)/1024, "MiB-rss")
		b.ReportMetric(float64(written)/1024/costTime.Seconds(), "KiB/s-tty")
		b.ReportMetric(float64(first.Milliseconds()), "ms-first-frame")
		term.Close()
	}
}

// BenchmarkAgent is the far end of a session, idle and without its ssh, its start counted
// in: a peer that is sampled each second, and one that is sampled as often as this end.
func BenchmarkAgent(b *testing.B) {
	bin, err := buildOnce()
	if err != nil {
		b.Fatal(err)
	}
	for _, every := range []time.Duration{time.Second, 100 * time.Millisecond} {
		b.Run(every.String(), func(b *testing.B) {
			for b.Loop() {
				agentCost(b, bin, every)
			}
		})
	}
}

func agentCost(b *testing.B, bin string, every time.Duration) {
	var said bytes.Buffer
	cmd := exec.Command(bin, "agent", "lo")
	cmd.Stdout = &said
	cmd.Env = append(os.Environ(), "NETWATCH_STATE="+b.TempDir())
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	request, err := recording.AppendRequest(nil, recording.Request{Watch: &recording.Watch{ID: 1, Every: every.Microseconds()}})
	if err == nil {
		_, err = in.Write(request)
	}
	if err != nil {
		b.Error(err)
	}
	const asks = 2 * time.Second // the other end asks what time it is
	for range costTime / asks {
		if _, err := io.WriteString(in, `{"clock":{"id":1,"at":1,"silence":10000000}}`+"\n"); err != nil {
			b.Error(err)
		}
		time.Sleep(asks)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Error(err)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(100*cpu.Seconds()/costTime.Seconds(), "%core")
	b.ReportMetric(float64(said.Len())/costTime.Seconds(), "B/s-pipe")
}

// BenchmarkLiveIdle is `netwatch lo` with nothing to see but itself.
func BenchmarkLiveIdle(b *testing.B) { cost(b, time.Sleep, "lo") }

// BenchmarkLiveSiftr2 is the same while a siftr2 log grows by 60,000 records/s.
func BenchmarkLiveSiftr2(b *testing.B) {
	log := b.TempDir() + "/siftr2.log"
	k := newKernel(b, log, 60_000)
	cost(b, k.log, "lo", "--siftr", log)
}

// BenchmarkDemo is the simulated testbed, which makes its own 60,000 records/s.
func BenchmarkDemo(b *testing.B) { cost(b, time.Sleep, "demo") }
