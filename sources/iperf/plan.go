package iperf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"netwatch/parsers/iperf"
)

// A plan is how a load is run so that its rows come as they are made.
type plan struct {
	argv     []string
	tool     iperf.Tool // "" for any other command
	pty      bool
	fallback []string // argv where there is no terminal to be had
	note     string   // what the user should know about it
}

// asker runs a program that ends by itself and returns what it said.
type asker func(argv ...string) (string, error)

// Letters of options that take a value: what follows in the same word is the value.
const (
	iperf3Valued = "pfiIFABcbtnklPCwMSLOTX"
	iperf2Valued = "cpibltnfwMoBFLTSyZPIx"
)

// Programs that run the rest of their arguments as a command.
var wrappers = []string{
	"sudo", "doas", "env", "ip", "nsenter", "jexec", "setfib", "nice", "taskset", "cpuset", "chrt", "numactl", "timeout", "stdbuf", "time", "ssh",
}

// program finds the load generator in argv, behind a wrapper if need be; -1 when the
// command is another one.
func program(argv []string) int {
	for i, word := range argv {
		switch base := filepath.Base(word); {
		case base == "iperf3" || base == "iperf" || base == "iperf2":
			return i
		case i == 0 && !slices.Contains(wrappers, base):
			return -1
		}
	}
	return -1
}

// planFor finds the best mode of a load. The user's options are kept; ours come
// before them, so that the user's win.
func planFor(argv []string, ask asker) plan {
	i := program(argv)
	if i < 0 {
		return plan{argv: argv, fallback: argv, pty: true}
	}
	own := func(extra ...string) []string { return slices.Concat(argv[:i+1], extra, argv[i+1:]) }
	name, args := argv[:i+1], argv[i+1:]
	p := plan{}
	if filepath.Base(argv[i]) == "iperf3" {
		p = planIperf3(argv, args, own, ask, name)
	} else if said, _ := ask(slices.Concat(name, []string{"-v"})...); strings.Contains(said, "iperf 3.") {
		p = planIperf3(argv, args, own, ask, name)
	} else {
		p = planIperf2(argv, args, own, said)
	}
	if i > 0 && filepath.Base(argv[0]) == "ssh" {
		p.argv, p.pty = p.fallback, false // a terminal here is none there
		p.note = strings.TrimPrefix(p.note+"; sent and received are as the other host sees them", "; ")
	}
	return p
}

// planIperf3: --json-stream where the version has it, else a terminal, else
// --forceflush. -J, --logfile and a daemon are the user's wish.
func planIperf3(argv, args []string, own func(...string) []string, ask asker, name []string) plan {
	p := plan{argv: argv, fallback: argv, tool: iperf.Iperf3}
	switch {
	case has(args, iperf3Valued, "", "logfile"):
		p.note = "iperf3 writes into its log file, not to netwatch: follow it with --load FILE"
		return p
	case has(args, iperf3Valued, "J", "json"):
		p.note = "with -J iperf3 says everything at its end"
		return p
	case has(args, iperf3Valued, "", "json-stream"), has(args, iperf3Valued, "D", "daemon"),
		has(args, iperf3Valued, "v", "version"), has(args, iperf3Valued, "h", "help"):
		return p
	}
	help, _ := ask(slices.Concat(name, []string{"--help"})...)
	if strings.Contains(help, "--json-stream") && !has(args, iperf3Valued, "s", "server") {
		p.argv = own("--json-stream")
		p.fallback = p.argv
		return p
	}
	p.pty = true
	if strings.Contains(help, "--forceflush") && !has(args, "", "", "forceflush") {
		p.fallback = own("--forceflush")
	}
	return p
}

// planIperf2: -e (2.0.8 and newer) and -i 1 unless the user chose. iperf2 flushes
// after each report, so a pipe is fine.
func planIperf2(argv, args []string, own func(...string) []string, version string) plan {
	p := plan{argv: argv, fallback: argv, tool: iperf.Iperf2}
	if has(args, iperf2Valued, "h", "help") || has(args, iperf2Valued, "v", "version") {
		return p
	}
	var extra []string
	if enhanced(version) && !has(args, iperf2Valued, "e", "enhanced") && !has(args, iperf2Valued, "y", "reportstyle") {
		extra = append(extra, "-e")
	}
	if !has(args, iperf2Valued, "i", "interval") {
		extra = append(extra, "-i", "1")
	}
	p.argv = own(extra...)
	p.fallback = p.argv
	return p
}

// enhanced tells from "iperf version 2.1.8 (12 August 2022) pthreads" whether the
// version knows -e.
func enhanced(version string) bool {
	var n [3]int
	_, after, _ := strings.Cut(version, "iperf version ")
	if _, err := fmt.Sscanf(after, "%d.%d.%d", &n[0], &n[1], &n[2]); err != nil {
		return false
	}
	return slices.Compare(n[:], []int{2, 0, 8}) >= 0
}

// has looks for an option: its letter, alone or among others ("-RJ"), or its long
// name, which getopt lets people cut short.
func has(args []string, valued, letter, long string) bool {
	for _, a := range args {
		if name, isLong := strings.CutPrefix(a, "--"); isLong {
			name, _, _ = strings.Cut(name, "=")
			if name == long || len(name) >= 4 && strings.HasPrefix(long, name) {
				return true
			}
			continue
		}
		if letter == "" || len(a) < 2 || a[0] != '-' {
			continue
		}
		for _, c := range a[1:] {
			if string(c) == letter {
				return true
			}
			if strings.ContainsRune(valued, c) {
				break
			}
		}
	}
	return false
}
