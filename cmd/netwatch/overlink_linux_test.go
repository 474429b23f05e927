package main

import (
	"os/exec"
	"testing"

	"netwatch/sources/netns"
)

// An ssh that came in over a bridge hangs on each of its members.
func TestOverLinkOfABridge(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
	if out, err := exec.Command("ip", "link", "add", "br0", "type", "bridge").CombinedOutput(); err != nil {
		t.Skipf("this kernel has no bridge: %s", out)
	}
	netns.Run(t, "ip", "link", "set", "veth0", "master", "br0")
	netns.Run(t, "ip", "addr", "add", "192.0.2.8/24", "dev", "br0")
	for iface, want := range map[string]bool{"br0": true, "veth0": true, "veth1": false} {
		if got := overLink(iface, "192.0.2.7 50022 192.0.2.8 22"); got != want {
			t.Errorf("%s: %v", iface, got)
		}
	}
}
