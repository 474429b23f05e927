package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release this tree will be or was.
const version = "0.1.0"

// versionLine is version, commit, system and Go, for bug reports.
func versionLine() string {
	commit := "unknown commit"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				commit = s.Value[:12]
			}
		}
	}
	return fmt.Sprintf("%s (%s) %s/%s %s", version, commit, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
