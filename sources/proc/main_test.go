package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asChild is what a child that is this test program itself shall do.
const asChild = "NETWATCH_TEST_CHILD"

// TestMain is also the children of the tests that need no other program.
func TestMain(m *testing.M) {
	switch os.Getenv(asChild) {
	case "":
		os.Exit(m.Run())
	case "says":
		_, err := unix.IoctlGetWinsize(1, unix.TIOCGWINSZ)
		fmt.Println("terminal", err == nil)
		fmt.Fprintln(os.Stderr, os.Getenv("LC_ALL"))
		os.Exit(3)
	case "echoes":
		fmt.Println(os.Getpid())
		io.Copy(os.Stdout, os.Stdin)
		fmt.Println("bye")
	case "talks":
		for {
			fmt.Println("y")
		}
	case "deaf":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), asChild+"=deaf grandchild")
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			fmt.Println(err)
		}
		c.Wait()
	case "starts on a pipe", "starts on a terminal":
		c, err := Start(Spec{Argv: []string{os.Args[0]}, Env: []string{asChild + "=sleeps"}, PTY: os.Getenv(asChild) == "starts on a terminal"})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.PID())
		c.Wait()
	case "sleeps":
		time.Sleep(time.Minute)
	case "deaf grandchild":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		fmt.Println("up")
		time.Sleep(time.Minute)
	}
}

// needShell skips a test whose child is a script. A bare FreeBSD test kernel has no
// shell; own_test.go is what it runs.
func needShell(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("the child is a script: ", err)
	}
}
