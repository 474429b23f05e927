package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"netwatch/parsers/iperf"
	"netwatch/sources"
	"netwatch/sources/netns"
	"netwatch/sources/proc"
)

// pair makes two network namespaces with a veth pair between them, 10.99.0.1 and .2.
func pair(t *testing.T) (here, there string) {
	t.Helper()
	netns.Need(t, "ip", "iperf3", "iperf")
	here, there = netns.Add(t, "a"), netns.Add(t, "b")
	netns.Run(t, "ip", "link", "add", "veth0", "netns", here, "type", "veth", "peer", "name", "veth0", "netns", there)
	for ns, addr := range map[string]string{here: "10.99.0.1/24", there: "10.99.0.2/24"} {
		netns.Run(t, "ip", "-n", ns, "addr", "add", addr, "dev", "veth0")
		netns.Run(t, "ip", "-n", ns, "link", "set", "veth0", "up")
		netns.Run(t, "ip", "-n", ns, "link", "set", "lo", "up")
	}
	return here, there
}

// serve runs a server in a namespace until the test ends.
func serve(t *testing.T, ns string, argv ...string) {
	t.Helper()
	c, err := proc.Start(proc.Spec{Argv: append([]string{"ip", "netns", "exec", ns}, argv...), PTY: true})
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	go func() {
		said, told := "", false
		for o := range c.Output() {
			if said += string(o.Data); !told && strings.Contains(said, "istening on") {
				close(up)
				told = true
			}
		}
	}()
	t.Cleanup(func() { c.Stop(); <-c.Done() })
	select {
	case <-up:
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not come up")
	}
}

// TestRealTools runs the real tools and holds the mean of the samples against the
// tool's own final figure.
func TestRealTools(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	here, there := pair(t)
	serve(t, there, "iperf3", "-s")
	serve(t, there, "iperf", "-s")
	serve(t, there, "iperf", "-s", "-u", "-p", "5002")
	tests := []struct {
		name    string
		argv    string
		metrics []sources.Metric
		side    string // which of the final rows is this side's own
	}{
		{"iperf3", "iperf3 -c 10.99.0.2 -t 3 -i 0.5", []sources.Metric{sources.Goodput}, "sender"},
		{"iperf3 -P 4", "iperf3 -c 10.99.0.2 -t 2 -i 0.5 -P 4", []sources.Metric{sources.Goodput}, "sender"},
		{"iperf3 -R", "iperf3 -c 10.99.0.2 -t 2 -R", []sources.Metric{sources.RxGood}, "receiver"},
		{"iperf3 --bidir", "iperf3 -c 10.99.0.2 -t 2 -i 0.5 --bidir -P 2", []sources.Metric{sources.Goodput, sources.RxGood}, ""},
		{"iperf3 -u", "iperf3 -c 10.99.0.2 -t 2 -u -b 50M", []sources.Metric{sources.Goodput}, "sender"},
		{"iperf2", "iperf -c 10.99.0.2 -t 5 -i 0.5 --trip-times", []sources.Metric{sources.Goodput}, ""},
		{"iperf2 -P 4", "iperf -c 10.99.0.2 -t 8 -P 4", []sources.Metric{sources.Goodput}, ""},
		{"iperf2 -u", "iperf -c 10.99.0.2 -p 5002 -t 2 -u -b 20M", []sources.Metric{sources.Goodput}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New(append([]string{"ip", "netns", "exec", here}, strings.Fields(tt.argv)...))
			sink := &log{}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := l.Run(ctx, sink); !errors.Is(err, io.EOF) {
				t.Fatalf("Run: %v\n%v", err, sink.events)
			}
			if r := l.Result(); r.Failed || !r.Ended {
				t.Fatalf("result %+v\n%v", r, sink.events)
			}
			for _, m := range tt.metrics {
				own := finalOf(t, sink, m, tt.side)
				if got := mean(sink.of("SUM", m)); math.Abs(got-own) > 0.01*own {
					t.Errorf("mean %s of %s, the tool says %s\n%s", m.Name, Rate(got), Rate(own), sink.text(sources.RunEnded))
				}
			}
		})
	}
}

var finals = map[sources.Metric]iperf.Dir{sources.Goodput: iperf.Out, sources.RxGood: iperf.In}

// finalOf reads the tool's final figure out of the words of RunEnded, which name
// every final row: "938 Mbit/s sent (0 retransmits), 937 Mbit/s received in 10.0 s".
func finalOf(t *testing.T, l *log, m sources.Metric, side string) float64 {
	t.Helper()
	word := map[string]string{"sender": " sent", "receiver": " received"}[side]
	if side == "" && strings.Contains(l.text(sources.RunEnded), "TX-C") {
		word = map[iperf.Dir]string{iperf.Out: " TX-C sender", iperf.In: " RX-C receiver"}[finals[m]]
	}
	text := strings.SplitN(l.text(sources.RunEnded), " ", 3)[2] // behind "iperf3 #1"
	for part := range strings.SplitSeq(text, ", ") {
		var v float64
		var unit string
		if n, _ := fmt.Sscan(part, &v, &unit); n == 2 && strings.Contains(part, "bit/s"+word) {
			return v * map[string]float64{"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3}[unit]
		}
	}
	t.Fatalf("no final figure for %q in %q", word, l.text(sources.RunEnded))
	return 0
}
