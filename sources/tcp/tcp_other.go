//go:build !linux && !freebsd

package tcp

import (
	"errors"
	"fmt"
	"runtime"
)

func openKernel() (kernel, error) {
	return nil, fmt.Errorf("socket table on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
