package iperf

import (
	"strings"
	"testing"
)

func TestPort(t *testing.T) {
	for command, want := range map[string]uint16{
		"iperf3 -c r1":                      5201,
		"iperf3 -c r1 -p 5202 -t 60":        5202,
		"iperf3 -c r1 -p5203":               5203,
		"iperf3 -Jp5204 -c r1":              5204,
		"iperf3 --client r1 --port=5205":    5205,
		"iperf3 --client r1 --port 5206":    5206,
		"sudo iperf3 -c r1 -p 5207":         5207,
		"iperf -c r1":                       5001,
		"/usr/local/bin/iperf -s -p 6001":   6001,
		"iperf3 -c r1 -p":                   0,
		"iperf3 -c r1 -p many":              0,
		"iperf3 -c r1 -p 70000":             0,
		"iperf3 -c r1 -b 1G -R --bidir -P4": 5201,
		"wget http://r1/big":                0,
	} {
		if got := Port(strings.Fields(command)); got != want {
			t.Errorf("%s: port %d, want %d", command, got, want)
		}
	}
}
