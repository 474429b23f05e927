package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The unit and the sign of what statfs(2) tells differ between systems.
func TestFreeSpace(t *testing.T) {
	dir := t.TempDir()
	if free, err := freeSpace(dir); err != nil || free > 1<<60 {
		t.Errorf("%d octets, %v", free, err)
	}
	if _, err := freeSpace(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
