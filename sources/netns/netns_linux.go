package netns

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Need skips the test unless it runs as root and has the programs.
func Need(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p + " is not installed")
		}
	}
}

// Inside runs the test again in a process of its own with an empty network
// namespace, and reports true there.
func Inside(t *testing.T) bool {
	t.Helper()
	const inside = "NETWATCH_TEST_NAMESPACE"
	if os.Getenv(inside) != "" {
		return true
	}
	Need(t, "ip")
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	c.Env = append(os.Environ(), inside+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("in the namespace: %v\n%s", err, out)
	}
	return false
}

// Add makes an empty namespace that goes with the test, and returns its name for the
// ip command. mark tells it from others of this process.
func Add(t *testing.T, mark string) string {
	t.Helper()
	name := fmt.Sprintf("nw%d%s", os.Getpid(), mark)
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("network namespaces do not work here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	return name
}

// Run runs a program that must succeed and returns what it says.
func Run(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}
