package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

// cli runs netwatch as a function.
func cli(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func TestStatusAndWords(t *testing.T) {
	loop := "lo"
	if _, err := net.InterfaceByName(loop); err != nil {
		loop = "lo0"
	}
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.log")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(dir, "there.nwr")
	if err := os.WriteFile(there, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		stdout string
		stderr string
	}{
		{"help", []string{"--help"}, exitOK, "netwatch [flags] IFACE", ""},
		{"version", []string{"--version"}, exitOK, "netwatch " + version, ""},
		{"short version", []string{"-V"}, exitOK, "netwatch " + version, ""},
		{"nothing", nil, exitOK, loop, ""},
		{"unknown flag", []string{"--warp"}, exitUsage, "", "unknown flag: --warp"},
		{"unknown flag of a subcommand", []string{"demo", "--warp"}, exitUsage, "", "unknown flag: --warp"},
		{"argument to demo", []string{"demo", "em4"}, exitUsage, "", "netwatch: "},
		{"three interfaces", []string{"em0", "em1", "em2"}, exitUsage, "", "one interface, or two"},
		{"load without interface", []string{"--", "iperf3", "-c", "r1"}, exitUsage, "", "which interface?"},
		{"no load", []string{loop, "--"}, exitUsage, "", "no load command"},
		{"output", []string{"-o", "xml", loop}, exitUsage, "", "--output xml"},
		{"interval", []string{"-i", "1ms", loop}, exitUsage, "", "the least is 100ms"},
		{"peers too often", []string{"--peer", "r1", "--peer-every", "99ms", loop}, exitUsage, "", "--peer-every 99ms: from 100ms to 10s"},
		{"peers too seldom", []string{"--peer-every", "10001ms", loop}, exitUsage, "", "--peer-every 10.001s: from 100ms to 10s"},
		{"peers never", []string{"--peer", "r1", "--peer-every", "0", loop}, exitUsage, "", "--peer-every 0s"},
		{"help on peers", []string{"--help"}, exitOK, "--peer-every", ""},
		{"units", []string{"--units", "furlong", loop}, exitUsage, "", "bit or byte"},
		{"unknown interface", []string{"-o", "text", loop + "9"}, exitFailure, "", "did you mean " + loop + "?"},
		{"a screen on no terminal", []string{"-o", "tui", loop}, exitFailure, "", "terminal"},
		{"a log that is a directory", []string{"-o", "text", "-d", "1s", "--siftr", dir, loop}, exitFailure, "", "a directory is no log"},
		{"a load that is not there", []string{"-o", "text", loop, "--", "no-such-program"}, exitFailure, "cannot start no-such-program", "load failed"},
		{"a host that is not there", []string{"-o", "text", "-d", "3s", "--ping", "-x", loop}, exitFailure, "", "ping: \"-x\" is no host to ping"},
		{"replay of nothing", []string{"replay", "-o", "text", empty}, exitFailure, "", "no netwatch recording"},
		{"replay of no file", []string{"replay", filepath.Join(dir, "none")}, exitFailure, "", "no such file"},
		{"review of nothing", []string{"review", empty}, exitFailure, "", "empty file"},
		{"review of no file", []string{"review", filepath.Join(dir, "none")}, exitFailure, "", "no such file"},
		{"two interfaces as text", []string{"-o", "text", loop, loop}, exitUsage, "", "two interfaces are shown on the screen and recorded by -o json and --record only"},
		{"two interfaces as CSV", []string{"-o", "csv", loop, loop}, exitUsage, "", "two interfaces are shown"},
		{"two interfaces as a table", []string{"-o", "md", loop, loop}, exitUsage, "", "two interfaces are shown"},
		{"two interfaces as text, recorded", []string{"-o", "text", "-d", "100ms", "--record", filepath.Join(dir, "two.nwr"), loop, loop}, exitOK, "", ""},
		{"a recording that is there", []string{"demo", "-o", "text", "-d", "1s", "--record", there}, exitFailure, "", there + " is there and not empty"},
		{"review without a file", []string{"review"}, exitUsage, "", "netwatch: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "a screen on no terminal" && isTerminal(os.Stdout) {
				t.Skip("it would open: this test writes to a terminal")
			}
			status, stdout, stderr := cli(c.args...)
			if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("status %d, want %d\nstdout %q, want %q\nstderr %q, want %q", status, c.status, stdout, c.stdout, stderr, c.stderr)
			}
			if strings.ContainsAny(stdout+stderr, "\x1b\x07") {
				t.Error("escapes on a pipe")
			}
		})
	}
}

func TestNearest(t *testing.T) {
	names := []string{"lo0", "em0", "em4", "igb1"}
	for name, want := range map[string]string{"em5": "em0", "em44": "em4", "ibg1": "igb1", "wlan0": ""} {
		if got := nearest(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What goes through a pipe is labelled, and the JSON is the codec.
func TestDemoWithoutAScreen(t *testing.T) {
	status, stdout, _ := cli("demo", "-o", "json", "-i", "200ms", "-d", "2s")
	r, err := recording.NewReader(strings.NewReader(stdout), "stdout")
	if status != exitOK || err != nil {
		t.Fatalf("status %d, %v", status, err)
	}
	if r.Header.Simulated != "SIMULATED" || r.Header.Interface != "em4" {
		t.Errorf("header %+v", r.Header)
	}
	for line := range strings.Lines(stdout) {
		var l struct {
			Host   string                  `json:"host"`
			Events []struct{ Host string } `json:"e"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Host == "" || slices.Contains(l.Events, struct{ Host string }{}) {
			t.Errorf("a line without its host (%v): %s", err, line)
		}
	}
	batches, pings := 0, 0
	if err := r.Copy(func(b sources.Batch) error {
		batches++
		for _, s := range b.Samples {
			if s.Series.Metric == sources.PingRTT {
				pings++
			}
		}
		return nil
	}); err != nil || r.NBad > 0 {
		t.Fatalf("%v, %v", err, r.Bad)
	}
	if batches < 4 || batches > 11 || pings < 3 { // a slow machine says less
		t.Errorf("%d batches and %d pings in 2 s", batches, pings)
	}

	status, stdout, _ = cli("demo", "-o", "csv", "-i", "200ms", "-d", "1200ms")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if status != exitOK || err != nil || len(rows) < 3 || !strings.Contains(strings.Join(rows[0], " "), "SIMULATED") {
		t.Errorf("csv: status %d, %v:\n%s", status, err, stdout)
	}
	status, stdout, _ = cli("demo", "-o", "text", "-d", "2s")
	if status != exitOK || !strings.Contains(stdout, "SIMULATED") || !strings.Contains(stdout, "aim=1") {
		t.Errorf("text: status %d:\n%s", status, stdout)
	}
	status, stdout, _ = cli("demo", "-o", "md", "-d", "500ms")
	if status != exitOK || !strings.HasPrefix(stdout, "### netwatch em4 SIMULATED") {
		t.Errorf("md: status %d:\n%s", status, stdout)
	}
}

// A recording replays to the same table that was printed when it was made.
func TestRecordingReplaysToTheSameTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.nwr")
	status, first, stderr := cli("demo", "-o", "md", "-d", "6s", "--settle", "500ms", "--record", file)
	if status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	status, again, stderr := cli("replay", file, "-o", "md", "--speed", "0", "--settle", "500ms")
	if status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	table := func(s string) string { return s[strings.Index(s, "|"):] }
	if !strings.Contains(first, "| aim=1 | idle |") || table(first) != table(again) {
		t.Errorf("recorded:\n%s\nreplayed:\n%s", first, again)
	}
	status, of, stderr := cli("replay", older(t, file), "-o", "md", "--speed", "0", "--settle", "500ms")
	if status != exitOK || table(first) != table(of) {
		t.Errorf("of an older one: status %d: %s\n%s", status, stderr, of)
	}
	status, _, stderr = cli("review", file)
	if status != exitOK {
		t.Errorf("review: status %d: %s", status, stderr)
	}
}

// older is a recording as it was before lines named their own host.
func older(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	head, rest, _ := strings.Cut(string(text), "\n")
	var h recording.Header
	must(t, json.Unmarshal([]byte(head), &h))
	head = strings.Replace(head, `,"here":"`+h.Here+`"`, "", 1)
	rest = strings.ReplaceAll(rest, `"host":"`+h.Here+`",`, "")
	old := filepath.Join(t.TempDir(), "old.nwr")
	must(t, os.WriteFile(old, []byte(head+"\n"+rest), 0o644))
	return old
}

func TestCalled(t *testing.T) {
	for _, c := range []struct{ host, peer, want string }{
		{"s1.lab.example", "r1", "s1"}, {"s1", "s1", "here"}, {"s1.lab", "s1", "here"}, {"", "r1", "here"},
	} {
		h := recording.Header{Host: c.host, Options: map[string]string{"peer " + c.peer: "em4"}}
		if got := called(h); got != c.want {
			t.Errorf("%q with the peer %q is called %q, want %q", c.host, c.peer, got, c.want)
		}
	}
}
