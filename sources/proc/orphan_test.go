//go:build linux || freebsd

package proc

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A child does not outlive netwatch that is killed with kill -9, on pipes as on a terminal.
func TestNoChildOutlivesUs(t *testing.T) {
	for _, how := range []string{"pipe", "terminal"} {
		t.Run(how, func(t *testing.T) {
			us := exec.Command(os.Args[0])
			us.Env = append(os.Environ(), asChild+"=starts on a "+how)
			out, err := us.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := us.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatalf("it said %q", line)
			}
			us.Process.Kill()
			us.Wait()
			for range 200 {
				if gone(pid) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			syscall.Kill(pid, syscall.SIGKILL)
			t.Error("the child lives on")
		})
	}
}

// gone is true of a process that is no more, or that nobody has asked for yet.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// A thread of Go's that ends does not take a child along.
func TestAThreadThatEnds(t *testing.T) {
	t.Setenv(asChild, "echoes")
	const threads = 4 // one may be the first of the process, which does not end
	started := make(chan *Child)
	var all sync.WaitGroup
	for range threads {
		all.Add(1)
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			c, err := Start(Spec{Argv: []string{os.Args[0]}, Input: true})
			if err != nil {
				t.Error(err)
			}
			all.Done()
			all.Wait() // each has a thread of its own
			started <- c
		}()
	}
	for range threads {
		c := <-started
		if c == nil {
			continue
		}
		said := string((<-c.Output()).Data) // its number
		time.Sleep(100 * time.Millisecond)
		c.Input().Close()
		for o := range c.Output() {
			said += string(o.Data)
		}
		if st := c.Wait(); !st.OK() || !strings.HasSuffix(said, "bye\n") {
			t.Errorf("%v, it said %q", st, said)
		}
	}
}
