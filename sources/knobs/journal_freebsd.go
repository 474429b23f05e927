package knobs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"netwatch/sources/sysctl"
)

const stateDir = "/var/db/netwatch"

// bootID is kern.boot_id, new with each boot. Kernels without it have the time of
// the boot, which a step of the clock changes: then a journal of this boot is taken
// for one of another, and only offered.
func bootID() (string, error) {
	b, err := sysctl.Read("kern.boot_id")
	switch {
	case errors.Is(err, os.ErrNotExist):
		b, err = sysctl.Read("kern.boottime")
		b = b[:min(8, len(b))] // the seconds: the rest is adjusted all the time
	case errors.Is(err, unix.ENXIO):
		err = fmt.Errorf("this kernel has gathered too little randomness yet to name its boot: %w", err)
	}
	return hex.EncodeToString(b), err
}

func netID() string { return vnetName(sysctl.Read) }
