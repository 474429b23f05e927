package proc

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestInput(t *testing.T) {
	needShell(t)
	c, err := Start(Spec{Argv: []string{"cat"}, Input: true})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c.Input(), "asked")
	if o := <-c.Output(); string(o.Data) != "asked" {
		t.Errorf("got %q", o.Data)
	}
	c.Input().Close()
	for range c.Output() {
	}
	if st := c.Wait(); !st.OK() {
		t.Error(st)
	}
	if _, err := io.WriteString(c.Input(), "x"); err == nil {
		t.Error("a child that is gone took input")
	}
	c, err = Start(Spec{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Input() != nil {
		t.Error("an input that nobody asked for")
	}
	for range c.Output() {
	}
}

// TestDetached: no signal of ours reaches the child, it has no terminal, and the end
// of its input ends it.
func TestDetached(t *testing.T) {
	needShell(t)
	c, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "echo $$; cat; echo bye"}, Input: true, Detached: true, Grace: time.Millisecond})
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
	var said string
	for o := range c.Output() {
		said += string(o.Data)
	}
	if st := c.Wait(); said != "bye\n" || !st.OK() {
		t.Errorf("it said %q and ended with %v", said, st)
	}
}

// TestRelease: a child that talks for ever and does not look at its input.
func TestRelease(t *testing.T) {
	needShell(t)
	c, err := Start(Spec{Argv: []string{"yes"}, Input: true, Detached: true})
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

// TestDetachedOutlivesUs: netwatch is killed with kill -9, and the child sees the end
// of its input.
func TestDetachedOutlivesUs(t *testing.T) {
	needShell(t)
	const inside = "NETWATCH_TEST_DETACHED"
	if path := os.Getenv(inside); path != "" {
		c, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "echo up > " + path + "; cat; echo end > " + path}, Input: true, Detached: true})
		if err != nil {
			t.Fatal(err)
		}
		for range c.Output() {
		}
		return
	}
	path := t.TempDir() + "/state"
	us := exec.Command(os.Args[0], "-test.run=^TestDetachedOutlivesUs$", "-test.timeout=60s")
	us.Env = append(os.Environ(), inside+"="+path)
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(word string) {
		t.Helper()
		for range 500 {
			if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) == word {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("the child did not say %q", word)
	}
	until("up")
	us.Process.Kill()
	us.Wait()
	until("end")
}
