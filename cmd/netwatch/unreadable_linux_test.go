package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file that this person may not read is said, the rest goes on, and the status tells it.
func TestUnreadableFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		cannot(t, "only root can become somebody else")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		cannot(t, "there is no setpriv")
	}
	bin, dir := binary(t), t.TempDir()
	for _, path := range []string{bin, filepath.Dir(bin), dir, filepath.Dir(dir)} {
		must(t, os.Chmod(path, 0o755))
	}
	path := filepath.Join(dir, "root.log")
	must(t, os.WriteFile(path, []byte("secret"), 0o600))
	for _, flag := range []string{"--siftr", "--load", "--ping-log"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", bin, "-o", "text", "-d", "2500ms", "--read-only", flag, path, "lo")
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
			out, err := cmd.CombinedOutput()
			var status *exec.ExitError
			if !errors.As(err, &status) || status.ExitCode() != exitFailure {
				t.Errorf("status %v", err)
			}
			for _, words := range []string{"cannot read", path, "permission denied", " idle"} {
				if !strings.Contains(string(out), words) {
					t.Errorf("it does not say %q:\n%s", words, out)
				}
			}
		})
	}
}
