//go:build !linux && !freebsd

package irq

import (
	"errors"
	"fmt"
	"runtime"
)

func openKernel(string) (kernel, error) {
	return nil, fmt.Errorf("interrupt counters on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
