package iperf

import (
	"strings"
	"testing"

	"netwatch/parsers/iperf"
	"netwatch/sources"
)

// Both are sources.
var _ = []sources.Source{(*Load)(nil), (*Stream)(nil)}

// TestPlan: how each version is started. help is what its --help (iperf3) or -v
// (iperf2) says.
func TestPlan(t *testing.T) {
	const (
		h301 = "Usage: iperf [-s|-c host] [options]"
		h312 = "  --forceflush              force flushing output at every interval"
		h317 = h312 + "\n  --json-stream             output in line-delimited JSON format"
		v205 = "iperf version 2.0.5 (08 Jul 2010) pthreads"
		v218 = "iperf version 2.1.8 (12 August 2022) pthreads"
		v3   = "iperf 3.12 (cJSON 1.7.15)"
	)
	tests := []struct {
		argv, help string
		want       string
		tool       iperf.Tool
		pty        bool
		fallback   string
	}{
		{"iperf3 -c r1", h317, "iperf3 --json-stream -c r1", iperf.Iperf3, false, "iperf3 --json-stream -c r1"},
		{"iperf3 -c r1", h312, "iperf3 -c r1", iperf.Iperf3, true, "iperf3 --forceflush -c r1"},
		{"iperf3 -c r1 --forceflush", h312, "iperf3 -c r1 --forceflush", iperf.Iperf3, true, "iperf3 -c r1 --forceflush"},
		{"iperf3 -c r1", h301, "iperf3 -c r1", iperf.Iperf3, true, "iperf3 -c r1"},
		{"iperf3 -c r1 -J", h317, "iperf3 -c r1 -J", iperf.Iperf3, false, ""},
		{"iperf3 -c r1 -RJ", h317, "iperf3 -c r1 -RJ", iperf.Iperf3, false, ""},
		{"iperf3 -c J -t 5", h317, "iperf3 --json-stream -c J -t 5", iperf.Iperf3, false, ""},
		{"iperf3 -cJ", h317, "iperf3 --json-stream -cJ", iperf.Iperf3, false, ""},
		{"iperf3 -c r1 --json", h317, "iperf3 -c r1 --json", iperf.Iperf3, false, ""},
		{"iperf3 -c r1 --logfile=x", h317, "iperf3 -c r1 --logfile=x", iperf.Iperf3, false, ""},
		{"iperf3 -s", h317, "iperf3 -s", iperf.Iperf3, true, "iperf3 --forceflush -s"},
		{"/usr/local/bin/iperf3 -c r1", h317, "/usr/local/bin/iperf3 --json-stream -c r1", iperf.Iperf3, false, ""},
		{"ip netns exec a iperf3 -c r1", h317, "ip netns exec a iperf3 --json-stream -c r1", iperf.Iperf3, false, ""},
		{"iperf -c r1", v218, "iperf -e -i 1 -c r1", iperf.Iperf2, false, ""},
		{"iperf -c r1 -i 0.5 -e", v218, "iperf -c r1 -i 0.5 -e", iperf.Iperf2, false, ""},
		{"iperf -c r1 -ei1", v218, "iperf -c r1 -ei1", iperf.Iperf2, false, ""},
		{"iperf -c r1", v205, "iperf -i 1 -c r1", iperf.Iperf2, false, ""},
		{"iperf -c r1 -y C", v218, "iperf -i 1 -c r1 -y C", iperf.Iperf2, false, ""},
		{"iperf -c r1", v3 + h317, "iperf --json-stream -c r1", iperf.Iperf3, false, ""},
		{"sudo -n iperf3 -c r1", h312, "sudo -n iperf3 -c r1", iperf.Iperf3, true, "sudo -n iperf3 --forceflush -c r1"},
		{"ssh r1 iperf3 -c s1", h312, "ssh r1 iperf3 --forceflush -c s1", iperf.Iperf3, false, ""},
		{"nc iperf3 9", "", "nc iperf3 9", "", true, "nc iperf3 9"},
		{"nc r1 9", "", "nc r1 9", "", true, "nc r1 9"},
	}
	for _, tt := range tests {
		p := planFor(strings.Fields(tt.argv), func(...string) (string, error) { return tt.help, nil })
		got := strings.Join(p.argv, " ")
		if got != tt.want || p.tool != tt.tool || p.pty != tt.pty || tt.fallback != "" && strings.Join(p.fallback, " ") != tt.fallback {
			t.Errorf("%s: %q %q pty=%v else %q", tt.argv, got, p.tool, p.pty, strings.Join(p.fallback, " "))
		}
	}
}
