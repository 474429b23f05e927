package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netwatch/sources"
	"netwatch/sources/iperf"
	"netwatch/sources/siftr"
)

// siftrSources follow the logs that were named, else what the kernel's modules are
// told to write.
func (o *options) siftrSources() []sources.Source {
	logs := siftr.Modules(siftr.Sysctl{})
	if len(o.siftr) > 0 {
		logs = siftr.Logs(siftr.Sysctl{}, o.siftr...)
	}
	var all []sources.Source
	for _, l := range logs {
		all = append(all, l)
	}
	return all
}

// siftrLogger is what key S turns: siftr for the next run of the load.
func siftrLogger(turner sources.Turner, command []string) *siftr.Logger {
	return siftr.NewLogger(siftr.Sysctl{}, turner, freeSpace, iperf.Port(command))
}

// freeSpace is what a user may still write on the file system of a directory, octets.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil // some systems count below zero
}
