package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// withoutKeepAlive is an ssh that, as by default, does not ask whether the other end is
// still there.
func (h *hosts) withoutKeepAlive() string { return h.sshd() + " -o ServerAliveInterval=0" }

// cable takes the link away without a word to either end, or brings it back.
func (h *hosts) cable(state string) {
	h.must("ip", "-n", h.a, "link", "set", "veth0", state)
}

// A link that goes down without a word: the peer is GONE here and puts back by itself
// there, each within its limit, and it comes back when the link does.
func TestTheLinkGoesDownSilently(t *testing.T) {
	h := newHosts(t)
	term := h.bothTurned(120, 40, h.withoutKeepAlive())
	h.cable("down")
	down := time.Now()
	screen := wait(t, term, "the loss", 12*time.Second, has("GONE"))
	gone := time.Since(down)
	eventually(t, "the far end put back", 14*time.Second, func() bool { return h.farTSO() == "on" })
	back := time.Since(down)
	if gone < 6*time.Second || gone > 11*time.Second || back > 14*time.Second {
		t.Errorf("GONE after %v, the far end put back after %v; the screen at the loss:\n%s", gone, back, screen)
	}
	if got := h.tso(); got != "off" {
		t.Errorf("here TSO is %s: this end was not lost", got)
	}
	h.cable("up")
	up := time.Now()
	wait(t, term, "the return", 20*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") })
	t.Logf("GONE %.1f s after the link went down, the far end back after %.1f s; there again %.1f s after it was up",
		gone.Seconds(), back.Seconds(), time.Since(up).Seconds())
	if n := len(h.logins()); n != 1 {
		t.Errorf("%d ssh run: those that were given up must not", n)
	}
	h.bothBack(term)
}

// A turn of both ends that is asked for while the link is down is no turn of one of them,
// neither then nor when the link is up again: soon, while the far end still waits, or
// late.
func TestATurnWhileTheLinkIsDown(t *testing.T) {
	h := newHosts(t)
	ssh := h.withoutKeepAlive()
	for _, later := range []time.Duration{0, 4 * time.Second} {
		t.Run(later.String(), func(t *testing.T) {
			h.t = t
			term := h.both(200, 50, ssh)
			h.cable("down")
			press(t, term, "t")
			screen := wait(t, term, "the refusal", 15*time.Second, has("its tso is not known"))
			if strings.Contains(screen, "deadline") {
				t.Errorf("Go's words are on the screen:\n%s", screen)
			}
			eventually(t, "this end put back", 2*time.Second, func() bool { return h.tso() == "on" })
			time.Sleep(later)
			h.cable("up")
			unequal := 0
			for range 80 {
				if h.tso() != h.farTSO() {
					unequal++
				}
				time.Sleep(40 * time.Millisecond)
			}
			if unequal > 0 {
				t.Errorf("the ends were unequal at %d of 80 looks", unequal)
			}
			wait(t, term, "the return", 20*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") && strings.Contains(s, "TSO on both") })
			press(t, term, "q")
			end(t, term, exitOK)
			if !h.bothTSO("on")() {
				t.Error("not both ends are as they were")
			}
		})
	}
}

// The far agent ends when this netwatch is stopped for longer than it waits, and says why
// to the one that goes on.
func TestThisEndIsStopped(t *testing.T) {
	h := newHosts(t)
	term := h.bothTurned(200, 50, h.withoutKeepAlive())
	must(t, term.Cmd.Process.Signal(syscall.SIGSTOP)) // ip netns exec has become it
	took := eventually(t, "the far end put back", 14*time.Second, func() bool { return h.farTSO() == "on" })
	t.Logf("the far end was back %.1f s after this one was stopped", took.Seconds())
	must(t, term.Cmd.Process.Signal(syscall.SIGCONT))
	wait(t, term, "why", 10*time.Second, has("no word from the other end for 10s"))
	wait(t, term, "the return", 20*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") })
	leave(t, term)
	end(t, term, exitOK)
}

// Without a screen a peer that never came is an exit status, with the reason; the other
// commands say what to do as the screen does.
func TestPeersThatNeverCame(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	bin, old := binary(t), h.script(`echo '{"netwatch":1,"version":"0.0.1-old"}'`)
	text := []string{"veth0", "-o", "text", "-d", "2s", "--ssh", ssh}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no such host", append(text, "--peer", "no-such-host.invalid"), "peer no-such-host.invalid never came: "},
		{"no netwatch there", append(text, "--peer", ipB+":veth1", "--peer-path", "/nowhere/netwatch"), "GOOS=linux"},
		{"no such interface", append(text, "--peer", ipB+":veth9", "--peer-path", bin), "veth9"},
		{"set", []string{"set", "veth0", "tso=off", "--ssh", ssh, "--peer", ipB + ":veth1", "--peer-path", "nowhere"}, "GOOS=linux"},
		{"set with an old one", []string{"set", "veth0", "tso=off", "--ssh", ssh, "--peer", ipB + ":veth1", "--peer-path", old}, "is netwatch 0.0.1-old, this is " + version + "; build and copy it: GOOS=linux"},
		{"knobs", []string{"knobs", "veth0", "--ssh", ssh, "--peer", ipB + ":veth1", "--peer-path", "nowhere"}, "GOOS=linux"},
		{"restore", []string{"restore", "--ssh", ssh, "--peer", ipB + ":veth1", "--peer-path", "nowhere"}, "GOOS=linux"},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv := in(h.a, append([]string{bin}, c.args...)...)
			cmd := exec.Command(argv[0], argv[1:]...)
			said, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(string(said), c.want) {
				t.Errorf("status %d, it said:\n%s", cmd.ProcessState.ExitCode(), said)
			}
		})
	}
}

// A program that was pushed is gone when its agent ends, also when this end was killed;
// a new try pushes it again.
func TestAPushedProgramRemovesItself(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	pushed := func() int {
		all, _ := filepath.Glob("/tmp/netwatch.????????")
		return len(all)
	}
	before := pushed()
	term := h.netwatch(120, 40, "veth0", "--peer", ipB+":veth1", "--ssh", ssh, "--push")
	wait(t, term, "the peer", 20*time.Second, has("TSO on both"))
	h.killLogins()
	wait(t, term, "the loss", 10*time.Second, has("GONE"))
	wait(t, term, "the return", 20*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") })
	if got := pushed(); got != before+1 {
		t.Errorf("%d folders before, %d with a peer", before, got)
	}
	if err := term.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the folder removed", 10*time.Second, func() bool { return pushed() == before })
}

// Leaving while the link is down does not wait for ever: this end is put back, the other
// one is said not to have answered, and puts back by itself.
func TestLeavingWhileTheLinkIsDown(t *testing.T) {
	h := newHosts(t)
	term := h.bothTurned(120, 40, h.withoutKeepAlive())
	h.cable("down")
	began := time.Now()
	leave(t, term)
	said := end(t, term, exitUnrestored)
	if took := time.Since(began); took > 14*time.Second {
		t.Errorf("leaving took %v", took)
	}
	if !strings.Contains(said, "put back tso=on") || !strings.Contains(said, "it puts back what it turned") || strings.Contains(said, "deadline") {
		t.Errorf("it said:\n%s", said)
	}
	eventually(t, "both ends put back", 12*time.Second, h.bothTSO("on"))
}

// set keeps nothing when one end does not answer: the link is lost between the turn here
// and the one there, which a slow path makes later.
func TestSetWhenTheLinkIsLost(t *testing.T) {
	h := newHosts(t)
	ssh := h.relayed(h.withoutKeepAlive())
	bin := binary(t)
	argv := in(h.a, bin, "set", "veth0", "tso=off", "--ssh", ssh, "--peer", ipB+":veth1", "--peer-path", bin)
	done := make(chan string)
	go func() {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		done <- fmt.Sprintf("%v: %s", err, out)
	}()
	eventually(t, "the turn here", 20*time.Second, func() bool { return h.tso() == "off" })
	h.cable("down")
	said := <-done
	for _, want := range []string{"exit status 1", ipB + " did not answer: its tso is not known", "nothing is kept"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	h.cable("up")
	for range 60 {
		if here, there := h.tso(), h.farTSO(); here != "on" || there != "on" {
			t.Fatalf("TSO is %s here and %s there", here, there)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
