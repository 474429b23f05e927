package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/knobs"
)

// A fixedKnob has one value, or an error.
type fixedKnob struct {
	spec  sources.KnobSpec
	value string
	err   error
}

func (k fixedKnob) Spec() sources.KnobSpec              { return k.spec }
func (k fixedKnob) Get(context.Context) (string, error) { return k.value, k.err }
func (k fixedKnob) Set(context.Context, string) error   { return errors.ErrUnsupported }

func em4() []sources.Knob {
	return []sources.Knob{
		fixedKnob{sources.KnobSpec{Name: "aim", Subject: "em4", Values: []string{"0", "1", "2"}, Meanings: []string{"fixed", "normal"},
			Locked: knobs.NeedsRoot, Command: "sudo sysctl dev.em.4.enable_aim=%s"}, "1", nil},
		fixedKnob{sources.KnobSpec{Name: "tso", Subject: "em4", Values: []string{"off", "on"}, Disruption: sources.LinkReset,
			Command: "sudo ifconfig em4 tso"}, "on", nil},
		fixedKnob{sources.KnobSpec{Name: "lro", Subject: "em4", Locked: "em4 cannot do LRO"}, "", errors.ErrUnsupported},
		fixedKnob{sources.KnobSpec{Name: "siftr"}, "", fmt.Errorf("sysctl: %w", os.ErrNotExist)},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestParseKnob(t *testing.T) {
	for _, c := range []struct {
		text, name string
		values     []string
		bad        bool
	}{
		{"sysctl:net.inet.tcp.cc.algorithm=cubic,newreno", "net.inet.tcp.cc.algorithm", []string{"cubic", "newreno"}, false},
		{"sysctl:net.inet.tcp.tso", "net.inet.tcp.tso", nil, false},
		{"sysctl:x=", "x", nil, false},
		{"sysctl:", "", nil, true},
		{"sysctl:=1", "", nil, true},
		{"sysctl:../../etc/passwd=1", "", nil, true},
		{"sysctl:a b=1", "", nil, true},
		{"aim=1", "", nil, true},
	} {
		name, values, err := parseKnob(c.text)
		if name != c.name || !slices.Equal(values, c.values) || (err != nil) != c.bad {
			t.Errorf("%s: %q, %q, %v", c.text, name, values, err)
		}
	}
}

func TestParseTurns(t *testing.T) {
	for _, c := range []struct {
		word, want string
		code       int
	}{
		{"aim=2", "", 0}, // this process need not have the rights
		{"tso=off", "", 0},
		{"amm=2", `no knob "amm"; did you mean aim? there are: aim tso lro siftr`, exitUsage},
		{"zzzzzz=2", `no knob "zzzzzz"; there are: aim tso lro siftr`, exitUsage},
		{"aim", `"aim": KNOB=VALUE`, exitUsage},
		{"=2", `"=2": KNOB=VALUE`, exitUsage},
		{"lro=on", "lro is locked: em4 cannot do LRO", exitFailure},
	} {
		turns, err := parseTurns(em4(), []string{c.word})
		if c.code == 0 {
			if err != nil || len(turns) != 1 || turns[0].knob+"="+turns[0].value != c.word {
				t.Errorf("%s: %v, %v", c.word, turns, err)
			}
			continue
		}
		code := exitFailure
		var e *exitError
		if errors.As(err, &e) {
			code = e.code
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || code != c.code {
			t.Errorf("%s: %v, code %d", c.word, err, code)
		}
	}
}

// A value that is typed on the screen is refused in the words of netwatch set; what a peer
// alone takes, its agent says.
func TestATypedValueIsCheckedAsBySet(t *testing.T) {
	p := &plan{knobs: []sources.Knob{knobs.Sysctl("a.b", "0", "1"), knobs.Sysctl("c")}}
	_, set := parseTurns(p.knobs, []string{"sysctl:a.b=2"})
	for _, host := range []string{"", sources.Everywhere} {
		if err := p.check(host, "sysctl:a.b", "2"); err == nil || err.Error() != set.Error() {
			t.Errorf("%q, netwatch set says %q", err, set)
		}
		if err := errors.Join(p.check(host, "sysctl:a.b", "1"), p.check(host, "sysctl:c", "1 2 3")); err != nil {
			t.Error(err)
		}
	}
	if err := p.check("r1", "siftr.ppl", "2"); err != nil {
		t.Error(err)
	}
}

func TestKnobsTable(t *testing.T) {
	entry := func(s sources.KnobSpec) (knobs.Entry, bool) {
		return knobs.Entry{Start: "2", Kept: "1"}, s.Name == "aim"
	}
	var b strings.Builder
	must(t, writeKnobs(&b, knobRows(t.Context(), em4(), entry)))
	want := []string{
		"KNOB VALUE START VALUES TURNING",
		"aim 1 2 0 (fixed), 1 (normal), 2 needs root; kept at 1; sudo sysctl dev.em.4.enable_aim=VALUE",
		"tso on - off, on drops the link for seconds; sudo ifconfig em4 tso",
		"lro - - - em4 cannot do LRO",
		"siftr - - - not there: its module is not loaded, or this kernel has no such variable",
	}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if got := strings.Join(strings.Fields(line), " "); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

func TestSetSink(t *testing.T) {
	var out, errs strings.Builder
	s := &setSink{out: &out, err: &errs}
	for _, e := range []sources.Event{
		{Kind: sources.KnobTurned, Subject: "aim", Old: "1", Asked: "2", New: "2", Span: 1234567 * time.Nanosecond},
		{Kind: sources.KnobTurned, Subject: "tso", Old: "off", Asked: "on", New: "tso4", Span: time.Second},
		{Kind: sources.KnobTurned, Subject: "tso", Old: "off", Asked: "on", New: "tso4", Span: time.Second, Text: "this chip has no TSO6"},
		{Kind: sources.KnobFailed, Subject: "lro", Asked: "on", New: "off", Text: "em4: invalid argument"},
		{Kind: sources.SourceNote, Text: "journal: damaged"},
	} {
		s.Event(e)
	}
	const want = "aim: 1 -> 2 (asked 2, granted 2, verified in 1.23ms)\n" +
		"tso: off -> tso4 (asked on, granted tso4, verified in 1s): not what was asked\n" +
		"tso: off -> tso4 (asked on, granted tso4, verified in 1s): not what was asked: this chip has no TSO6\n" +
		"lro: asked on, refused: em4: invalid argument; it is off\n"
	if out.String() != want || errs.String() != "netwatch: journal: damaged\n" {
		t.Errorf("got\n%s%s", out.String(), errs.String())
	}
	var e *exitError
	if err := s.refused(); !errors.As(err, &e) || e.code != exitFailure {
		t.Errorf("a refused turn: %v", err)
	}
}

func TestDoctorOfKnobs(t *testing.T) {
	want := []finding{
		{"knob aim", needsRoot, "1", "sudo sysctl dev.em.4.enable_aim=VALUE"},
		{"knob tso", isOK, "on", ""},
		{"knob lro", notHere, "em4 cannot do LRO", ""},
		{"knob siftr", notLoaded, "", "sudo kldload siftr"},
	}
	for i, k := range em4() {
		if got := lookAtKnob(t.Context(), k, false); got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	flowid := fixedKnob{sources.KnobSpec{Name: "siftr2.flowid"}, "", fmt.Errorf("sysctl: %w", os.ErrNotExist)}
	older := finding{"knob siftr2.flowid", notHere, "not there: its module is not loaded, or this kernel has no such variable", ""}
	if got := lookAtKnob(t.Context(), flowid, false); got != older {
		t.Errorf("got %+v, want %+v", got, older)
	}
	if got := lookAtKnob(t.Context(), em4()[0], true); got.state != isOK {
		t.Errorf("with a way to root: %+v", got)
	}
}

// How root's rights are found: a program that runs the agent, or its words.
func TestFindRoot(t *testing.T) {
	for _, c := range []struct {
		name string
		bin  map[string]string
		want string
		err  string
	}{
		{"neither", nil, "", "cannot become root by sudo -n or doas -n"},
		{"sudo", map[string]string{"sudo": `shift; exec "$@"`}, "sudo -n", ""},
		{"doas", map[string]string{"doas": `shift; exec "$@"`}, "doas -n", ""},
		{"no ticket, and doas", map[string]string{"sudo": "echo sudo: a password is required >&2; exit 1", "doas": `shift; exec "$@"`}, "doas -n", ""},
		{"no ticket", map[string]string{"sudo": "echo sudo: a password is required >&2; exit 1"}, "", "sudo -n or doas -n: sudo: a password is required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat("/bin/sh"); err != nil {
				t.Skip("sudo and doas are scripts here: ", err)
			}
			dir := t.TempDir()
			for name, script := range c.bin {
				must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			exe := filepath.Join(dir, "netwatch")
			must(t, os.WriteFile(exe, []byte("#!/bin/sh\n[ \"$*\" = 'agent --check' ] && echo '"+checkWords+"'\n"), 0o755))
			t.Setenv("PATH", dir)
			words, err := findRoot(exe)
			if strings.Join(words, " ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v", words, err)
			}
		})
	}
}

// The hidden subcommand says what it is, and does nothing by itself.
func TestAgentCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"agent", "--check"}, exitOK, checkWords + "\n"},
		{[]string{"agent"}, exitUsage, ""},
		{[]string{"agent", "no-such-interface0"}, exitFailure, ""},
		{[]string{"set"}, exitUsage, ""},
		{[]string{"set", "lo"}, exitUsage, ""},
		{[]string{"restore", "now"}, exitUsage, ""},
		{[]string{"set", "no-such-interface0", "aim=1"}, exitFailure, ""},
		{[]string{"knobs", "no-such-interface0"}, exitFailure, ""},
		{[]string{"doctor", "no-such-interface0"}, exitFailure, ""},
	} {
		var out, errs strings.Builder
		if code := run(c.args, strings.NewReader(""), &out, &errs); code != c.code || out.String() != c.out || code != exitOK && errs.Len() == 0 {
			t.Errorf("%v: exit status %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
	if o := (&options{knob: []string{"sysctl:a=1"}}); !slices.Equal(o.agentCommand([]string{"sudo", "-n"}, "/x/netwatch", "em4"),
		[]string{"sudo", "-n", "/x/netwatch", "agent", "--knob", "sysctl:a=1", "--", "em4"}) {
		t.Error(o.agentCommand([]string{"sudo", "-n"}, "/x/netwatch", "em4"))
	}
}
