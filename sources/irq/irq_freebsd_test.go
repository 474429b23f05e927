package irq

import (
	"errors"
	"testing"
)

func TestLoopbackHasNoLine(t *testing.T) {
	if err := New("lo0", pollEvery).Run(t.Context(), &log{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// A card of this machine, if it has one with a line.
func TestCard(t *testing.T) {
	for _, iface := range []string{"em0", "igb0", "vtnet0", "ix0", "re0"} {
		k, err := openKernel(iface)
		if err != nil {
			continue
		}
		lines, err := k.lines()
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			continue
		}
		counts, err := k.counts(nil)
		if err != nil || len(counts) != len(lines) || !counts[0].ok {
			t.Errorf("%s: %v %v, %v", iface, lines, counts, err)
		}
		return
	}
	t.Skip("no card that is known to the test")
}
