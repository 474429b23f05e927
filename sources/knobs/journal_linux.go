package knobs

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"netwatch/parsers/linux"
)

const stateDir = "/var/lib/netwatch"

// bootID is new with each boot: see random(4).
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// netID names the network namespace: interfaces of two may have the same name. The number
// in the name is an inode's, which the kernel gives to another namespace when this one is
// gone; its cookie it never gives again (Linux 5.14).
func netID() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return name
	}
	defer unix.Close(fd)
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s %d", name, cookie)
}

// startOf is when a process began, in seconds since the boot; 0 where that is not told.
func startOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	ticks, err := linux.ParseProcStart(b)
	if err != nil {
		return 0
	}
	return int64(ticks / linux.UserHz)
}

// renameCommand is what a person types to give an interface another name.
const renameCommand = "sudo ip link set %s name %s"
