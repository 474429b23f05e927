//go:build !linux && !freebsd

package proc

import "syscall"

// orphaned does nothing: this system tells no child that its parent is gone.
func orphaned(*syscall.SysProcAttr) {}
