package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/screenshots/terminal"
	"netwatch/sources"
)

// One screen watches and turns both ends; leaving puts both back.
func TestBothEndsFromOneScreen(t *testing.T) {
	h := newHosts(t)
	term := h.both(200, 50, h.sshd())
	press(t, term, "t")
	wait(t, term, "both turns", 10*time.Second, has("skew"))
	if !h.bothTSO("off")() {
		t.Errorf("after t: here %s, there %s", h.tso(), h.farTSO())
	}
	h.bothBack(term)
}

// What somebody turned on the peer after netwatch is said to be, and is left there;
// this end is put back. It is no failure, as it is none here.
func TestSomebodyElseOnThePeer(t *testing.T) {
	h := newHosts(t)
	term := h.both(200, 50, h.sshd())
	press(t, term, "t")
	wait(t, term, "both turns", 10*time.Second, has("skew"))
	eventually(t, "both turns", 5*time.Second, h.bothTSO("off"))
	h.must(in(h.b, "ethtool", "-K", "veth1", "tx-tcp6-segmentation", "on")...)
	wait(t, term, "word of it", 10*time.Second, has("tso off -> tso6", "netwatch did not turn it"))
	leave(t, term)
	said := end(t, term, exitOK)
	for _, want := range []string{
		"netwatch: put back tso=on (was turned to off)\n",
		"netwatch: " + ipB + ": tso is left at tso6: it is not the off netwatch had set (it was on at first)\n",
	} {
		if !strings.Contains(strings.ReplaceAll(said, "\r\n", "\n"), want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if got := h.tso(); got != "on" {
		t.Errorf("here TSO is %s", got)
	}
	if got, got6 := h.featureOf(h.b, "veth1", "tx-tcp-segmentation"), h.featureOf(h.b, "veth1", "tx-tcp6-segmentation"); got != "off" || got6 != "on" {
		t.Errorf("there TSO is %s for IPv4 and %s for IPv6: somebody else's turn was overwritten", got, got6)
	}
}

// What another netwatch on the peer turned since is its own: it is left, and that is an
// exit status, as it is here.
func TestAnotherNetwatchOnThePeer(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	state := filepath.Join(t.TempDir(), "peer")
	there := h.script("NETWATCH_STATE=" + state + " exec " + binary(t) + " \"$@\"")
	term := h.netwatch(200, 50, "veth0", "--peer", ipB+":veth1", "--ssh", ssh, "--peer-path", there)
	wait(t, term, "the peer", 10*time.Second, has(ipB, "veth1", "TSO on both"))
	press(t, term, "t")
	eventually(t, "both turns", 10*time.Second, h.bothTSO("off"))
	other, err := terminal.Start(100, 30, nil, in(h.b, there, "veth1")...)
	must(t, err)
	t.Cleanup(other.Close)
	for _, value := range []string{"on", "off"} {
		wait(t, other, "its knob", 5*time.Second, has("TSO "))
		press(t, other, "t")
		eventually(t, "the other one's turn", 5*time.Second, func() bool { return h.farTSO() == value })
		wait(t, other, "word of it", 5*time.Second, has("TSO "+value))
	}
	leave(t, term)
	said := end(t, term, exitUnrestored)
	if want := "netwatch: " + ipB + ": tso is left at off: another netwatch turned it since (it was on at first)"; !strings.Contains(said, want) {
		t.Errorf("it does not say %q:\n%s", want, said)
	}
	if here, there := h.tso(), h.farTSO(); here != "on" || there != "off" {
		t.Errorf("TSO is %s here and %s there", here, there)
	}
}

// A peer that is sampled each second has no holes between its samples, and a flap of
// its link, which no poll sees, is told all the same.
func TestAPeerSampledEachSecond(t *testing.T) {
	h := newHosts(t)
	rec := filepath.Join(t.TempDir(), "second.nwr")
	term := h.both(200, 50, h.sshd(), "--peer-every", "1s", "--record", rec)
	time.Sleep(5 * time.Second) // samples come
	h.must("ip", "-n", h.b, "link", "set", "veth1", "down")
	time.Sleep(150 * time.Millisecond)
	flapped := time.Now()
	h.must("ip", "-n", h.b, "link", "set", "veth1", "up")
	wait(t, term, "the flap", 10*time.Second, has("veth1 link up"))
	press(t, term, "q")
	end(t, term, exitOK)

	samples, events := recorded(t, rec)
	var last, first time.Time
	n := 0
	for _, s := range samples {
		if s.Series.Host != ipB || s.Series.Source != "nic" || s.Series.Metric != sources.TxOctets || s.At.After(flapped.Add(-time.Second/2)) {
			continue
		}
		if s.Span < 700*time.Millisecond || s.Span > 1300*time.Millisecond {
			t.Errorf("a sample over %v", s.Span)
		}
		if hole := s.At.Add(-s.Span).Sub(last); n > 0 && hole.Abs() > 50*time.Millisecond { // the clocks are compared again and again
			t.Errorf("%v between two samples", hole)
		}
		if n++; n == 1 {
			first = s.At
		}
		last = s.At
	}
	if n < 4 {
		t.Errorf("%d samples from %v to %v", n, first, last)
	}
	up := slices.IndexFunc(events, func(e sources.Event) bool { return e.Host == ipB && e.Kind == sources.LinkUp })
	if up < 0 || events[up].Span < 100*time.Millisecond || events[up].Span > 500*time.Millisecond {
		t.Errorf("the flap of 0.15 s: %v", events)
	}
}

// However this end goes, both ends put back what was turned.
func TestBothEndsRestoreWhenThisEndIsKilled(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			h.t = t
			term := h.bothTurned(120, 40, ssh)
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
	term := h.bothTurned(120, 40, h.sshd())
	h.killLogins()
	wait(t, term, "the loss", 10*time.Second, has("GONE"))
	took := eventually(t, "the far end put back", 10*time.Second, func() bool { return h.farTSO() == "on" })
	t.Logf("the far end was back %v after its ssh was killed", took.Round(10*time.Millisecond))
	if got := h.tso(); got != "off" {
		t.Errorf("here TSO is %s: this end was not lost", got)
	}
	wait(t, term, "the return", 15*time.Second, func(s string) bool { return !strings.Contains(s, "GONE") })
	h.bothBack(term)
}

// What keeps a peer away is said in ssh's own words, and this end goes on.
func TestPeersThatCannotBeReached(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd("ForceCommand echo Welcome to r1; exec sh -c \"$SSH_ORIGINAL_COMMAND\"")
	bin := binary(t)
	t.Setenv("NETWATCH_STATE", t.TempDir())
	for _, c := range []struct {
		name  string
		args  []string
		want  []string
		comes bool
	}{
		{"no such host", []string{"--peer", "no-such-host.invalid:veth1"}, []string{"Could not resolve", "cpu ok"}, false},
		{"no such interface", []string{"--peer", ipB + ":veth9", "--peer-path", bin}, []string{"veth9", "veth1"}, false},
		{"no netwatch there", []string{"--peer", ipB + ":veth1", "--peer-path", "/nowhere/netwatch"}, []string{"GOOS=linux"}, false},
		{"a banner before the codec", []string{"--peer", ipB + ":veth1", "--peer-path", bin}, []string{"Welcome to r1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			term := h.netwatch(200, 50, append([]string{"veth0", "--ssh", ssh}, c.args...)...)
			wait(t, term, "the words", 12*time.Second, has(c.want...))
			press(t, term, "q")
			status := exitFailure // it never came
			if c.comes {
				status = exitOK
			}
			end(t, term, status)
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
		t.Errorf("set: here %s, there %s:\n%s", h.tso(), h.farTSO(), out)
	}
	out = nw(append([]string{"knobs", "veth0"}, at...)...)
	if strings.Count(out, ipB+": tso") != 1 || strings.Count(out, "kept at off") != 2 {
		t.Errorf("knobs:\n%s", out)
	}
	out = nw(append([]string{"restore"}, at...)...)
	if !h.bothTSO("on")() || !strings.Contains(out, ipB+": put back tso=on on veth1") {
		t.Errorf("restore: here %s, there %s:\n%s", h.tso(), h.farTSO(), out)
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
		t.Errorf("one end could not turn: here %s, there %s, %v:\n%s", h.tso(), h.farTSO(), err, out)
	}
}

// The far agent is killed and can put nothing back. The next one tells that the knob is
// still turned, and leaving puts it back on both ends.
func TestThePeersAgentIsKilled(t *testing.T) {
	h := newHosts(t)
	term := h.bothTurned(200, 50, h.sshd())
	wait(t, term, "both turns", 5*time.Second, has("skew"))
	for _, pid := range h.agentsIn(h.b) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	wait(t, term, "the peer gone", 5*time.Second, has("GONE"))
	wait(t, term, "the peer back", 10*time.Second, has("is back", "TSO off (start on) both"))
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("1 both tso off -> on", "Enter"))
	press(t, term, "\r")
	end(t, term, exitOK)
	if !h.bothTSO("on")() {
		t.Errorf("TSO is %s here and %s there", h.tso(), h.farTSO())
	}
}
