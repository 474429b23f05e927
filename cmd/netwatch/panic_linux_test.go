package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netwatch/screenshots/terminal"
)

// A breakage is a line of the program in whose place another one is built, here one that
// panics when it is asked to.
type breakage struct{ file, line, instead string }

// onPurpose is what the panics say.
const onPurpose = "broken on purpose"

// breakages break the screen by the keys X, Y and Z, which mean nothing, and by files that
// appear in a directory a source and a goroutine of a source's own.
func breakages(dir string) []breakage {
	const panics = `panic("` + onPurpose + `")`
	when := func(file string) string {
		return `if _, err := os.Stat("` + filepath.Join(dir, file) + `"); err == nil { ` + panics + " }\n"
	}
	return []breakage{
		{"tui/model.go", "\t\tcmd = m.key(msg.String())\n", `
			switch msg.String() {
			case "X":
				` + panics + `
			case "Z":
				return m, func() tea.Msg { ` + panics + ` }
			}
			cmd = m.key(msg.String())
		`},
		{"tui/model.go", "\tm.screen = panes.Screen(&m.frame, m.w, m.h)\n", `
			m.screen = panes.Screen(&m.frame, m.w, m.h)
			if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "Y" {
				m.screen = ""
			}
		`},
		{"tui/model.go", "\tv := tea.NewView(m.screen)\n", `
			if m.screen == "" && m.w > 0 {
				` + panics + `
			}
			v := tea.NewView(m.screen)
		`},
		{"sources/cpu/cpu.go", "import (\n", "import (\n\"os\"\n"},
		{"sources/cpu/cpu.go", "\t\tm.poll(time.Now(), sink)\n", when("cpu") + "m.poll(time.Now(), sink)\n"},
		{"sources/nic/nic_linux.go", "\tm, rest, err := linux.NextMessage(b)\n", when("link") + "m, rest, err := linux.NextMessage(b)\n"},
	}
}

// broken builds netwatch with lines of it replaced.
func broken(t *testing.T, list []breakage) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		cannot(t, "there is no go command to build netwatch with")
	}
	dir := t.TempDir()
	sources, replace := map[string]string{}, map[string]string{}
	for _, b := range list {
		if sources[b.file] == "" {
			text, err := os.ReadFile(filepath.Join("..", "..", b.file))
			must(t, err)
			sources[b.file] = string(text)
		}
		if strings.Count(sources[b.file], b.line) != 1 {
			t.Fatalf("%s has not one line %q", b.file, b.line)
		}
		sources[b.file] = strings.Replace(sources[b.file], b.line, b.instead, 1)
	}
	for file, text := range sources {
		original, err := filepath.Abs(filepath.Join("..", "..", file))
		must(t, err)
		replace[original] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		must(t, os.WriteFile(replace[original], []byte(text), 0o644))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	bin := filepath.Join(dir, "netwatch")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, ".")
	build.Env = append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	return bin
}

// shell runs netwatch as a shell does: what it leaves the terminal as is told by stty.
func (h *hosts) shell(bin string) *terminal.Terminal {
	h.t.Helper()
	argv := append([]string{"sh", "-c", `"$@"; status=$?; stty -a; exit $status`, "sh"}, in(h.a, bin, "veth0")...)
	term, err := terminal.Start(120, 30, nil, argv...)
	must(h.t, err)
	h.t.Cleanup(term.Close)
	wait(h.t, term, "the first frame", 5*time.Second, has("TSO on"))
	press(h.t, term, "t")
	wait(h.t, term, "the turn", 5*time.Second, has("TSO off"))
	if got := h.tso(); got != "off" {
		h.t.Fatalf("ethtool says %s after the turn", got)
	}
	return term
}

// usable checks that the terminal is one to type at.
func usable(t *testing.T, term *terminal.Terminal, said string) {
	t.Helper()
	if screen, cursor := term.Left(); !screen || !cursor {
		t.Errorf("alternate screen left %v, cursor shown %v", screen, cursor)
	}
	for _, word := range []string{" icanon ", " echo ", " isig ", " opost "} {
		if !strings.Contains(strings.ReplaceAll(said, "\n", " "), word) {
			t.Errorf("stty does not say%sof the terminal", word)
		}
	}
}

// The screen panics with a knob turned: in what takes a key, in what hands out the
// frame, in a command of its own goroutine. The knob is put back, the terminal can be
// typed at, and the status is that of a failure, with words and the place.
func TestTheScreenPanics(t *testing.T) {
	h := newHosts(t)
	bin := broken(t, breakages(t.TempDir()))
	for key, where := range map[string]string{"X": "tui.(*model).Update(", "Y": "tui.(*model).View(", "Z": "tui.(*model).Update.func"} {
		t.Run(where, func(t *testing.T) {
			term := h.shell(bin)
			h.agent()
			press(t, term, key)
			said := end(t, term, exitFailure)
			usable(t, term, said)
			if got := h.tso(); got != "on" {
				t.Errorf("TSO is %s", got)
			}
			for _, words := range []string{onPurpose, where, "netwatch: put back tso=on (was turned to off)\n", "netwatch: a bug in netwatch: the screen panicked"} {
				if !strings.Contains(said, words) {
					t.Errorf("it does not say %q:\n%s", words, said)
				}
			}
			h.noAgents()
			h.expect(exitOK, []string{"nothing to put back"}, "restore")
		})
	}
}

// A source panics with a knob turned, in its own goroutine and in one that it started:
// that source is gone, or deaf, and says why; the screen and the knob stay, until a person
// quits.
func TestASourcePanics(t *testing.T) {
	h := newHosts(t)
	dir := t.TempDir()
	bin := broken(t, breakages(dir))
	term := h.shell(bin)
	must(t, os.WriteFile(filepath.Join(dir, "cpu"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "link"), nil, 0o644))
	h.must("ip", "-n", h.a, "link", "set", "veth0", "mtu", "1400") // a word about the link
	press(t, term, "5")                                            // the page of events
	wait(t, term, "the news of both", 5*time.Second, has("a bug in netwatch: "+onPurpose+" (cpu.go:", "may be missed: a bug in netwatch: "+onPurpose))
	if got := h.tso(); got != "off" {
		t.Errorf("TSO is %s after the panics of sources", got)
	}
	press(t, term, "q")
	wait(t, term, "the question", 5*time.Second, has("Enter"))
	press(t, term, "\r")
	said := end(t, term, exitOK)
	usable(t, term, said)
	if got := h.tso(); got != "on" || !strings.Contains(said, "netwatch: put back tso=on (was turned to off)") {
		t.Errorf("TSO is %s, and it said:\n%s", got, said)
	}
	h.noAgents()
}
