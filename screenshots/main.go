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
	"slices"
	"strings"
	"time"

	"netwatch/screenshots/terminal"
)

// A shot is one picture.
type shot struct {
	file       string
	cols, rows int
	live       bool // between two namespaces
	both       bool // with the far one as peer
	steps      []step
}

// A step waits, presses keys, and waits for words on the screen.
type step struct {
	wait time.Duration
	keys string
	text string
}

const second = time.Second

// turned is within the demo's first run, which begins after 2 s and takes 20.
var turned = []step{{10 * second, "a", "aim"}, {second, "2", "aim 1 -> 2"}, {8 * second, "", ""}}

var shots = []shot{
	{"demo-120x40.png", 120, 40, false, false, turned},
	{"demo-200x50.png", 200, 50, false, false, turned},
	{"demo-99x49.png", 99, 49, false, false, turned},
	{"demo-80x24.png", 80, 24, false, false, turned},
	{"demo-59x39.png", 59, 39, false, false, turned},
	{"table-120x40.png", 120, 40, false, false, append(turned[:3:3], step{0, "2", ""}, step{second, "", ""})},
	{"table-59x39.png", 59, 39, false, false, append(turned[:3:3], step{0, "2", ""}, step{second, "", ""})},
	{"live-120x40.png", 120, 40, true, false, []step{{9 * second, "t", "TSO off"}, {8 * second, "", ""}}},
	{"live-59x39.png", 59, 39, true, false, []step{{9 * second, "t", "TSO off"}, {8 * second, "", ""}}},
	{"both-200x50.png", 200, 50, true, true, []step{{10 * second, "t", "skew"}, {8 * second, "", ""}}},
	{"both-99x49.png", 99, 49, true, true, []step{{10 * second, "t", "skew"}, {8 * second, "", ""}}},
}

func main() {
	if err := all(); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func all() error {
	dir, err := os.MkdirTemp("", "netwatch-shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "NETWATCH_") {
			os.Unsetenv(name) // nor what a person has set for every session
		}
	}
	os.Setenv("XDG_CONFIG_HOME", dir)
	os.Setenv("NETWATCH_STATE", filepath.Join(dir, "state")) // what this host's netwatch left is no part of a picture
	bin := filepath.Join(dir, "netwatch")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/netwatch").CombinedOutput(); err != nil {
		return fmt.Errorf("build (run it in the project's root): %v: %s", err, out)
	}
	wanted, err := chosen(os.Args[1:])
	if err != nil {
		return err
	}
	for _, s := range wanted {
		argv, end, err := command(s, bin, filepath.Join(dir, s.file))
		if err != nil {
			fmt.Printf("%s: left as it is: %v\n", s.file, err)
			continue
		}
		err = take(s, argv)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		fmt.Println(s.file)
	}
	return nil
}

// chosen are the shots of these names, with or without .png; all without names.
func chosen(names []string) ([]shot, error) {
	if len(names) == 0 {
		return shots, nil
	}
	var some []shot
	for _, name := range names {
		i := slices.IndexFunc(shots, func(s shot) bool { return s.file == strings.TrimSuffix(name, ".png")+".png" })
		if i < 0 {
			return nil, fmt.Errorf("there is no picture %s", name)
		}
		some = append(some, shots[i])
	}
	return some, nil
}

// command is what a shot shows, with what must be there for it; dir is its own.
func command(s shot, bin, dir string) (argv []string, end func(), err error) {
	if !s.live {
		return []string{bin, "demo", "--seed", "7"}, func() {}, nil
	}
	argv, end, err = liveHosts(bin)
	if err != nil || !s.both {
		return append(argv, load()...), end, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	flags, err := peer(dir, bin)
	if err != nil {
		end()
		return nil, nil, err
	}
	return append(append(argv, flags...), load()...), end, nil
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
