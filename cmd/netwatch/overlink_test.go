package main

import (
	"net"
	"slices"
	"strings"
	"testing"

	"netwatch/sources/nic"
)

// A vlan on a lagg of em0 and em1: who drops em0 drops what comes in over the vlan.
func TestLiesOn(t *testing.T) {
	facts := []nic.Facts{{Name: "em0"}, {Name: "em1"}, {Name: "em2"}, {Name: "lagg0", Over: []string{"em0", "em1"}},
		{Name: "vlan7", Over: []string{"lagg0"}}, {Name: "odd", Over: []string{"odd2"}}, {Name: "odd2", Over: []string{"odd"}}}
	for _, c := range []struct {
		upper, lower string
		want         bool
	}{
		{"em0", "em0", true}, {"em0", "em1", false}, {"lagg0", "em1", true}, {"vlan7", "em0", true}, {"vlan7", "lagg0", true},
		{"vlan7", "em2", false}, {"lagg0", "vlan7", false}, {"gone", "em0", false}, {"odd", "em0", false},
	} {
		if got := liesOn(facts, c.upper, c.lower, len(facts)); got != c.want {
			t.Errorf("%s on %s: %v", c.upper, c.lower, got)
		}
	}
}

// The terminal's own ssh, by SSH_CONNECTION.
func TestOverLink(t *testing.T) {
	lo := "lo"
	if _, err := net.InterfaceByName(lo); err != nil {
		lo = "lo0"
	}
	i, err := net.InterfaceByName(lo)
	if err != nil {
		t.Skip("the terminal is on the loopback interface here: ", err)
	}
	if addrs, err := i.Addrs(); err != nil || !slices.ContainsFunc(addrs, func(a net.Addr) bool { return strings.HasPrefix(a.String(), "127.0.0.1/") }) {
		t.Skip(lo, " has no 127.0.0.1, as in a jail: ", addrs, err)
	}
	for ssh, want := range map[string]bool{
		"127.0.0.1 50022 127.0.0.1 22": true, "::ffff:127.0.0.1 50022 ::ffff:127.0.0.1 22": true, "192.0.2.7 50022 192.0.2.8 22": false,
		"": false, "127.0.0.1 50022": false, "127.0.0.1 50022 here 22": false,
	} {
		if got := overLink(lo, ssh); got != want {
			t.Errorf("%q: %v", ssh, got)
		}
	}
	if overLink("none9", "127.0.0.1 50022 127.0.0.1 22") {
		t.Error("an interface that is not there")
	}
}
