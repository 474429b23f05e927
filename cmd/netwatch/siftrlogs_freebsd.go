package main

import (
	"bytes"

	"netwatch/sources/sysctl"
)

// siftrLogs are the logs to follow: those named, else those that the kernel's
// modules are told to write.
func (o *options) siftrLogs() []string {
	if len(o.siftr) > 0 {
		return o.siftr
	}
	var found []string
	for _, name := range []string{"net.inet.siftr2.logfile", "net.inet.siftr.logfile"} {
		b, err := sysctl.Read(name)
		if path := string(bytes.TrimRight(b, "\x00")); err == nil && path != "" {
			found = append(found, path)
		}
	}
	return found
}
