//go:build !linux && !freebsd

package knobs

import (
	"errors"
	"fmt"
	"runtime"
)

const stateDir = "/var/db/netwatch"

func bootID() (string, error) {
	return "", fmt.Errorf("on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func netID() string { return "" }

func startOf(int) int64 { return 0 }

// renameCommand is what a person types to give an interface another name.
const renameCommand = "rename %s to %s"
