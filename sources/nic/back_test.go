package nic

import (
	"slices"
	"testing"
	"time"

	"netwatch/sources"
)

// Deleted, made again and left down: it is back, and that is no link yet.
func TestBackWithoutLink(t *testing.T) {
	k := newFake()
	l := run(t, k, func(*log) {
		time.Sleep(5 * tick)
		k.set(func(k *fakeKernel) { k.err = errGone })
		time.Sleep(5 * tick)
		k.set(func(k *fakeKernel) { k.err, k.now.epoch, k.now.up = nil, 5, false })
		time.Sleep(5 * tick)
		k.set(func(k *fakeKernel) { k.now.up = true })
		time.Sleep(5 * tick)
	})
	if said, want := l.texts(sources.LinkDown), []string{"em4 GONE", "em4 is back and has no link"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if up := l.texts(sources.LinkUp); !slices.Equal(up, []string{"em4 link up"}) {
		t.Errorf("%q", up)
	}
}
