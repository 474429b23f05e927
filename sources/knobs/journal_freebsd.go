package knobs

import (
	"encoding/hex"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

const stateDir = "/var/db/netwatch"

// bootID is kern.boot_id, new with each boot. Kernels without it, or with too little
// randomness yet to make one (ENXIO), have the time of the boot, which a step of the
// clock changes: then a journal of this boot is taken for one of another, and only
// offered. So is one that was written before the randomness was there.
func bootID() (string, error) {
	b, err := sysctl.Read("kern.boot_id")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENXIO) {
		b, err = sysctl.Read("kern.boottime")
		b = b[:min(8, len(b))] // the seconds: the rest is adjusted all the time
	}
	return hex.EncodeToString(b), err
}

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
