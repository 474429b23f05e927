package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netwatch/sources/netns"
)

// The config of this host says which peers there are and how they are reached. That of a
// peer means nothing to what this host does there: its own peers would be asked next.
func TestPeersFromTheConfig(t *testing.T) {
	h := newHosts(t)
	ssh := h.sshd()
	bin := binary(t)
	broken := t.TempDir()
	must(t, os.Mkdir(filepath.Join(broken, "netwatch"), 0o755))
	h.file(filepath.Join(broken, "netwatch", "config.toml"), "peer = [\"no-such-host.invalid\"]\nbroken")
	there := h.script("XDG_CONFIG_HOME=" + broken + " NETWATCH_STATE=" + t.TempDir() + " NETWATCH_UNITS=broken exec " + bin + " \"$@\"")
	configured(t, "peer = [\""+ipB+":veth1\"]\nssh = \""+ssh+"\"\npeer-path = \""+there+"\"\nknob = [\"sysctl:net.ipv4.tcp_sack=0,1\"]\n")
	nw := func(args ...string) string { return h.must(in(h.a, append([]string{bin}, args...)...)...) }

	out := nw("knobs", "veth0")
	if !strings.Contains(out, "\nsysctl:net.ipv4.tcp_sack") || strings.Count(out, ipB+": tso") != 1 {
		t.Errorf("knobs:\n%s", out)
	}
	nw("set", "veth0", "tso=off", "sysctl:net.ipv4.tcp_sack=0")
	if !h.bothTSO("off")() {
		t.Errorf("set: here %s, there %s", h.tso(), h.farTSO())
	}
	out = nw("restore")
	if !h.bothTSO("on")() || !strings.Contains(out, ipB+": put back sysctl:net.ipv4.tcp_sack=1") {
		t.Errorf("restore: here %s, there %s:\n%s", h.tso(), h.farTSO(), out)
	}
	if out = nw("knobs", "veth0", "--json"); !strings.HasPrefix(out, "[") {
		t.Errorf("knobs --json, which is of one host:\n%s", out)
	}
	if out = nw("knobs", "veth0", "--config", ""); strings.Contains(out, ipB) || strings.Contains(out, "tcp_sack") {
		t.Errorf("knobs without the config:\n%s", out)
	}
}

// What a person's netwatch has root do here, it tells root in full: by the config, too,
// the peers would be restored twice.
func TestRootsPartOfRestore(t *testing.T) {
	if os.Geteuid() != 0 {
		cannot(t, "another user can be had by root only")
	}
	bin, dir := binary(t), t.TempDir()
	for _, path := range []string{dir, filepath.Dir(dir), filepath.Dir(bin)} {
		must(t, os.Chmod(path, 0o755))
	}
	sudo := `[ "$3" = agent ] && shift && exec "$@"; echo root: "$@"`
	must(t, os.WriteFile(filepath.Join(dir, "sudo"), []byte("#!/bin/sh\n"+sudo+"\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("NETWATCH_STATE", "")
	got := netns.Run(t, "setpriv", "--reuid=65534", "--clear-groups", bin, "restore", "--force")
	if want := "root: -n " + bin + " restore --force " + noConfig + "\n"; got != want {
		t.Errorf("root is told %q, want %q", got, want)
	}
}
