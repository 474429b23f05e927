package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"netwatch/screenshots/terminal"
	"netwatch/sources"
)

// run is a netwatch command on host a to its end.
func (h *hosts) run(args ...string) (said string, status int) {
	h.t.Helper()
	argv := in(h.a, append([]string{binary(h.t)}, args...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (h *hosts) expect(status int, words []string, args ...string) {
	h.t.Helper()
	said, got := h.run(args...)
	if got != status || !has(words...)(said) {
		h.t.Errorf("netwatch %s: exit status %d, want %d; it said, and %q was wanted:\n%s", strings.Join(args, " "), got, status, words, said)
	}
}

// agents are the process numbers of the agents on host a.
func (h *hosts) agents() []int { return h.agentsIn(h.a) }

func (h *hosts) agentsIn(host string) (pids []int) {
	h.t.Helper()
	for _, word := range strings.Fields(h.must("ip", "netns", "pids", host)) {
		args, _ := os.ReadFile("/proc/" + word + "/cmdline")
		if slices.Contains(strings.Split(string(args), "\x00"), "agent") {
			pid, _ := strconv.Atoi(word)
			pids = append(pids, pid)
		}
	}
	return pids
}

// agent is the one agent there is.
func (h *hosts) agent() int {
	h.t.Helper()
	pids := h.agents()
	if len(pids) != 1 {
		h.t.Fatalf("%d agents run", len(pids))
	}
	return pids[0]
}

// becomes waits for TSO to be on or off, and tells how long that took.
func (h *hosts) becomes(value string, limit time.Duration) time.Duration {
	h.t.Helper()
	began := time.Now()
	for h.tso() != value {
		if time.Since(began) > limit {
			h.t.Errorf("TSO is not %s after %v", value, limit)
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

func (h *hosts) noAgents() {
	h.t.Helper()
	for range 300 {
		if len(h.agents()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Error("an agent still runs")
}

// turned is a screen on which TSO was turned off.
func (h *hosts) turned(args ...string) *terminal.Terminal {
	h.t.Helper()
	term := h.netwatch(100, 30, append([]string{"veth0"}, args...)...)
	wait(h.t, term, "the first frame", 5*time.Second, has("TSO on"))
	press(h.t, term, "t")
	wait(h.t, term, "the turn", 5*time.Second, has("TSO off"))
	if got := h.tso(); got != "off" {
		h.t.Fatalf("ethtool says %s after the turn", got)
	}
	return term
}

// However the screen goes, and also when it can do nothing any more, the knob is
// back within a second.
func TestTheScreenIsKilled(t *testing.T) {
	h := newHosts(t)
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT} { // QUIT ends a Go program as a panic that nobody recovers does
		term := h.turned()
		h.agent()
		must(t, term.Cmd.Process.Signal(sig))
		t.Logf("TSO was on again %v after signal %v to the screen", h.becomes("on", time.Second), sig)
		h.noAgents()
		h.expect(exitOK, []string{"nothing to put back"}, "restore")
	}
}

func TestTheTerminalIsLost(t *testing.T) {
	h := newHosts(t)
	argv := in(h.a, binary(t), "veth0")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	must(t, err)
	for seen, buf := "", make([]byte, 4096); !strings.Contains(seen, "TSO"); {
		n, err := f.Read(buf)
		must(t, err)
		seen += string(buf[:n])
	}
	go io.Copy(io.Discard, f)
	if _, err := f.WriteString("t"); err != nil {
		t.Fatal(err)
	}
	h.becomes("off", 5*time.Second)
	f.Close()
	t.Logf("TSO was on again %v after the terminal was lost", h.becomes("on", time.Second))
	cmd.Wait()
	h.noAgents()
}

// The agent dies: the screen says so and what that leaves, and leaving it puts back by a
// new agent. When the screen dies, too, the next one tells, and the journal puts back.
func TestTheAgentIsKilled(t *testing.T) {
	h := newHosts(t)
	term := h.turned()
	must(t, syscall.Kill(h.agent(), syscall.SIGKILL))
	wait(t, term, "the news", 5*time.Second, has("the agent is gone"))
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	if said := end(t, term, exitOK); !strings.Contains(said, "netwatch: put back tso=on (was turned to off)") {
		t.Errorf("it said:\n%s", said)
	}
	h.becomes("on", 0)
	h.noAgents()
	h.expect(exitOK, []string{"nothing to put back"}, "restore")

	term = h.turned()
	must(t, syscall.Kill(h.agent(), syscall.SIGKILL))
	wait(t, term, "the news", 5*time.Second, has("the agent is gone"))
	must(t, term.Cmd.Process.Kill())
	h.becomes("off", 0)
	term = h.netwatch(200, 50, "veth0")
	wait(t, term, "word of it", 5*time.Second, has("tso was turned from on to off by a netwatch that is gone; netwatch restore puts it back"))
	press(t, term, "q")
	end(t, term, exitOK)
	h.expect(exitOK, []string{"put back tso=on"}, "restore")
	if got := h.tso(); got != "on" {
		t.Errorf("TSO is %s after restore", got)
	}
}

// A new agent takes over where one died.
func TestAnotherAgent(t *testing.T) {
	h := newHosts(t)
	term := h.turned()
	first := h.agent()
	must(t, syscall.Kill(first, syscall.SIGKILL))
	wait(t, term, "the news", 5*time.Second, has("the agent is gone"))
	press(t, term, "t")
	wait(t, term, "the turn back", 5*time.Second, has("TSO on"))
	press(t, term, "t")
	wait(t, term, "another turn", 5*time.Second, has("TSO off"))
	if h.agent() == first {
		t.Error("the first agent lives")
	}
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	end(t, term, exitOK)
	h.becomes("on", 0)
	h.expect(exitOK, []string{"nothing to put back"}, "restore")
}

// The agent does not hear what a terminal says to its processes, and TERM makes it put
// back.
func TestSignalsToTheAgent(t *testing.T) {
	h := newHosts(t)
	term := h.turned()
	agent := h.agent()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE} {
		must(t, syscall.Kill(agent, sig))
	}
	time.Sleep(300 * time.Millisecond) // nothing shall happen
	if h.agent() != agent || h.tso() != "off" {
		t.Errorf("a signal of the terminal reached the agent: TSO %s", h.tso())
	}
	must(t, syscall.Kill(agent, syscall.SIGTERM))
	h.becomes("on", time.Second)
	wait(t, term, "TSO as it is", 5*time.Second, has("TSO on"))
	press(t, term, "q")
	end(t, term, exitOK)
}

func TestTwoNetwatch(t *testing.T) {
	h := newHosts(t)
	first := h.turned()
	second := h.netwatch(100, 30, "veth0")
	wait(t, second, "the first frame", 5*time.Second, has("TSO off"))
	press(t, second, "t")
	wait(t, second, "TSO on", 5*time.Second, has("TSO on"))
	wait(t, first, "who it was", 5*time.Second, has("another netwatch turned it"))
	press(t, second, "t")
	wait(t, second, "TSO off", 5*time.Second, has("tso on -> off"))
	wait(t, first, "that it is off again", 5*time.Second, has("TSO off"))
	press(t, first, "q")
	wait(t, first, "the question", 5*time.Second, has("Enter"))
	press(t, first, "\r")
	said := end(t, first, exitUnrestored)
	if !strings.Contains(said, "netwatch: tso is left at off: another netwatch turned it since (it was on at first)") {
		t.Errorf("the first said:\n%s", said)
	}
	if got := h.tso(); got != "off" {
		t.Errorf("the first put back to %s what the second uses", got)
	}
	must(t, second.Cmd.Process.Kill())
	h.becomes("on", time.Second)
	h.noAgents()
	h.expect(exitOK, []string{"nothing to put back"}, "restore")
}

func TestSetAndRestore(t *testing.T) {
	h := newHosts(t)
	h.expect(exitOK, []string{"tso: on -> off (asked off, granted off, verified in ", "gso: on -> off"}, "set", "veth0", "tso=off", "gso=off")
	h.becomes("off", 0)
	h.expect(exitOK, []string{"tso", "off", "kept at off"}, "knobs", "veth0")
	h.expect(exitOK, []string{`"name": "tso"`, `"value": "off"`, `"start": "on"`}, "knobs", "veth0", "--json")
	h.expect(exitOK, []string{"not as netwatch found it: tso, gso: netwatch restore"}, "doctor", "veth0")
	h.expect(exitOK, []string{"cpu", "iperf3", "journal"}, "doctor")
	h.must(in(h.a, "ethtool", "-K", "veth0", "gso", "on")...) // somebody else
	h.expect(exitOK, []string{"put back tso=on on veth0 (was turned to off)", "gso of veth0 is on, as it was"}, "restore")
	h.becomes("on", 0)
	h.expect(exitOK, []string{"nothing to put back"}, "restore")

	for _, c := range []struct {
		status int
		words  string
		args   []string
	}{
		{exitUsage, `no knob "tsoo"; did you mean tso?`, []string{"tsoo=off"}},
		{exitUsage, `tso takes off, on, not "maybe"`, []string{"tso=maybe"}},
		{exitUsage, `"tso": KNOB=VALUE`, []string{"tso"}},
		{exitFailure, "aim is locked: veth0's driver has no interrupt moderation", []string{"aim=on"}},
		{exitFailure, "refused:", []string{"--knob", "sysctl:net.ipv4.tcp_congestion_control", "sysctl:net.ipv4.tcp_congestion_control=nonsense"}},
	} {
		h.expect(c.status, []string{c.words}, append([]string{"set", "veth0"}, c.args...)...)
	}
	h.expect(exitOK, []string{"sysctl:net.ipv4.tcp_sack: 1 -> 0"}, "set", "veth0", "--knob", "sysctl:net.ipv4.tcp_sack=0,1", "sysctl:net.ipv4.tcp_sack=0")
	h.expect(exitOK, []string{"put back sysctl:net.ipv4.tcp_sack=1"}, "restore")
}

// What somebody else set after netwatch is not overwritten.
func TestSomebodyElse(t *testing.T) {
	h := newHosts(t)
	term := h.turned()
	press(t, term, "t")
	wait(t, term, "TSO on", 5*time.Second, has("TSO on"))
	h.must(in(h.a, "ethtool", "-K", "veth0", "tso", "off")...)
	wait(t, term, "the drift", 5*time.Second, has("TSO off"))
	press(t, term, "q")
	end(t, term, exitOK)
	if got := h.tso(); got != "off" {
		t.Errorf("TSO is %s: somebody else's turn was overwritten", got)
	}
	h.must(in(h.a, "ethtool", "-K", "veth0", "tso", "on")...)

	h.expect(exitOK, nil, "set", "veth0", "tso=off")
	h.must(in(h.a, "ethtool", "-K", "veth0", "tx-tcp6-segmentation", "on")...)
	h.expect(exitOK, []string{"tso of veth0 is left at tso6: it is not the off netwatch had set (it was on at first)"}, "restore")
}

func TestJournalOfAnotherBootAndDamage(t *testing.T) {
	h := newHosts(t)
	path := filepath.Join(os.Getenv("NETWATCH_STATE"), "journal.json")
	h.expect(exitOK, nil, "set", "veth0", "tso=off")
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	must(t, err)
	journal, err := os.ReadFile(path)
	must(t, err)
	other := strings.ReplaceAll(string(journal), strings.TrimSpace(string(boot)), "another-boot")
	must(t, os.WriteFile(path, []byte(other), 0o600))
	h.expect(exitOK, []string{"tso of veth0 is off and was on before it was turned on", "--force puts it back"}, "restore")
	if got := h.tso(); got != "off" {
		t.Errorf("TSO is %s: a journal of another boot was applied", got)
	}
	h.expect(exitOK, []string{"put back tso=on"}, "restore", "--force")
	h.becomes("on", 0)

	must(t, os.WriteFile(path, []byte(`{"netwatch_journal":1,"entr`), 0o600))
	h.expect(exitOK, []string{"damaged", "it is kept as " + path + ".damaged-", "nothing to put back"}, "restore")
	must(t, os.WriteFile(path, []byte("\x00"), 0o600))
	h.expect(exitOK, []string{"damaged", "tso: on -> off"}, "set", "veth0", "tso=off")
	h.expect(exitOK, []string{"put back tso=on"}, "restore")
}

// The time from the key to the verified turn: with the start of the agent, and with
// an agent that runs.
func TestKeyToVerifiedTurn(t *testing.T) {
	h := newHosts(t)
	rec := filepath.Join(t.TempDir(), "x.nwr")
	term := h.netwatch(100, 30, "veth0", "--record", rec)
	wait(t, term, "the first frame", 5*time.Second, has("TSO on"))
	var pressed []time.Time
	for _, want := range []string{"TSO off", "TSO on", "TSO off", "TSO on"} {
		pressed = append(pressed, time.Now())
		press(t, term, "t")
		wait(t, term, want, 5*time.Second, has(want))
		time.Sleep(300 * time.Millisecond) // the screen must know that the turn is over
	}
	press(t, term, "q")
	end(t, term, exitOK)
	_, events := recorded(t, rec)
	turns := 0
	for _, e := range events {
		switch {
		case e.Kind == sources.KnobDrifted:
			t.Errorf("a turn of netwatch's own was taken for somebody else's: %+v", e)
		case e.Kind == sources.KnobTurned && turns < len(pressed):
			t.Logf("turn %d: %v from the key to the value read back, %v of it between asking and reading back", turns+1, e.At.Sub(pressed[turns]), e.Span)
			turns++
		}
	}
	if turns != len(pressed) {
		t.Errorf("%d turns of %d are in the recording", turns, len(pressed))
	}
}
