//go:build !linux && !freebsd

package nic

import (
	"errors"
	"fmt"
	"runtime"
)

func openKernel(string) (kernel, error) {
	return nil, fmt.Errorf("interface counters on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Describe is not supported on this system.
func Describe(iface string) (Facts, error) {
	return Facts{}, fmt.Errorf("%s: facts on %s: %w", iface, runtime.GOOS, errors.ErrUnsupported)
}
