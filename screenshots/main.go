// Command screenshots makes the pictures beside it from the real program:
//
//	go run ./screenshots
//
// It builds netwatch, runs it in pseudo terminals, presses keys and writes what
// stands on the screen as PNG. The demo's pictures need nothing; the live ones need
// root, iperf3, ping and network namespaces on Linux, and are left as they are
// where those are missing.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"netwatch/screenshots/terminal"
)

// A shot is one picture.
type shot struct {
	file       string
	cols, rows int
	live       bool
	steps      []step
}

// A step waits, presses keys, and waits for words on the screen.
type step struct {
	wait time.Duration
	keys string
	text string
}

const second = time.Second

var turned = []step{{14 * second, "a", "aim"}, {second, "2", "aim 1 -> 2"}, {11 * second, "", ""}}

var shots = []shot{
	{"demo-120x40.png", 120, 40, false, turned},
	{"demo-200x50.png", 200, 50, false, turned},
	{"demo-99x49.png", 99, 49, false, turned},
	{"demo-80x24.png", 80, 24, false, turned},
	{"demo-59x39.png", 59, 39, false, turned},
	{"table-120x40.png", 120, 40, false, append(turned[:3:3], step{0, "2", ""}, step{second, "", ""})},
	{"table-59x39.png", 59, 39, false, append(turned[:3:3], step{0, "2", ""}, step{second, "", ""})},
	{"live-120x40.png", 120, 40, true, []step{{9 * second, "t", "TSO off"}, {8 * second, "", ""}}},
	{"live-59x39.png", 59, 39, true, []step{{9 * second, "t", "TSO off"}, {8 * second, "", ""}}},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "netwatch-shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "netwatch")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/netwatch").CombinedOutput(); err != nil {
		return fmt.Errorf("build (run it in the project's root): %v: %s", err, out)
	}
	only := strings.Join(os.Args[1:], " ")
	for _, s := range shots {
		if only != "" && !strings.Contains(only, s.file) {
			continue
		}
		argv := []string{bin, "demo", "--seed", "7"}
		if s.live {
			live, end, err := liveHosts(bin)
			if err != nil {
				fmt.Printf("%s: left as it is: %v\n", s.file, err)
				continue
			}
			argv = live
			defer end()
		}
		if err := take(s, argv); err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		fmt.Println(s.file)
	}
	return nil
}

func take(s shot, argv []string) error {
	term, err := terminal.Start(s.cols, s.rows, nil, argv...)
	if err != nil {
		return err
	}
	defer term.Close()
	for _, st := range s.steps {
		time.Sleep(st.wait)
		if err := term.Keys(st.keys); err != nil {
			return err
		}
		if _, err := term.Wait(10*second, func(screen string) bool { return strings.Contains(screen, st.text) }); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join("screenshots", s.file))
	if err != nil {
		return err
	}
	defer f.Close()
	return term.PNG(f)
}

// liveHosts makes two namespaces with a veth pair of 200 Mbit/s between them and
// an iperf3 server on the far one, and returns the command that watches it.
func liveHosts(bin string) (argv []string, end func(), err error) {
	a, b := "nwshot-s1", "nwshot-r1"
	end = func() {
		exec.Command("ip", "netns", "del", a).Run()
		exec.Command("ip", "netns", "del", b).Run()
	}
	end()
	for _, line := range []string{
		"ip netns add " + a, "ip netns add " + b,
		"ip link add veth0 netns " + a + " type veth peer name veth1 netns " + b,
		"ip -n " + a + " addr add 10.77.0.1/24 dev veth0", "ip -n " + b + " addr add 10.77.0.2/24 dev veth1",
		"ip -n " + a + " link set lo up", "ip -n " + b + " link set lo up",
		"ip -n " + a + " link set veth0 up", "ip -n " + b + " link set veth1 up",
		"ip netns exec " + a + " tc qdisc add dev veth0 root tbf rate 200mbit burst 64kb latency 20ms",
		"ip netns exec " + b + " iperf3 -s -D -1",
	} {
		f := strings.Fields(line)
		if out, err := exec.Command(f[0], f[1:]...).CombinedOutput(); err != nil {
			end()
			return nil, nil, fmt.Errorf("%s: %v: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	argv = strings.Fields("ip netns exec " + a + " " + bin + " veth0 --ping 10.77.0.2 -- iperf3 -c 10.77.0.2 -t 25 -C cubic")
	return argv, end, nil
}
