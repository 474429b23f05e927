//go:build !freebsd

package sysctl

import (
	"errors"
	"fmt"
	"runtime"
)

func unsupported() error { return fmt.Errorf("sysctl on %s: %w", runtime.GOOS, errors.ErrUnsupported) }

// Lookup is not supported on this system.
func Lookup(string) (MIB, error) { return nil, unsupported() }

// Read is not supported on this system.
func (m MIB) Read([]byte) ([]byte, error) { return nil, unsupported() }

// Read is not supported on this system.
func Read(string) ([]byte, error) { return nil, unsupported() }

// Write is not supported on this system.
func Write(string, []byte) error { return unsupported() }

// Kind is not supported on this system.
func Kind(string) ([]byte, error) { return nil, unsupported() }

// Vlan is not supported on this system.
func Vlan(string) ([]byte, error) { return nil, unsupported() }

// Lagg is not supported on this system.
func Lagg(string) (all, ports []byte, err error) { return nil, nil, unsupported() }

// Bridge is not supported on this system.
func Bridge(string) ([]byte, error) { return nil, unsupported() }
