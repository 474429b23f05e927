package knobs

import (
	"os"
	"strings"
)

const stateDir = "/var/lib/netwatch"

// bootID is new with each boot: see random(4).
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// netID names the network namespace: interfaces of two may have the same name.
func netID() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return name
}
