package main

import (
	"path/filepath"
	"strings"
	"testing"

	"netwatch/sources"
)

// A peer whose ssh takes long is watched and turned as any other.
func TestAPeerThatIsSlowToCome(t *testing.T) {
	h := newHosts(t)
	ssh := h.script("sleep 4.5; exec " + h.sshd() + ` "$@"`)
	bin := binary(t)
	t.Setenv("NETWATCH_STATE", t.TempDir())
	there := h.script("NETWATCH_STATE=" + t.TempDir() + " exec " + bin + ` "$@"`) // what is kept is kept for this test
	at := []string{"--ssh", ssh, "--peer", ipB + ":veth1", "--peer-path", there}
	rec := filepath.Join(t.TempDir(), "slow.nwr")
	h.must(in(h.a, append([]string{bin, "veth0", "-o", "text", "-d", "9s", "--record", rec}, at...)...)...)
	samples, events := recorded(t, rec)
	n := 0
	for _, s := range samples {
		if s.Series.Host == ipB && s.Series.Source == "nic" && s.Series.Metric == sources.TxOctets {
			n++
		}
	}
	if n < 10 {
		t.Errorf("%d samples of the peer, one each 100 ms", n)
	}
	for _, e := range events {
		if strings.Contains(e.Text, "word for") {
			t.Errorf("a silence is told of one that had not come: %s", e.Text)
		}
	}
	h.must(in(h.a, append([]string{bin, "set", "veth0", "tso=off"}, at...)...)...)
	if !h.bothTSO("off")() {
		t.Errorf("set: here %s, there %s", h.tso(), h.farTSO())
	}
}

// netwatch's own ssh is no connection of the experiment, on neither end and on whatever
// port its server listens; the peer knows it under sudo, too.
func TestTheOwnSSHIsNoConnection(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd("Port 22", "Port 2222") + " -p 2222"
	bin := binary(t)
	t.Setenv("NETWATCH_STATE", t.TempDir())
	bare := h.script(`exec env -i PATH="$PATH" ` + bin + ` "$@"`)
	for _, path := range []string{bin, bare} {
		rec := filepath.Join(t.TempDir(), "own.nwr")
		h.must(in(h.a, bin, "veth0", "-o", "text", "-d", "5s", "--record", rec, "--ssh", ssh, "--peer", ipB+":veth1", "--peer-path", path)...)
		samples, events := recorded(t, rec)
		for _, e := range events {
			if e.Kind == sources.FlowSeen {
				t.Errorf("it was told as %s on %q", e.Subject, e.Host)
			}
		}
		if sum, _ := total(samples, "nic", "veth0", sources.TxOctets); sum == 0 {
			t.Error("nothing went over the wire: this test shows nothing")
		}
	}
}
