//go:build linux || freebsd

package proc

import "syscall"

// orphaned has the kernel send SIGTERM to a child whose parent is gone: a load generator
// then tells its server.
func orphaned(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
