package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file that was named and never came is said, and is an exit status; one that comes
// later is not, nor one that is there and empty.
func TestFileThatNeverCame(t *testing.T) {
	loop := "lo"
	if _, err := net.InterfaceByName(loop); err != nil {
		loop = "lo0"
	}
	for _, flag := range []string{"--siftr", "--load", "--ping-log"} {
		for name, c := range map[string]struct {
			when   time.Duration // the file is made, 0: never
			status int
		}{"never": {0, exitFailure}, "later": {300 * time.Millisecond, exitOK}, "there": {-1, exitOK}} {
			t.Run(flag+" "+name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "file")
				if c.when < 0 {
					must(t, os.WriteFile(path, nil, 0o600))
				} else if c.when > 0 {
					time.AfterFunc(c.when, func() { os.WriteFile(path, nil, 0o600) })
				}
				var out, errs bytes.Buffer
				status := run([]string{"-o", "text", "-d", "2s", "--read-only", flag, path, loop}, strings.NewReader(""), &out, &errs)
				if status != c.status {
					t.Errorf("status %d, want %d: %s", status, c.status, errs.String())
				}
				if said := strings.Contains(errs.String(), path+" never came"); said != (c.status == exitFailure) {
					t.Errorf("that it never came is said: %v: %q", said, errs.String())
				}
				if waits := strings.Contains(out.String(), "not there yet, waiting for it"); waits != (c.when >= 0) {
					t.Errorf("that it is waited for is said: %v:\n%s", waits, out.String())
				}
			})
		}
	}
}
