package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sshd runs a real sshd on host b with keys made for this test, and returns the
// command that logs in there, for --ssh. extra are lines of its configuration.
func (h *hosts) sshd(extra ...string) (ssh string) {
	h.t.Helper()
	for _, tool := range []string{"sshd", "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			cannot(h.t, "there is no "+tool)
		}
	}
	dir := h.t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user"} {
		h.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key))
	}
	public, err := os.ReadFile(path("user.pub"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.file(path("authorized"), string(public))
	h.file(path("sshd_config"), strings.Join(append([]string{
		"ListenAddress " + ipB, "HostKey " + path("host"), "AuthorizedKeysFile " + path("authorized"), "PidFile none",
		"StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes",
	}, extra...), "\n")+"\n")
	h.file(path("ssh_config"), strings.Join([]string{
		"Host *", "IdentityFile " + path("user"), "IdentitiesOnly yes", "UserKnownHostsFile " + path("known"),
		"StrictHostKeyChecking accept-new", "LogLevel ERROR", "ServerAliveInterval 1", "ServerAliveCountMax 2", "User root",
	}, "\n")+"\n")
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		cannot(h.t, err.Error())
	}
	binary, _ := exec.LookPath("sshd") // sshd wants its own absolute path
	argv := in(h.b, binary, "-D", "-e", "-f", path("sshd_config"))
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	ssh = "ssh -F " + path("ssh_config")
	for range 100 {
		argv := in(h.a, append(strings.Fields(ssh), "-o", "BatchMode=yes", ipB, "true")...)
		if exec.Command(argv[0], argv[1:]...).Run() == nil {
			return ssh
		}
		time.Sleep(50 * time.Millisecond)
	}
	h.t.Fatal("sshd does not let us in")
	return ""
}

// logins are the ssh processes on host a, and none of another test that runs meanwhile.
func (h *hosts) logins() (pids []int) {
	h.t.Helper()
	for pid := range strings.FieldsSeq(h.must("ip", "netns", "pids", h.a)) {
		words, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		if n, err := strconv.Atoi(pid); err == nil && strings.HasPrefix(string(words), "ssh\x00") {
			pids = append(pids, n)
		}
	}
	return pids
}

// killLogins kills them: the link is lost, and both ends are told.
func (h *hosts) killLogins() {
	h.t.Helper()
	for _, pid := range h.logins() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			h.t.Error(err)
		}
	}
}

func (h *hosts) file(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// tsoOf is what ethtool says of an interface in a namespace.
func (h *hosts) tsoOf(ns, iface string) string {
	h.t.Helper()
	return h.featureOf(ns, iface, "tcp-segmentation-offload")
}

func (h *hosts) featureOf(ns, iface, feature string) string {
	h.t.Helper()
	for line := range strings.Lines(h.must(in(ns, "ethtool", "-k", iface)...)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), feature+": "); ok {
			return v
		}
	}
	h.t.Fatal(fmt.Sprintf("ethtool says nothing of %s on %s", feature, iface))
	return ""
}
