package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// relayDelay is what the relay adds in each direction.
const relayDelay = 100 * time.Millisecond

// relay carries standard input and output to a host and back, late: it stands in
// for a long path, which this kernel cannot make (it has no netem).
func relay(host, port string) error {
	conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	done := make(chan error, 2)
	go func() { done <- late(conn, os.Stdin) }()
	go func() { done <- late(os.Stdout, conn) }()
	return <-done
}

// late copies what comes, each piece relayDelay after it came.
func late(to io.Writer, from io.Reader) error {
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
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ssh := h.sshd() + " -o ProxyCommand=" + h.script("exec env NETWATCH_TEST_RELAY=1 "+exe+" "+ipB+" 22")
	term := h.both(200, 50, ssh)
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
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	end(t, term, exitOK)
	if !h.bothTSO("on")() {
		t.Error("not everything was put back")
	}
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
