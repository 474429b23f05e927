package tcp

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inNamespace runs the test again in a process of its own with an empty network
// namespace, and reports true there. It needs root and the ip command.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const inside = "NETWATCH_TEST_NAMESPACE"
	if os.Getenv(inside) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the ip command is missing")
	}
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

func command(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	return string(out)
}
