//go:build !linux && !freebsd

package cpu

import (
	"errors"
	"fmt"
	"runtime"
)

func openKernel() (kernel, error) {
	return nil, fmt.Errorf("core times on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
