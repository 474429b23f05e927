package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/screenshots/terminal"
)

// both runs netwatch on host a with b as its peer by a real ssh.
func (h *hosts) both(cols, rows int, ssh string, args ...string) *terminal.Terminal {
	h.t.Helper()
	bin := binary(h.t)
	h.t.Setenv("NETWATCH_STATE", h.t.TempDir())
	return h.netwatch(cols, rows, append([]string{"veth0", "--peer", ipB + ":veth1", "--ssh", ssh, "--peer-path", bin}, args...)...)
}

// eventually waits for what happens beside the screen.
func eventually(t *testing.T, what string, limit time.Duration, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

func (h *hosts) bothTSO(want string) func() bool {
	return func() bool { return h.tsoOf(h.a, "veth0") == want && h.tsoOf(h.b, "veth1") == want }
}

// One screen watches and turns both ends; leaving puts both back.
func TestBothEndsFromOneScreen(t *testing.T) {
	h := newHosts(t)
	term := h.both(200, 50, h.sshd())
	wait(t, term, "the peer", 10*time.Second, has(ipB, "veth1", "TSO on both"))
	press(t, term, "t")
	wait(t, term, "both turns", 10*time.Second, has("skew"))
	if !h.bothTSO("off")() {
		t.Errorf("after t: here %s, there %s", h.tsoOf(h.a, "veth0"), h.tsoOf(h.b, "veth1"))
	}
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	end(t, term, exitOK)
	if !h.bothTSO("on")() {
		t.Errorf("after q: here %s, there %s", h.tsoOf(h.a, "veth0"), h.tsoOf(h.b, "veth1"))
	}
}

// However this end goes, both ends put back what was turned.
func TestBothEndsRestoreWhenThisEndIsKilled(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			h.t = t
			term := h.both(120, 40, ssh)
			wait(t, term, "the peer", 10*time.Second, has("TSO on both"))
			press(t, term, "t")
			eventually(t, "both turns", 10*time.Second, h.bothTSO("off"))
			if err := term.Cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			took := eventually(t, "both ends put back", 10*time.Second, h.bothTSO("on"))
			t.Logf("both ends were back %v after %v", took.Round(10*time.Millisecond), sig)
		})
	}
}

// A link that is lost makes the far end put back by itself; here the peer is GONE,
// the rest goes on, and it comes back as the same series.
func TestTheLinkToThePeerIsLost(t *testing.T) {
	h := newHosts(t)
	term := h.both(120, 40, h.sshd())
	wait(t, term, "the peer", 10*time.Second, has("TSO on both"))
	press(t, term, "t")
	eventually(t, "both turns", 10*time.Second, h.bothTSO("off"))
	exec.Command("ip", "netns", "exec", h.a, "pkill", "-9", "-f", "BatchMode=yes "+ipB).Run()
	wait(t, term, "the loss", 10*time.Second, has("GONE"))
	took := eventually(t, "the far end put back", 10*time.Second, func() bool { return h.tsoOf(h.b, "veth1") == "on" })
	t.Logf("the far end was back %v after its ssh was killed", took.Round(10*time.Millisecond))
	if got := h.tsoOf(h.a, "veth0"); got != "off" {
		t.Errorf("here TSO is %s: this end was not lost", got)
	}
	wait(t, term, "the return", 15*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") })
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	end(t, term, exitOK)
	if !h.bothTSO("on")() {
		t.Error("not everything was put back")
	}
}

// What keeps a peer away is said in ssh's own words, and this end goes on.
func TestPeersThatCannotBeReached(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd("ForceCommand echo Welcome to r1; exec sh -c \"$SSH_ORIGINAL_COMMAND\"")
	bin := binary(t)
	t.Setenv("NETWATCH_STATE", t.TempDir())
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no such host", []string{"--peer", "no-such-host.invalid:veth1"}, []string{"Could not resolve", "nic ok"}},
		{"no such interface", []string{"--peer", ipB + ":veth9", "--peer-path", bin}, []string{"veth9", "veth1"}},
		{"no netwatch there", []string{"--peer", ipB + ":veth1", "--peer-path", "/nowhere/netwatch"}, []string{"GOOS=linux"}},
		{"a banner before the codec", []string{"--peer", ipB + ":veth1", "--peer-path", bin}, []string{"Welcome to r1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			term := h.netwatch(200, 50, append([]string{"veth0", "--ssh", ssh}, c.args...)...)
			wait(t, term, "the words", 12*time.Second, has(c.want...))
			press(t, term, "q")
			end(t, term, exitOK)
		})
	}
	if status, _, stderr := cli("lo", "--peer", "r1;reboot"); status != exitUsage || !strings.Contains(stderr, "cannot be passed on") {
		t.Errorf("a peer that no shell should see: status %d, %q", status, stderr)
	}
}

// set turns both ends as one and keeps them; restore puts both back; --push brings
// the program there and takes it away again.
func TestSetAndRestoreOnBothEnds(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	bin := binary(t)
	state := t.TempDir()
	t.Setenv("NETWATCH_STATE", state)
	// sshd starts the peer's netwatch with an environment of its own.
	there := filepath.Join(t.TempDir(), "netwatch")
	h.file(there, "#!/bin/sh\nNETWATCH_STATE="+state+"b exec "+bin+" \"$@\"\n")
	if err := os.Chmod(there, 0o755); err != nil {
		t.Fatal(err)
	}
	at := []string{"--peer", ipB + ":veth1", "--ssh", ssh, "--peer-path", there}
	nw := func(args ...string) string { return h.must(in(h.a, append([]string{bin}, args...)...)...) }

	out := nw(append([]string{"set", "veth0", "tso=off"}, at...)...)
	if !h.bothTSO("off")() || !strings.Contains(out, "skew") {
		t.Errorf("set: here %s, there %s:\n%s", h.tsoOf(h.a, "veth0"), h.tsoOf(h.b, "veth1"), out)
	}
	out = nw(append([]string{"knobs", "veth0"}, at...)...)
	if strings.Count(out, ipB+": tso") != 1 || strings.Count(out, "kept at off") != 2 {
		t.Errorf("knobs:\n%s", out)
	}
	out = nw(append([]string{"restore"}, at...)...)
	if !h.bothTSO("on")() || !strings.Contains(out, ipB+": put back tso=on on veth1") {
		t.Errorf("restore: here %s, there %s:\n%s", h.tsoOf(h.a, "veth0"), h.tsoOf(h.b, "veth1"), out)
	}

	before, _ := filepath.Glob("/tmp/netwatch.????????")
	out = nw("knobs", "veth0", "--peer", ipB+":veth1", "--ssh", ssh, "--push")
	after, _ := filepath.Glob("/tmp/netwatch.????????")
	if !strings.Contains(out, ipB+": tso") || len(after) != len(before) {
		t.Errorf("push: %d folders before, %d after:\n%s", len(before), len(after), out)
	}
}

// An end that cannot turn keeps the other from being turned alone.
func TestOneEndRefuses(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	bin := binary(t)
	there := filepath.Join(t.TempDir(), "netwatch") // over there it runs without rights
	h.file(there, "#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "+bin+" \"$@\"\n")
	for _, path := range []string{there, filepath.Dir(there), filepath.Dir(filepath.Dir(there)), bin, filepath.Dir(bin)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("NETWATCH_STATE", t.TempDir())
	argv := in(h.a, bin, "set", "veth0", "tso=off", "--peer", ipB+":veth1", "--ssh", ssh, "--peer-path", there)
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err == nil || !h.bothTSO("on")() {
		t.Errorf("one end could not turn: here %s, there %s, %v:\n%s", h.tsoOf(h.a, "veth0"), h.tsoOf(h.b, "veth1"), err, out)
	}
}
