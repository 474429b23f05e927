package proc

import (
	"fmt"
	"os"
	"testing"
)

// Every test here runs a script. A bare FreeBSD test kernel has no shell.
func TestMain(m *testing.M) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		fmt.Println("SKIP: all of sources/proc:", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}
