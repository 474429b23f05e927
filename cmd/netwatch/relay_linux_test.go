package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// relayDelay is what the relay adds in each direction.
const relayDelay = 100 * time.Millisecond

// What a relay loses from then on when it gets this signal.
const (
	losesRequests = syscall.SIGUSR1
	losesAnswers  = syscall.SIGUSR2
)

// relay carries standard input and output to a host and back, late: it stands in
// for a long path, which this kernel cannot make (it has no netem).
func relay(host, port string) error {
	conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	var lost [2]atomic.Bool
	told := make(chan os.Signal, 1)
	signal.Notify(told, losesRequests, losesAnswers)
	go func() {
		for sig := range told {
			lost[slices.Index([]os.Signal{losesRequests, losesAnswers}, sig)].Store(true)
		}
	}()
	done := make(chan error, 2)
	go func() { done <- late(conn, os.Stdin, &lost[0]) }()
	go func() { done <- late(os.Stdout, conn, &lost[1]) }()
	return <-done
}

// late copies what comes, each piece relayDelay after it came, until it is lost.
func late(to io.Writer, from io.Reader, lost *atomic.Bool) error {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				pieces <- piece{time.Now().Add(relayDelay), buf[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if lost.Load() {
			continue
		}
		if _, err := to.Write(p.data); err != nil {
			return err
		}
	}
	return io.EOF
}

var clockWords = regexp.MustCompile(`clock ([+-][\d.]+) ms \+-([\d.]+)`)

// Over a path of 200 ms the clocks are still compared truly (both ends have one
// clock here: the offset is zero), and a turn of both ends is one turn.
func TestAPeerFarAway(t *testing.T) {
	h := newHosts(t)
	term := h.both(200, 50, h.relayed(h.sshd()))
	var ahead, within float64
	wait(t, term, "the clock", 20*time.Second, func(s string) bool {
		m := clockWords.FindStringSubmatch(s)
		if m == nil || !strings.Contains(s, "TSO on both") {
			return false
		}
		ahead, _ = strconv.ParseFloat(m[1], 64)
		within, _ = strconv.ParseFloat(m[2], 64)
		return true
	})
	if within < 95 || within > 200 || ahead > within || ahead < -within {
		t.Errorf("clock %+v ms within %v: want zero within about 100", ahead, within)
	}
	press(t, term, "t")
	took := eventually(t, "both turns", 10*time.Second, h.bothTSO("off"))
	t.Logf("clock %+.2f ms within %.1f; both ends turned after %v", ahead, within, took.Round(10*time.Millisecond))
	wait(t, term, "the skew", 10*time.Second, has("skew"))
	h.bothBack(term)
}

// relayed is ssh through a relay.
func (h *hosts) relayed(ssh string) string {
	h.t.Helper()
	exe, err := os.Executable()
	must(h.t, err)
	return ssh + " -o ProxyCommand=" + h.script("exec env NETWATCH_TEST_RELAY=1 "+exe+" "+ipB+" 22")
}

// script is a program of one line.
func (h *hosts) script(line string) string {
	h.t.Helper()
	path := h.t.TempDir() + "/run"
	h.file(path, fmt.Sprintf("#!/bin/sh\n%s\n", line))
	if err := os.Chmod(path, 0o755); err != nil {
		h.t.Fatal(err)
	}
	return path
}
