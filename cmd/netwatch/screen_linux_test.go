package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

// recorded reads a recording whole.
func recorded(t *testing.T, path string) (samples []sources.Sample, events []sources.Event) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := recording.NewReader(f, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Copy(func(b sources.Batch) error {
		samples = append(samples, b.Samples...)
		events = append(events, b.Events...)
		return nil
	}); err != nil || r.NBad > 0 {
		t.Fatalf("%v, %d bad lines: %v", err, r.NBad, r.Bad)
	}
	return samples, events
}

func total(samples []sources.Sample, source, subject string, m sources.Metric) (sum, seconds float64) {
	for _, s := range samples {
		if s.Series.Source == source && s.Series.Subject == subject && s.Series.Metric == m {
			sum += s.Sum
			seconds += s.Span.Seconds()
		}
	}
	return sum, seconds
}

// A real test on the screen: the load streams in, TSO is turned by key and put
// back, the table is printed, and the figures are those of the tools.
func TestARealTestOnTheScreen(t *testing.T) {
	h := newHosts(t)
	server := h.server("-J")
	rec := filepath.Join(t.TempDir(), "x.nwr")
	term := h.netwatch(120, 40, "veth0", "--ping", ipB, "--record", rec, "--", "iperf3", "-c", ipB, "-t", "9", "-C", "cubic")
	wait(t, term, "the first frame", 5*time.Second, has("veth0", "TSO on"))
	wait(t, term, "the load and the ping", 10*time.Second, func(s string) bool {
		return strings.Contains(s, "run 1") && figure(s, "goodput") > 150 && figure(s, "goodput") < 210 && figure(s, "ping rtt") > 0
	})
	wait(t, term, "cwnd and srtt from the kernel", 5*time.Second, func(s string) bool {
		return figure(s, "cwnd KiB") > 10 && figure(s, "srtt") > 0
	})
	if got := h.tso(); got != "on" {
		t.Fatalf("TSO is %s before the turn", got)
	}
	press(t, term, "t")
	wait(t, term, "the turn", 5*time.Second, has("TSO off", "tso on -> off"))
	if got := h.tso(); got != "off" {
		t.Errorf("the screen says off, ethtool says %s", got)
	}
	wait(t, term, "the end of the run", 20*time.Second, has("iperf3 #1 ended"))
	result := server()
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	said := end(t, term, exitOK)
	if got := h.tso(); got != "on" {
		t.Errorf("TSO is %s after netwatch ended", got)
	}
	for _, want := range []string{"| setting |", "tso=on", "tso=off", "put back tso=on"} {
		if !strings.Contains(said, want) {
			t.Errorf("after the screen it does not say %q:\n%s", want, said)
		}
	}
	sameFigures(t, rec, result)
}

// figure is the number at the right of a chart's first line.
func figure(screen, chart string) float64 {
	for line := range strings.Lines(screen) {
		if !strings.HasPrefix(line, chart) {
			continue
		}
		_, right, ok := strings.Cut(line[strings.LastIndex(line, "⡇"):], "⡇")
		f := strings.Fields(right)
		if !ok || len(f) == 0 {
			return math.NaN()
		}
		v, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	return math.NaN()
}

// sameFigures compares what was recorded with what the receiver counted, with the
// tool's own end, and checks that the goodput was there as it streamed.
func sameFigures(t *testing.T, rec, server string) {
	t.Helper()
	var end struct {
		End struct {
			SumReceived struct {
				Bytes float64 `json:"bytes"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(server), &end); err != nil || end.End.SumReceived.Bytes == 0 {
		t.Fatalf("the server's JSON: %v\n%s", err, server)
	}
	received := end.End.SumReceived.Bytes
	samples, events := recorded(t, rec)
	good, seconds := total(samples, "iperf3", "SUM", sources.Goodput)
	if r := good / received; r < 0.99 || r > 1.02 {
		t.Errorf("goodput rows add up to %.4f of what the receiver got", r)
	}
	if seconds < 8.5 || seconds > 9.5 {
		t.Errorf("the rows cover %.2f s of a run of 9 s", seconds)
	}
	nic, _ := total(samples, "nic", "veth0", sources.TxOctets)
	if r := nic / received; r < 0.99 || r > 1.08 {
		t.Errorf("the card sent %.4f of what the receiver got, want 0.99 to 1.08", r)
	}
	mbit := regexp.MustCompile(`([\d.]+) Mbit/s sent`)
	for _, e := range events {
		if e.Kind != sources.RunEnded || e.Source != "iperf3" {
			continue
		}
		m := mbit.FindStringSubmatch(e.Text)
		if m == nil {
			t.Errorf("the run's end does not tell its own figure: %q", e.Text)
			return
		}
		own, _ := strconv.ParseFloat(m[1], 64)
		if r := good * 8e-6 / seconds / own; r < 0.99 || r > 1.01 {
			t.Errorf("mean of the rows is %.4f of iperf3's own %v Mbit/s", r, own)
		}
		return
	}
	t.Error("the run did not end")
}

// Ping RTTs are those of ping's own lines, and a lost probe is a lost probe.
func TestPingFiguresAreThoseOfPing(t *testing.T) {
	h := newHosts(t)
	dir := t.TempDir()
	log, rec := filepath.Join(dir, "ping.log"), filepath.Join(dir, "x.nwr")
	argv := in(h.a, "sh", "-c", "exec ping -n -D -O -i 0.2 -c 15 "+ipB+" > "+log)
	ping := exec.Command(argv[0], argv[1:]...)
	if err := ping.Start(); err != nil {
		t.Fatal(err)
	}
	nw := exec.Command("ip", in(h.a, binary(t), "veth0", "--ping-log", log, "--record", rec, "-o", "text", "-d", "6s")[1:]...)
	out, err := nw.CombinedOutput()
	ping.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, m := range regexp.MustCompile(`time=([\d.]+) ms`).FindAllStringSubmatch(string(text), -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		want = append(want, v*1000)
	}
	samples, _ := recorded(t, rec)
	var got []float64
	for _, s := range samples {
		if s.Series.Metric == sources.PingRTT {
			got = append(got, s.Sum)
		}
	}
	if len(want) != 15 || len(got) != len(want) {
		t.Fatalf("%d RTTs, ping printed %d:\n%s", len(got), len(want), text)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 0.5 {
			t.Errorf("RTT %d is %v us, ping printed %v", i, got[i], want[i])
		}
	}
}

// However netwatch is told to go, what it turned is put back, and the status says how.
func TestSignalsRestore(t *testing.T) {
	h := newHosts(t)
	for _, c := range []struct {
		name string
		sig  syscall.Signal
	}{{"TERM", syscall.SIGTERM}, {"HUP", syscall.SIGHUP}, {"INT", syscall.SIGINT}} {
		t.Run(c.name, func(t *testing.T) {
			term := h.netwatch(80, 24, "veth0")
			wait(t, term, "the first frame", 5*time.Second, has("TSO on"))
			press(t, term, "t")
			wait(t, term, "the turn", 5*time.Second, has("TSO off"))
			if got := h.tso(); got != "off" {
				t.Fatalf("ethtool says %s after the turn", got)
			}
			if err := term.Cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			end(t, term, exitSignal+int(c.sig))
			if got := h.tso(); got != "on" {
				t.Errorf("TSO is %s after SIG%s", got, c.name)
			}
		})
	}
	t.Run("Ctrl-C", func(t *testing.T) {
		term := h.netwatch(80, 24, "veth0")
		wait(t, term, "the first frame", 5*time.Second, has("TSO on"))
		press(t, term, "t")
		wait(t, term, "the turn", 5*time.Second, has("TSO off"))
		press(t, term, "\x03")
		end(t, term, exitSignal+int(syscall.SIGINT))
		if got := h.tso(); got != "on" {
			t.Errorf("TSO is %s after Ctrl-C", got)
		}
	})
	t.Run("keep", func(t *testing.T) {
		term := h.netwatch(80, 24, "veth0")
		wait(t, term, "the first frame", 5*time.Second, has("TSO on"))
		press(t, term, "t")
		wait(t, term, "the turn", 5*time.Second, has("TSO off"))
		press(t, term, "q")
		wait(t, term, "the question", 5*time.Second, has("Enter"))
		press(t, term, "k")
		said := end(t, term, exitOK)
		if got := h.tso(); got != "off" || !strings.Contains(said, "kept tso=off") {
			t.Errorf("TSO is %s after it was kept; it said %q", got, said)
		}
	})
}

// An interface that vanishes is waited for under its name, with a gap.
func TestTheInterfaceVanishesAndReturns(t *testing.T) {
	h := newHosts(t)
	term := h.netwatch(100, 30, "veth0")
	wait(t, term, "the first frame", 5*time.Second, has("veth0", "nic tx"))
	h.must("ip", "-n", h.a, "link", "del", "veth0")
	header := func(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }
	wait(t, term, "the loss", 5*time.Second, func(s string) bool { return strings.Contains(header(s), "GONE") })
	h.link()
	wait(t, term, "the return", 8*time.Second, func(s string) bool {
		return !strings.Contains(header(s), "GONE") && strings.Contains(s, "link up")
	})
	press(t, term, "q")
	end(t, term, exitOK)
}

// Loads and pings that cannot work say so in the tools' own words; the rest goes on.
func TestWhatFailsIsSaidInWords(t *testing.T) {
	h := newHosts(t)
	term := h.netwatch(120, 40, "veth0", "--ping", "no-such-host.invalid", "--", "iperf3", "-c", ipB, "-t", "3")
	wait(t, term, "the refusal", 10*time.Second, has("Connection refused", "ping: no-such-host.invalid", "cpu ok", "nic tx", "iperf3 ended"))
	press(t, term, "q")
	end(t, term, exitFailure)

	nw := exec.Command("ip", in(h.a, binary(t), "veth0", "-o", "text", "--", "iperf3", "-c", ipB, "-t", "3")[1:]...)
	out, err := nw.CombinedOutput()
	if nw.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "Connection refused") {
		t.Errorf("text mode: %v:\n%s", err, out)
	}
}

// A run that somebody starts by hand is noticed.
func TestANoticedRun(t *testing.T) {
	h := newHosts(t)
	h.server()
	term := h.netwatch(120, 40, "veth0")
	wait(t, term, "the first frame", 5*time.Second, has("nic tx"))
	argv := in(h.a, "iperf3", "-c", ipB, "-t", "5", "-C", "cubic")
	if err := exec.Command(argv[0], argv[1:]...).Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, term, "the run", 10*time.Second, func(s string) bool {
		return strings.Contains(s, "run 1") && figure(s, "goodput") > 150 && strings.Contains(s, ipB+":5201")
	})
	wait(t, term, "its end", 20*time.Second, has("idle"))
	press(t, term, "q")
	end(t, term, exitOK)
}
