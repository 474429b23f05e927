//go:build !linux && !freebsd

package knobs

import (
	"errors"
	"fmt"
	"runtime"

	"netwatch/sources"
)

// For is not supported on this system.
func For(iface string) ([]sources.Knob, error) {
	return nil, fmt.Errorf("%s: knobs on %s: %w", iface, runtime.GOOS, errors.ErrUnsupported)
}

func openVariables() variables { return noVariables{} }

type noVariables struct{}

func (noVariables) get(name string) (string, error) {
	return "", fmt.Errorf("%s: sysctl on %s: %w", name, runtime.GOOS, errors.ErrUnsupported)
}

func (v noVariables) set(name, _ string) error {
	_, err := v.get(name)
	return err
}

func mayTurn() string { return "not on " + runtime.GOOS }
