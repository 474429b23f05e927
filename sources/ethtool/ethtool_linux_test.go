package ethtool

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// The loopback interface of any Linux: no driver's statistics, and the features that
// every interface has.
func TestLoopback(t *testing.T) {
	c, err := Open("lo")
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	n, err := c.Count(Features)
	if err != nil {
		t.Skip("this kernel does not tell of lo: ", err)
	}
	names, err := c.Names(Features, n)
	if err != nil || uint32(len(names)) != n || !slices.Contains(names, "tx-tcp-segmentation") || !slices.Contains(names, "rx-gro") {
		t.Errorf("%d names, want %d: %v, %v", len(names), n, names, err)
	}
	if n, err := c.Count(Statistics); n != 0 || err != nil {
		t.Errorf("%d statistics, %v", n, err)
	}
	if few, err := c.Names(Features, n-1); err == nil {
		t.Errorf("%d names of %d: %v", n-1, n, few)
	}
}

func TestNoSuchInterface(t *testing.T) {
	c, err := Open("none9")
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	if _, err := c.Count(Features); !errors.Is(err, unix.ENODEV) {
		t.Error(err)
	}
	if _, err := c.Info(); !errors.Is(err, unix.ENODEV) {
		t.Error(err)
	}
}
