package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"netwatch/screenshots/terminal"
	"netwatch/sources/netns"
)

// The end-to-end tests run the real netwatch between two network namespaces with
// a veth pair, against the real iperf3, ping and ethtool. They need root and these
// tools; without them they are skipped with the reason, unless
// NETWATCH_E2E=required makes that a failure.

func cannot(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("NETWATCH_E2E") == "required" {
		t.Fatal("end-to-end tests are required, but ", why)
	}
	t.Skip(why)
}

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "netwatch-e2e")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "netwatch")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "GOFLAGS=") // the program as users run it, also under -race
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %v: %s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	if os.Getenv("NETWATCH_TEST_RELAY") != "" {
		fmt.Fprintln(os.Stderr, relay(os.Args[1], os.Args[2]))
		os.Exit(1)
	}
	code := m.Run()
	if bin, err := buildOnce(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

func binary(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		cannot(t, "there is no go command to build netwatch with")
	}
	bin, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// A pair of hosts: namespaces with veth0 10.77.0.1 and veth1 10.77.0.2. The link is
// shaped to 200 Mbit/s so that two slow cores can keep up with everything.
type hosts struct {
	t    *testing.T
	a, b string
}

const (
	ipA = "10.77.0.1"
	ipB = "10.77.0.2"
)

func newHosts(t *testing.T) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		cannot(t, "network namespaces need root")
	}
	for _, tool := range []string{"ip", "tc", "ethtool", "iperf3", "ping"} {
		if _, err := exec.LookPath(tool); err != nil {
			cannot(t, "there is no "+tool)
		}
	}
	t.Setenv("NETWATCH_STATE", filepath.Join(t.TempDir(), "state"))
	h := &hosts{t: t, a: fmt.Sprintf("nw%da", os.Getpid()), b: fmt.Sprintf("nw%db", os.Getpid())}
	t.Cleanup(func() {
		for _, ns := range []string{h.a, h.b} {
			pids, _ := exec.Command("ip", "netns", "pids", ns).Output()
			for _, pid := range strings.Fields(string(pids)) {
				exec.Command("kill", "-9", pid).Run()
			}
			exec.Command("ip", "netns", "del", ns).Run()
		}
	})
	for _, ns := range []string{h.a, h.b} {
		if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
			cannot(t, "network namespaces do not work here: "+string(out))
		}
	}
	h.link()
	return h
}

// link makes the veth pair.
func (h *hosts) link() {
	h.must("ip", "link", "add", "veth0", "netns", h.a, "type", "veth", "peer", "name", "veth1", "netns", h.b)
	h.must("ip", "-n", h.a, "addr", "add", ipA+"/24", "dev", "veth0")
	h.must("ip", "-n", h.b, "addr", "add", ipB+"/24", "dev", "veth1")
	for ns, dev := range map[string]string{h.a: "veth0", h.b: "veth1"} {
		h.must("ip", "-n", ns, "link", "set", "lo", "up")
		h.must("ip", "-n", ns, "link", "set", dev, "up")
	}
	h.must("ip", "netns", "exec", h.a, "tc", "qdisc", "add", "dev", "veth0", "root", "tbf", "rate", "200mbit", "burst", "64kb", "latency", "20ms")
}

func (h *hosts) must(argv ...string) string {
	h.t.Helper()
	return netns.Run(h.t, argv...)
}

// in is a command line in a namespace.
func in(ns string, argv ...string) []string {
	return append([]string{"ip", "netns", "exec", ns}, argv...)
}

// server runs iperf3 -s for one test on b and returns what it says at its end.
func (h *hosts) server(args ...string) func() string {
	h.t.Helper()
	var out bytes.Buffer
	argv := in(h.b, append([]string{"iperf3", "-s", "-1"}, args...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	h.t.Cleanup(func() { cmd.Process.Kill(); <-done })
	h.listening()
	return func() string {
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			h.t.Fatal("the iperf3 server does not end")
		}
		return out.String()
	}
}

// listening waits until something listens on iperf3's port on b.
func (h *hosts) listening() {
	h.t.Helper()
	for range 250 {
		out, _ := exec.Command("ip", "netns", "exec", h.b, "cat", "/proc/net/tcp6", "/proc/net/tcp").Output()
		if strings.Contains(string(out), ":1451 ") { // 5201
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	h.t.Fatal("the iperf3 server does not listen")
}

// tso is what ethtool says of veth0.
func (h *hosts) tso() string { h.t.Helper(); return h.tsoOf(h.a, "veth0") }

// netwatch runs on host a on a screen.
func (h *hosts) netwatch(cols, rows int, args ...string) *terminal.Terminal {
	h.t.Helper()
	term, err := terminal.Start(cols, rows, nil, in(h.a, append([]string{binary(h.t)}, args...)...)...)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(term.Close)
	return term
}

func wait(t *testing.T, term *terminal.Terminal, what string, limit time.Duration, ok func(string) bool) string {
	t.Helper()
	screen, err := term.Wait(limit, ok)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return screen
}

func has(words ...string) func(string) bool {
	return func(screen string) bool {
		for _, w := range words {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}
}

func press(t *testing.T, term *terminal.Terminal, keys string) {
	t.Helper()
	if err := term.Keys(keys); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, term *terminal.Terminal, want int) string {
	t.Helper()
	code, said, err := term.End(20 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if code != want {
		t.Errorf("exit status %d, want %d; it said:\n%s", code, want, said)
	}
	return said
}
