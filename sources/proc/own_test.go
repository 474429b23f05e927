package proc

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// own is a child that is this test program.
func own(does string) Spec {
	return Spec{Argv: []string{os.Args[0]}, Env: []string{asChild + "=" + does}, Grace: 50 * time.Millisecond}
}

// TestOwnOutputs: both outputs apart, on pipes and with a terminal, and the status.
func TestOwnOutputs(t *testing.T) {
	for _, tt := range []struct {
		name, out string
		pty       bool
	}{
		{"pipes", "terminal false\n", false},
		{"terminal", "terminal true\r\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := pty.Open(); tt.pty && err != nil {
				t.Skip("no terminals here: ", err)
			}
			spec := own("says")
			spec.PTY = tt.pty
			out, errOut, st := talk(t, spec)
			if out != tt.out || errOut != "C\n" || st != (Status{Code: 3}) {
				t.Errorf("got %q, %q, %v", out, errOut, st)
			}
		})
	}
}

func TestOwnDetached(t *testing.T) {
	spec := own("echoes")
	spec.Input, spec.Detached = true, true
	checkDetached(t, spec)
}

// checkDetached: no signal of ours reaches a child that says its number, then what it
// is told, and bye at the end; it has no terminal, and the end of its input ends it.
func checkDetached(t *testing.T, spec Spec) {
	t.Helper()
	c, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	first := <-c.Output()
	if pid := strings.TrimSpace(string(first.Data)); pid != strconv.Itoa(c.PID()) {
		t.Errorf("pid %s, want %d", pid, c.PID())
	}
	if group, err := syscall.Getpgid(c.PID()); err != nil || group != c.PID() {
		t.Errorf("group %d, %v", group, err)
	}
	c.Interrupt()
	io.WriteString(c.Input(), "still here\n")
	if o := <-c.Output(); string(o.Data) != "still here\n" {
		t.Errorf("after an interrupt it said %q", o.Data)
	}
	c.Stop()
	said := ""
	for o := range c.Output() {
		said += string(o.Data)
	}
	if st := c.Wait(); said != "bye\n" || !st.OK() {
		t.Errorf("it said %q and ended with %v", said, st)
	}
}

// TestOwnStopEscalates: a child and a grandchild that ignore INT and TERM are killed.
func TestOwnStopEscalates(t *testing.T) {
	c, err := Start(own("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	if o := <-c.Output(); string(o.Data) != "up\n" {
		t.Errorf("it said %q", o.Data)
	}
	c.Stop()
	for range c.Output() { // ends only when the grandchild has let go
	}
	if st := c.Wait(); st.Code != 128+int(syscall.SIGKILL) || st.Signal != "killed" {
		t.Errorf("ended with %v", st)
	}
}

// TestOwnKill: a Detached child that goes on is ended at once; one that is gone is left.
func TestOwnKill(t *testing.T) {
	spec := own("echoes")
	spec.Input, spec.Detached = true, true
	c, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	<-c.Output()
	c.Kill()
	for range c.Output() {
	}
	if st := c.Wait(); st.Signal != "killed" {
		t.Error(st)
	}
	c.Kill()
}

func TestOwnRelease(t *testing.T) {
	spec := own("talks")
	spec.Input, spec.Detached = true, true
	checkReleased(t, spec)
}

// checkReleased: a child that talks for ever and does not look at its input is let go,
// and ends by a broken pipe.
func checkReleased(t *testing.T, spec Spec) {
	t.Helper()
	c, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	<-c.Output()
	c.Release()
	for range c.Output() {
	}
	if st := c.Wait(); st.Code != 128+int(syscall.SIGPIPE) {
		t.Error(st)
	}
}
