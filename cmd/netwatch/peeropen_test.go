package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A host is one end: a second interface of it is refused before anything is asked or turned.
func TestAPeerIsOneHost(t *testing.T) {
	for _, c := range []struct {
		peers []string
		ok    bool
	}{
		{[]string{"r1", "r2"}, true},
		{[]string{"r1", "r1:em1"}, false},
		{[]string{"r1:em0", "root@R1:em1"}, false},
		{[]string{"fd00::2", "[fd00::2]:em1"}, false},
	} {
		o := options{ssh: sshCommand, peerPath: peerProgram, push: noPush, peers: c.peers}
		if all, err := o.parsePeers("em4"); (err == nil) != c.ok || c.ok && len(all) != len(c.peers) {
			t.Errorf("%q: %v", c.peers, err)
		}
	}
	for _, args := range [][]string{{"lo", "-o", "text"}, {"set", "lo", "tso=off"}, {"knobs", "lo"}, {"restore"}} {
		t.Setenv("NETWATCH_STATE", t.TempDir())
		args = append(args, "--peer", "r1", "--peer", "r1:em1", "--ssh", "/nowhere/ssh")
		if status, stdout, stderr := cli(args...); status != exitUsage || stdout != "" || !strings.Contains(stderr, "r1 is a peer already") {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}

// What a person is told to type to put back what is left on a peer reaches it as this
// netwatch does, and a shell takes it as it is meant.
func TestRestoreCommand(t *testing.T) {
	for _, c := range []struct {
		o          options
		peer, want string
	}{
		{options{}, "r1", "netwatch restore --peer r1"},
		{options{ssh: "ssh -p 2222", peerPath: "./netwatch"}, "r1:em4", "netwatch restore --peer r1:em4 --ssh 'ssh -p 2222' --peer-path ./netwatch"},
		{options{push: pushThis, peerPath: "./netwatch"}, "r1", "netwatch restore --peer r1 --push"},
		{options{push: "/home/me/my netwatch"}, "r1", "netwatch restore --peer r1 '--push=/home/me/my netwatch'"},
		{options{ssh: `ssh -o ProxyCommand="it's $HOME"`}, "[fd00::2]:em4", `netwatch restore --peer '[fd00::2]:em4' --ssh 'ssh -o ProxyCommand="it'\''s $HOME"'`},
	} {
		for _, d := range []struct {
			at *string
			is string
		}{{&c.o.ssh, sshCommand}, {&c.o.peerPath, peerProgram}, {&c.o.push, noPush}} {
			if *d.at == "" {
				*d.at = d.is
			}
		}
		p, err := c.o.parsePeer(c.peer, "em0")
		if err != nil || p.restore != c.want {
			t.Errorf("%v, %s, want %s", err, p.restore, c.want)
			continue
		}
		words, err := exec.Command("sh", "-c", "printf '%s\\n' "+strings.TrimPrefix(p.restore, "netwatch ")).Output()
		if err != nil {
			t.Fatal(err)
		}
		again := newRoot()
		again.SetArgs(strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"))
		cmd, rest, err := again.Find(strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"))
		if err != nil || cmd.Name() != "restore" {
			t.Fatal(cmd.Name(), err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Fatal(err)
		}
		flag := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
		if flag("peer") != "["+c.peer+"]" && flag("peer") != c.peer || flag("ssh") != c.o.ssh || flag("push") != c.o.push ||
			c.o.push == noPush && flag("peer-path") != c.o.peerPath {
			t.Errorf("%s is read as peer %s, ssh %s, push %s, path %s", p.restore, flag("peer"), flag("ssh"), flag("push"), flag("peer-path"))
		}
	}
}

// Rounding does not make the clock's word untrue.
func TestClockText(t *testing.T) {
	for _, c := range []struct {
		ahead, within time.Duration
		want          string
	}{
		{3 * time.Millisecond, 120 * time.Microsecond, "clock +3.00 ms +-0.12"},
		{-2004 * time.Microsecond, 121 * time.Microsecond, "clock -2.00 ms +-0.13"},
		{4999 * time.Nanosecond, 0, "clock +0.00 ms +-0.01"},
	} {
		if got := clockText(c.ahead, c.within); got != c.want {
			t.Errorf("%v within %v is %q, want %q", c.ahead, c.within, got, c.want)
		}
	}
}
