package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/screenshots/terminal"
)

// closable is an ssh that gets nowhere any more once shut was called.
func (h *hosts) closable(ssh string) (command string, shut func()) {
	h.t.Helper()
	mark := filepath.Join(h.t.TempDir(), "shut")
	return h.script("test ! -e " + mark + " && exec " + ssh + ` "$@"`), func() { h.file(mark, "") }
}

// A person keeps what is turned while the peer is gone: this end is kept, and of the other
// it is said that it was not asked; its agent has put back.
func TestKeepingWhileThePeerIsGone(t *testing.T) {
	h := newHosts(t)
	ssh, shut := h.closable(h.sshd())
	term := h.bothTurned(200, 50, ssh)
	wait(t, term, "both turns", 5*time.Second, has("skew"))
	shut()
	h.killLogins()
	wait(t, term, "the loss", 5*time.Second, has("GONE"))
	eventually(t, "the far end put back", 5*time.Second, func() bool { return h.farTSO() == "on" })
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter", "tso off -> on", ipB+" is gone: its tso is not known; it puts back what it turned"))
	press(t, term, "k")
	said := end(t, term, exitFailure)
	if !has("kept tso=off (was on)", ipB+" is gone: not known, and not kept: its tso", "netwatch restore --peer "+ipB)(said) {
		t.Errorf("it said:\n%s", said)
	}
	if here, there := h.tso(), h.farTSO(); here != "off" || there != "on" {
		t.Errorf("TSO is %s here and %s there", here, there)
	}
}

// The far agent is killed and cannot put back; Ctrl-C at once, or when it is known to be
// gone, puts this end back and says what puts the other one back. The next netwatch with
// this peer tells what is left turned there.
func TestCtrlCWhenThePeersAgentWasKilled(t *testing.T) {
	h := newHosts(t)
	login := h.sshd()
	peer := []string{"--peer", ipB + ":veth1", "--ssh", login, "--peer-path", binary(t)}
	for _, c := range []struct {
		name   string
		before func(*terminal.Terminal)
	}{
		{"at once", func(*terminal.Terminal) {}},
		{"when it is gone", func(term *terminal.Terminal) { wait(h.t, term, "the loss", 5*time.Second, has("GONE")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			ssh, shut := h.closable(login)
			term := h.bothTurned(200, 50, ssh)
			wait(t, term, "both turns", 5*time.Second, has("skew"))
			shut()
			for _, pid := range h.agentsIn(h.b) {
				must(t, syscall.Kill(pid, syscall.SIGKILL))
			}
			c.before(term)
			press(t, term, "\x03")
			said := end(t, term, exitUnrestored)
			if !has("put back tso=on (was turned to off)", ipB, "netwatch restore --peer "+ipB)(said) {
				t.Errorf("it said:\n%s", said)
			}
			if here, there := h.tso(), h.farTSO(); here != "on" || there != "off" {
				t.Fatalf("TSO is %s here and %s there", here, there)
			}
			next := h.netwatch(200, 50, append([]string{"veth0"}, peer...)...)
			wait(t, next, "word of it", 10*time.Second, has(ipB, "tso was turned from on to off by a netwatch that is gone"))
			press(t, next, "q")
			end(t, next, exitOK)
			// What it said is typed as it stands, but for where the program is, when its ssh
			// gets through again.
			command := regexp.MustCompile(`netwatch (restore --peer .*) does (?:so )?if it was killed`).FindStringSubmatch(said)
			if command == nil {
				t.Fatalf("no command in what it said:\n%s", said)
			}
			if out := h.must(in(h.a, "sh", "-c", binary(t)+" "+strings.ReplaceAll(command[1], ssh, quoted(login)))...); !strings.Contains(out, ipB+": put back tso=on on veth1") {
				t.Errorf("%s said:\n%s", command[0], out)
			}
			if !h.bothTSO("on")() {
				t.Errorf("after restore TSO is %s here and %s there", h.tso(), h.farTSO())
			}
		})
	}
}
