package main

import (
	"testing"
	"time"

	"netwatch/screenshots/terminal"
)

// both runs netwatch on host a with b as its peer by a real ssh, until the peer is there.
func (h *hosts) both(cols, rows int, ssh string, args ...string) *terminal.Terminal {
	h.t.Helper()
	bin := binary(h.t)
	h.t.Setenv("NETWATCH_STATE", h.t.TempDir())
	term := h.netwatch(cols, rows, append([]string{"veth0", "--peer", ipB + ":veth1", "--ssh", ssh, "--peer-path", bin}, args...)...)
	wait(h.t, term, "the peer", 20*time.Second, has(ipB, "TSO on both"))
	return term
}

// bothTurned is both after TSO was turned off on both ends.
func (h *hosts) bothTurned(cols, rows int, ssh string) *terminal.Terminal {
	h.t.Helper()
	term := h.both(cols, rows, ssh)
	press(h.t, term, "t")
	eventually(h.t, "both turns", 10*time.Second, h.bothTSO("off"))
	return term
}

// bothBack leaves the screen and has put back what was turned.
func (h *hosts) bothBack(term *terminal.Terminal) {
	h.t.Helper()
	leave(h.t, term)
	end(h.t, term, exitOK)
	if !h.bothTSO("on")() {
		h.t.Errorf("after q TSO is %s here and %s there", h.tso(), h.farTSO())
	}
}

// leave quits the screen and has it put back what was turned.
func leave(t *testing.T, term *terminal.Terminal) {
	t.Helper()
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
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

// farTSO is what ethtool says of veth1.
func (h *hosts) farTSO() string { h.t.Helper(); return h.tsoOf(h.b, "veth1") }

func (h *hosts) bothTSO(want string) func() bool {
	return func() bool { return h.tso() == want && h.farTSO() == want }
}
