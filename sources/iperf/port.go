package iperf

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Port is the TCP port that a load command talks to: that of its -p, else the
// tool's own. It is 0 for a command that is no iperf.
func Port(argv []string) uint16 {
	i := program(argv)
	if i < 0 {
		return 0
	}
	port, valued := uint16(5001), iperf2Valued
	if filepath.Base(argv[i]) == "iperf3" {
		port, valued = 5201, iperf3Valued
	}
	if word, ok := valueOf(argv[i+1:], valued, 'p', "port"); ok {
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return 0
		}
		return uint16(n)
	}
	return port
}

// valueOf is the value of an option, in its own word ("-p 5202", "--port 5202") or
// in the option's ("-p5202", "-Jp5202", "--port=5202").
func valueOf(args []string, valued string, letter rune, long string) (value string, ok bool) {
	next := func(i int) string {
		if i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	for i, a := range args {
		if name, isLong := strings.CutPrefix(a, "--"); isLong {
			name, inWord, joined := strings.Cut(name, "=")
			switch {
			case name != long:
			case joined:
				return inWord, true
			default:
				return next(i), true
			}
			continue
		}
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		for k, c := range a[1:] {
			if c == letter && k+2 < len(a) {
				return a[k+2:], true
			} else if c == letter {
				return next(i), true
			}
			if strings.ContainsRune(valued, c) {
				break
			}
		}
	}
	return "", false
}
