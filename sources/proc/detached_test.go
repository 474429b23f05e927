package proc

import (
	"io"
	"os"
	"os/exec"
	"strings"
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

// TestDetached: the child has a child, and what is said of the one is true of both.
func TestDetached(t *testing.T) {
	needShell(t)
	checkDetached(t, Spec{Argv: []string{"/bin/sh", "-c", "echo $$; cat; echo bye"}, Input: true, Detached: true, Grace: time.Millisecond})
}

func TestRelease(t *testing.T) {
	needShell(t)
	checkReleased(t, Spec{Argv: []string{"yes"}, Input: true, Detached: true})
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
