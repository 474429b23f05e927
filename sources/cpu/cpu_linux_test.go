package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A machine with more cores than the first buffer holds.
func TestManyCores(t *testing.T) {
	var text strings.Builder
	text.WriteString("cpu  0 0 0 0\n")
	for i := range 1024 {
		fmt.Fprintf(&text, "cpu%d %d 0 0 100 0 0 0 0 0 0\n", i, i)
	}
	text.WriteString("intr 0\n")
	path := filepath.Join(t.TempDir(), "stat")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	k, err := openStat(path)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	got, err := k.read(nil)
	if err != nil || len(got) != 1024 || got[1023] != (coreTime{1023, 1023, 1123}) {
		t.Errorf("%d cores, %v", len(got), err)
	}
}
