package knobs

import (
	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

const stateDir = "/var/db/netwatch"

func bootID() (string, error) { return bootName(sysctl.Read) }

func netID() string { return vnetName(sysctl.Read) }

// startOf is when a process began, in seconds since the boot; 0 where that is not
// told. The kernel adds the time of the boot, which a step of the clock changes.
func startOf(pid int) int64 {
	const ctlKern, kernProc, kernProcPID = 1, 14, 1
	b, err := sysctl.MIB{ctlKern, kernProc, kernProcPID, int32(pid)}.Read(nil)
	if err != nil {
		return 0
	}
	began, err := bsd.ParseProcStart(b, pid)
	if err != nil {
		return 0
	}
	b, err = sysctl.Read("kern.boottime")
	if err != nil {
		return 0
	}
	booted, err := bsd.Timeval(b)
	if err != nil {
		return 0
	}
	return began - booted
}

// renameCommand is what a person types to give an interface another name.
const renameCommand = "sudo ifconfig %s name %s"
