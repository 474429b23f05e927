package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	near = "nwshot-s1"
	far  = "nwshot-r1"
)

// run runs command lines until one fails.
func run(lines ...string) error {
	for _, line := range lines {
		f := strings.Fields(line)
		if out, err := exec.Command(f[0], f[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %v: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// liveHosts makes two namespaces with a veth pair of 200 Mbit/s between them and
// an iperf3 server on the far one, and returns the command that watches it. end
// takes everything away.
func liveHosts(bin string) (argv []string, end func(), err error) {
	end = func() {
		for _, ns := range []string{near, far} {
			pids, _ := exec.Command("ip", "netns", "pids", ns).Output()
			for _, pid := range strings.Fields(string(pids)) {
				exec.Command("kill", "-9", pid).Run()
			}
			exec.Command("ip", "netns", "del", ns).Run()
		}
	}
	end()
	err = run("ip netns add "+near, "ip netns add "+far,
		"ip link add veth0 netns "+near+" type veth peer name veth1 netns "+far,
		"ip -n "+near+" addr add 10.77.0.1/24 dev veth0", "ip -n "+far+" addr add 10.77.0.2/24 dev veth1",
		"ip -n "+near+" link set lo up", "ip -n "+far+" link set lo up",
		"ip -n "+near+" link set veth0 up", "ip -n "+far+" link set veth1 up",
		"ip netns exec "+near+" tc qdisc add dev veth0 root tbf rate 200mbit burst 64kb latency 20ms",
		"ip netns exec "+far+" iperf3 -s -D -1")
	if err != nil {
		end()
		return nil, nil, err
	}
	argv = strings.Fields("ip netns exec " + near + " " + bin + " veth0 --ping 10.77.0.2")
	return argv, end, nil
}

// load is what the live pictures run.
func load() []string { return strings.Fields("-- iperf3 -c 10.77.0.2 -t 25 -C cubic") }

// peer starts an sshd on the far host with keys of its own, and returns the flags
// that reach it. It ends with the hosts.
func peer(dir, bin string) ([]string, error) {
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ssh-keygen: %v: %s", err, out)
		}
	}
	public, err := os.ReadFile(path("user.pub"))
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"authorized": string(public),
		"sshd": "ListenAddress 10.77.0.2\nHostKey " + path("host") + "\nAuthorizedKeysFile " + path("authorized") +
			"\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n",
		"ssh": "Host r1\nHostName 10.77.0.2\nUser root\nIdentityFile " + path("user") + "\nIdentitiesOnly yes\nUserKnownHostsFile " + path("known") +
			"\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		return nil, err
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		return nil, err
	}
	if err := exec.Command("ip", "netns", "exec", far, sshd, "-D", "-f", path("sshd")).Start(); err != nil {
		return nil, err
	}
	return []string{"--peer", "r1:veth1", "--ssh", "ssh -F " + path("ssh"), "--peer-path", bin}, nil
}
