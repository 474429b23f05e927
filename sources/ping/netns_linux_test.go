package ping

import (
	"context"
	"errors"
	"io"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"netwatch/parsers/ping"
	"netwatch/sources"
	"netwatch/sources/netns"
	"netwatch/sources/proc"
)

// TestRealPing pings over a veth pair with the route taken away for a while: the
// losses are told, and the mean equals that of the lines.
func TestRealPing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	netns.Need(t, "ip", "ping")
	if !netns.Inside(t) {
		return
	}
	far := netns.Add(t, "far")
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", far)
	netns.Run(t, "ip", "addr", "add", "198.18.77.1/24", "dev", "veth0")
	netns.Run(t, "ip", "link", "set", "veth0", "up")
	netns.Run(t, "ip", "-n", far, "addr", "add", "198.18.77.2/24", "dev", "veth0")
	netns.Run(t, "ip", "-n", far, "link", "set", "veth0", "up")

	t.Run("mean", pingMean)

	l := &log{}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- New("198.18.77.2", 0).Run(ctx, l) }()
	<-time.After(2 * time.Second)
	netns.Run(t, "ip", "-n", far, "addr", "del", "198.18.77.2/24", "dev", "veth0")
	<-time.After(time.Second)
	netns.Run(t, "ip", "-n", far, "addr", "add", "198.18.77.2/24", "dev", "veth0")
	if err := <-done; err != nil {
		t.Fatalf("Run: %v", err)
	}
	lost, replies := len(l.of(sources.PingLost)), l.of(sources.PingRTT)
	// 1 s at 0.2 s is five probes; one more or less by where the second begins.
	if lost < 4 || lost > 6 {
		t.Errorf("%d losses, want 4 to 6", lost)
	}
	if n := len(replies); n < 20 || n > 26 {
		t.Errorf("%d replies in 5 s at 0.2 s, want about 25", n)
	}
	for _, s := range replies {
		if s.Sum <= 0 || s.Sum > 1e6 || math.Abs(time.Since(s.At).Seconds()) > 10 {
			t.Errorf("reply %+v", s)
		}
	}
}

func TestRealUnknownHost(t *testing.T) {
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skip("ping is not installed")
	}
	err := New("no-such-host.invalid", 0).Run(t.Context(), &log{})
	if err == nil || !strings.Contains(err.Error(), "no-such-host.invalid") {
		t.Errorf("got %v", err)
	}
}

// pingMean pipes a foreign ping of 30 probes in and holds the mean of the samples
// against ping's own.
func pingMean(t *testing.T) {
	c, err := proc.Start(proc.Spec{Argv: []string{"ping", "-c", "30", "-i", "0.01", "198.18.77.2"}})
	if err != nil {
		t.Fatal(err)
	}
	var own float64
	p := ping.NewParser(func(r ping.Record) {
		if r, ok := r.(ping.RTTs); ok {
			own = r.Avg.V * 1000
		}
	})
	r, w := io.Pipe()
	go func() {
		for o := range c.Output() {
			p.Write(o.Data)
			w.Write(o.Data)
		}
		w.Close()
	}()
	l := &log{}
	s := FromReader("pipe", r)
	if err := s.Run(t.Context(), l); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sum, n := 0.0, 0.0
	for _, s := range l.of(sources.PingRTT) {
		sum += s.Sum
		n++
	}
	if n != 30 || math.Abs(sum/n-own) > 0.01*own+1 {
		t.Errorf("mean of %g round trips is %g us, ping says %g; notes %q", n, sum/n, own, l.text(sources.SourceNote))
	}
}
