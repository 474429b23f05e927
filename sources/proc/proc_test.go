package proc

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk runs argv to its end and returns both outputs.
func talk(t *testing.T, spec Spec) (out, errOut string, st Status) {
	t.Helper()
	c, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	for o := range c.Output() {
		if o.At.IsZero() {
			t.Error("a piece without its time")
		}
		if o.Stderr {
			errOut += string(o.Data)
		} else {
			out += string(o.Data)
		}
	}
	return out, errOut, c.Wait()
}

func TestOutputsAndStatus(t *testing.T) {
	needShell(t)
	tests := []struct {
		name, script, out, err string
		pty                    bool
		want                   Status
	}{
		{"both outputs apart", "echo a; echo b >&2", "a\n", "b\n", false, Status{}},
		{"exit status", "exit 3", "", "", false, Status{Code: 3}},
		{"killed by a signal", "kill -TERM $$", "", "", false, Status{Code: 143, Signal: "terminated"}},
		{"terminal", "test -t 1 && echo yes; test -t 2 || echo no >&2", "yes\r\n", "no\n", true, Status{}},
		{"language and empty input", "cat; echo $LC_ALL", "C\n", "", false, Status{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, errOut, st := talk(t, Spec{Argv: []string{"/bin/sh", "-c", tt.script}, PTY: tt.pty})
			if out != tt.out || errOut != tt.err || st != tt.want {
				t.Errorf("got %q, %q, %v", out, errOut, st)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	_, err := Start(Spec{Argv: []string{"no-such-program-here"}})
	if !errors.Is(err, exec.ErrNotFound) || strings.Count(err.Error(), "no-such-program-here") != 1 {
		t.Errorf("got %v", err)
	}
	if _, err := Start(Spec{}); err == nil {
		t.Error("an empty command started")
	}
}

// TestStopEscalates: a group that ignores INT and TERM is killed, child and
// grandchild.
func TestStopEscalates(t *testing.T) {
	needShell(t)
	c, err := Start(Spec{
		Argv:  []string{"/bin/sh", "-c", "trap '' INT TERM; (trap '' INT TERM; echo up; while :; do sleep 1; done) & while :; do sleep 1; done"},
		Grace: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-c.Output() // both traps are set when the grandchild says up
	c.Stop()
	c.Stop()
	for range c.Output() {
	}
	if st := c.Wait(); st.Code != 128+int(syscall.SIGKILL) {
		t.Errorf("ended with %v", st)
	}
	checkGone(t, c.cmd.Process.Pid)
}

// TestGrandchildIsEnded: a child that ends and leaves another process with its
// output open does not keep netwatch waiting, and leaves nothing behind.
func TestGrandchildIsEnded(t *testing.T) {
	needShell(t)
	c, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "sleep 600 & echo gone"}, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var out string
	for o := range c.Output() {
		out += string(o.Data)
	}
	if st := c.Wait(); out != "gone\n" || !st.OK() {
		t.Errorf("got %q, %v", out, st)
	}
	checkGone(t, c.cmd.Process.Pid)
}

// checkGone waits for the group to be empty: a killed orphan stays a moment until
// init has taken its status.
func checkGone(t *testing.T, group int) {
	t.Helper()
	for range 200 {
		if err := syscall.Kill(-group, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		if zombiesOnly(group) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process group %d is still there", group)
}

// zombiesOnly: in a container nobody may collect orphans.
func zombiesOnly(group int) bool {
	out, err := exec.Command("ps", "-A", "-o", "pgid=", "-o", "stat=").Output()
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == strconv.Itoa(group) && !strings.HasPrefix(f[1], "Z") {
			return false
		}
	}
	return true
}

func TestAsk(t *testing.T) {
	needShell(t)
	text, err := Ask(5*time.Second, "/bin/sh", "-c", "echo one; echo two >&2; exit 1")
	if err != nil || !strings.Contains(text, "one\n") || !strings.Contains(text, "two\n") {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := Ask(50*time.Millisecond, "sleep", "600"); err == nil {
		t.Error("a program that never ends gave an answer")
	}
}
