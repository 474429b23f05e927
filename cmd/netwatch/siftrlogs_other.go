//go:build !freebsd

package main

// siftrLogs are the logs to follow: only FreeBSD's kernel has siftr, elsewhere
// they are named.
func (o *options) siftrLogs() []string { return o.siftr }
