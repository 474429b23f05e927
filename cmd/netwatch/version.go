package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release this tree will be or was.
const version = "0.1.0"

// commit is what this program was built from, "" where that is not known, as with go run.
func commit() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return ""
}

// versionLine is version, commit, system and Go, for bug reports.
func versionLine() string {
	return fmt.Sprintf("%s (%s) %s/%s %s", version, cmp.Or(commit(), "unknown commit"), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
