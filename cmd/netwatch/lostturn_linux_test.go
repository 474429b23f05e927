package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
)

// lose has the relay of the only connection to the peer lose one direction from now on.
func (h *hosts) lose(direction syscall.Signal) {
	h.t.Helper()
	exe, err := os.Executable()
	must(h.t, err)
	n := 0
	for word := range strings.FieldsSeq(h.must("ip", "netns", "pids", h.a)) {
		args, _ := os.ReadFile("/proc/" + word + "/cmdline")
		if pid, err := strconv.Atoi(word); err == nil && strings.HasPrefix(string(args), exe+"\x00") {
			must(h.t, syscall.Kill(pid, direction))
			n++
		}
	}
	if n != 1 {
		h.t.Fatalf("%d relays run", n)
	}
}

// The ssh is killed in the middle of a turn of both ends: the request is under way, and no
// answer has been read. Whether the far end has turned or not, it is none or all: both
// ends go back, and what is not known is said to be so.
func TestSSHKilledInTheMiddleOfATurn(t *testing.T) {
	h := newHosts(t)
	ssh := h.relayed(h.withoutKeepAlive())
	for _, c := range []struct {
		name   string
		loses  syscall.Signal
		middle func() bool // the moment at which the ssh is killed
	}{
		{"before it was set there", losesRequests, func() bool { return h.tso() == "off" }},
		{"after it was set there", losesAnswers, func() bool { return h.bothTSO("off")() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			rec := filepath.Join(t.TempDir(), "x.nwr")
			term := h.both(200, 50, ssh, "--record", rec)
			h.lose(c.loses)
			press(t, term, "t")
			eventually(t, "the middle of the turn", 5*time.Second, c.middle)
			if got := h.farTSO(); c.loses == losesRequests && got != "on" {
				t.Fatalf("there TSO is %s: the request was not lost", got)
			}
			h.killLogins()
			took := eventually(t, "both ends put back", 5*time.Second, h.bothTSO("on"))
			t.Logf("both ends were back %v after the ssh was killed", took.Round(10*time.Millisecond))
			wait(t, term, "the words", 5*time.Second, has(ipB+" did not answer: its tso is not known", "put back to on"))
			wait(t, term, "the return", 20*time.Second, has("is back", "TSO on both"))
			press(t, term, "q") // and there is no question: nothing is turned
			end(t, term, exitOK)
			if !h.bothTSO("on")() {
				t.Errorf("at the end TSO is %s here and %s there", h.tso(), h.farTSO())
			}
			toldTruly(t, rec)
		})
	}
}

// toldTruly checks what was said of a turn whose far end was lost: it failed there with a
// value that is not known, and was made and taken back here.
func toldTruly(t *testing.T, rec string) {
	t.Helper()
	_, events := recorded(t, rec)
	var here []string
	failed, refused := 0, 0
	var why string
	for _, e := range events {
		switch {
		case e.Kind == sources.SourceGone && e.Source == experiment.PeerSource:
			why = e.Text
		case e.Subject != "tso":
		case e.Kind == sources.KnobTurned && e.Host == "":
			here = append(here, e.New)
		case e.Kind == sources.KnobTurned || e.Kind == sources.KnobDrifted:
			t.Errorf("it is said to have been turned: %+v", e)
		case e.Kind == sources.KnobSeen && e.Host == ipB && e.New != "on":
			t.Errorf("a value that is not true: %+v", e)
		case e.Kind == sources.KnobFailed:
			failed++
			if e.Host != ipB || e.New != "" {
				t.Errorf("what is not known is told as known: %+v", e)
			}
		case e.Kind == sources.KnobBoth:
			refused++
			if !e.Error {
				t.Errorf("half a turn is told as one: %+v", e)
			}
		}
	}
	if !has("it puts back what it turned, or netwatch restore --peer "+ipB+":veth1 --ssh 'ssh -F ", " does if it was killed", "while turning tso to off")(why) {
		t.Errorf("of the loss it is said: %s", why)
	}
	if strings.Join(here, " ") != "off on" || failed != 1 || refused != 1 {
		t.Errorf("turned here to %q, %d failed, %d of both", here, failed, refused)
	}
}
