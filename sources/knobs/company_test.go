package knobs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

const (
	allSums = bsd.CapTxCsum | bsd.CapTxCsum6
	allTSO  = bsd.CapTSO4 | bsd.CapTSO6
	allCaps = allSums | allTSO | bsd.CapRxCsum | bsd.CapRxCsum6 | bsd.CapLRO
)

// hungCaps are a card whose TSO needs its checksums, each protocol its own. wanted is
// what was asked of it: Linux (netdev_fix_features) switches TSO on when it can be
// again. Without wants it is mlx5en or cxgbe: TSO stays off, and cannot be asked for.
type hungCaps struct {
	enabled, wanted bsd.Caps
	wants           bool
	before          func()
	after           func()
}

func (c *hungCaps) get() (enabled, supported bsd.Caps, err error) { return c.enabled, allCaps, nil }

func (c *hungCaps) set(want bsd.Caps) error {
	if c.before != nil {
		c.before()
	}
	if c.wants { // only the switches that are turned are asked for
		turned := want ^ c.enabled
		c.wanted = c.wanted&^turned | want&turned
		want = c.wanted
	}
	for _, pair := range [][2]bsd.Caps{{bsd.CapTSO4, bsd.CapTxCsum}, {bsd.CapTSO6, bsd.CapTxCsum6}} {
		tso, sum := pair[0], pair[1]
		switch {
		case want&sum != 0 || want&tso == 0:
		case c.enabled&tso == 0 && !c.wants:
			return unix.EAGAIN // "enable txcsum first"
		default:
			want &^= tso
		}
	}
	c.enabled = want
	if c.after != nil {
		c.after()
	}
	return nil
}

func hungBoard(j *Journal, c *hungCaps, l *log) *Board {
	return NewJournaled(l, j, hungKnobs(c)...)
}

func hungKnobs(c *hungCaps) []sources.Knob {
	return freebsdList(device{"mce0", "mce", 0, c}, newFake(), nil, "")
}

func ofList(list []sources.Knob) func(Entry) (sources.Knob, error) {
	return func(e Entry) (sources.Knob, error) { return byName(list, e.Knob), nil }
}

// eachCard runs a test on a card of Linux and of FreeBSD, on which all is on.
func eachCard(t *testing.T, test func(t *testing.T, c *hungCaps, dir string)) {
	for name, wants := range map[string]bool{"Linux": true, "FreeBSD": false} {
		t.Run(name, func(t *testing.T) {
			test(t, &hungCaps{enabled: allCaps, wanted: allCaps, wants: wants}, stateDirOf(t))
		})
	}
}

// TSO goes with txcsum: that is said, written down, and put back.
func TestRestoreOfWhatWentAlong(t *testing.T) {
	eachCard(t, func(t *testing.T, c *hungCaps, dir string) {
		l := &log{}
		b := hungBoard(aJournal(t, dir, gone, nil), c, l)
		c.before = func() {
			expectJournal(t, dir, "tso on>on asked=off kept=", "txcsum on>on asked=off kept=")
		}
		turn(t, b, "txcsum", "off")
		c.before = nil
		l.expect(t, "knob-turning txcsum on>off>", "knob-drifted tso on>>off", "knob-turned txcsum on>off>off")
		if e := l.events[1]; e.Text != "changed with the turn of txcsum" {
			t.Errorf("%+v", e)
		}
		expectJournal(t, dir, "tso on>off asked= kept=", "txcsum on>off asked= kept=")
		if want := []Change{{"tso", "on", "off"}, {"txcsum", "on", "off"}}; !slices.Equal(b.Changed(), want) {
			t.Errorf("changed %v", b.Changed())
		}
		if err := b.Restore(t.Context()); err != nil || c.enabled != allCaps || len(b.Changed()) != 0 {
			t.Error(err, c.enabled, b.Changed())
		}
		expectJournal(t, dir)
	})
}

// What netwatch set kept is put back by another process.
func TestJournalRestoreOfWhatWentAlong(t *testing.T) {
	eachCard(t, func(t *testing.T, c *hungCaps, dir string) {
		b := hungBoard(aJournal(t, dir, gone, nil), c, &log{})
		turn(t, b, "txcsum", "off")
		if err := b.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		expectJournal(t, dir, "tso on>off asked= kept=off", "txcsum on>off asked= kept=off")
		got, err := aJournal(t, dir, running, nil).Restore(t.Context(), false, ofList(hungKnobs(c)))
		if err != nil || len(got) != 2 || got[0].Fate != PutBack || c.enabled != allCaps {
			t.Errorf("%+v, %v; enabled %v", got, err, c.enabled)
		}
		expectJournal(t, dir)
	})
}

// Killed when the kernel was done and nobody had read it back.
func TestKilledWithWhatWentAlong(t *testing.T) {
	eachCard(t, func(t *testing.T, c *hungCaps, dir string) {
		later := stateDirOf(t)
		c.after = func() { copyJournal(t, dir, later) }
		turn(t, hungBoard(aJournal(t, dir, gone, nil), c, &log{}), "txcsum", "off")
		c.after = nil
		if _, err := aJournal(t, later, running, nil).Restore(t.Context(), false, ofList(hungKnobs(c))); err != nil || c.enabled != allCaps {
			t.Error(err, c.enabled)
		}
		expectJournal(t, later)
	})
}

// A person turns txcsum off and on again.
func TestTurnedBack(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after string // the tso
		between       string // asked for while txcsum is off
	}{
		{"nothing between", "on", "on", ""},
		{"where it was is not where it started", "tso4", "tso4", ""},
		{"asked for in vain", "on", "on", "on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachCard(t, func(t *testing.T, caps *hungCaps, dir string) {
				b := hungBoard(aJournal(t, dir, gone, nil), caps, &log{})
				turn(t, b, "tso", c.before)
				turn(t, b, "txcsum", "off")
				if c.between != "" {
					turn(t, b, "tso", c.between)
				}
				turn(t, b, "txcsum", "on")
				if v, err := byName(hungKnobs(caps), "tso").Get(t.Context()); v != c.after || err != nil {
					t.Errorf("tso %s, %v; want %s", v, err, c.after)
				}
				if err := b.Restore(t.Context()); err != nil || caps.enabled != allCaps {
					t.Error(err, caps.enabled)
				}
				expectJournal(t, dir)
			})
		})
	}
}

// What went along and was turned since, by a turn of its own or by somebody else,
// does not come back. On Linux the kernel decides: TestVethSums.
func TestTurnedSince(t *testing.T) {
	const left = allCaps &^ bsd.CapTSO6
	for _, c := range []struct {
		name     string
		between  func(b *Board, c *hungCaps)
		tso      string
		restored bsd.Caps
	}{
		{"by a turn of its own", func(b *Board, _ *hungCaps) { turn(t, b, "tso", "off") }, "off", allCaps},
		{"by hand", func(_ *Board, c *hungCaps) { c.enabled = left }, "tso4", left},
	} {
		t.Run(c.name, func(t *testing.T) {
			caps, dir := &hungCaps{enabled: allCaps}, stateDirOf(t)
			b := hungBoard(aJournal(t, dir, gone, nil), caps, &log{})
			turn(t, b, "txcsum", "off")
			c.between(b, caps)
			turn(t, b, "txcsum", "on")
			if v, err := byName(hungKnobs(caps), "tso").Get(t.Context()); v != c.tso || err != nil {
				t.Errorf("tso %s, %v; want %s", v, err, c.tso)
			}
			if err := b.Restore(t.Context()); err != nil || caps.enabled != c.restored {
				t.Error(err, caps.enabled)
			}
			expectJournal(t, dir)
		})
	}
}

// Killed in the middle of a turn, then another hand on the card, then restore: what
// netwatch never turned stays where the other hand put it, and is not spoken of.
func TestKilledThenAnotherHand(t *testing.T) {
	off := func(gone bsd.Caps) func(*hungCaps) { return func(c *hungCaps) { c.enabled &^= gone } }
	for _, c := range []struct {
		name, driver, knob string
		set                bool // the kernel was done
		hand               func(*hungCaps)
		left               bsd.Caps // what stays off
		said               []string
	}{
		{"nothing goes along with em's TSO", "em", "tso", false, off(bsd.CapLRO), bsd.CapLRO, []string{"tso of em0 is on, as it was"}},
		{"nor with its txcsum", "em", "txcsum", false, off(allTSO), allTSO, []string{"txcsum of em0 is on, as it was"}},
		{"before the set, and TSO by hand", "mce", "txcsum", false, off(allTSO), allTSO, []string{"txcsum of mce0 is on, as it was"}},
		{"after the set, and one TSO by hand", "mce", "txcsum", true, func(c *hungCaps) { c.enabled |= bsd.CapTSO4 }, bsd.CapTSO6,
			[]string{"put back txcsum=on on mce0 (was turned to off)"}},
		{"after the set, and LRO by hand", "mce", "txcsum", true, off(bsd.CapLRO), bsd.CapLRO,
			[]string{"put back txcsum=on on mce0 (was turned to off)", "put back tso=on on mce0 (was turned to off)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			caps, dir, later := &hungCaps{enabled: allCaps}, stateDirOf(t), stateDirOf(t)
			list := freebsdList(device{c.driver + "0", c.driver, 0, caps}, newFake(), nil, "")
			copied := func() { copyJournal(t, dir, later) }
			if c.set {
				caps.after = copied
			} else {
				caps.before = copied
			}
			turn(t, NewJournaled(&log{}, aJournal(t, dir, gone, nil), list...), c.knob, "off")
			caps.before, caps.after = nil, nil
			if !c.set {
				caps.enabled = allCaps
			}
			c.hand(caps)
			if left := aJournal(t, later, running, nil).Left(); len(left) != 1 || left[0].Words() != c.knob+" was being turned from on to off" {
				t.Errorf("offered %+v", left)
			}
			got, err := aJournal(t, later, running, nil).Restore(t.Context(), false, ofList(list))
			var said []string
			for _, o := range got {
				said = append(said, o.Text)
			}
			if err != nil || !slices.Equal(said, c.said) || caps.enabled != allCaps&^c.left {
				t.Errorf("said %q, %v; enabled %v", said, err, caps.enabled)
			}
			expectJournal(t, later)
		})
	}
}

// The next session finds what a killed one left in the middle of a turn.
func TestTheNextTurnDecides(t *testing.T) {
	caps, dir, later := &hungCaps{enabled: allCaps}, stateDirOf(t), stateDirOf(t)
	caps.after = func() { copyJournal(t, dir, later) }
	turn(t, hungBoard(aJournal(t, dir, gone, nil), caps, &log{}), "txcsum", "off")
	caps.after = nil
	b := hungBoard(aJournal(t, later, running, nil), caps, &log{})
	turn(t, b, "txcsum", "on")
	expectJournal(t, later, "tso on>off asked= kept=")
	turn(t, b, "lro", "off")
	if _, err := aJournal(t, later, gone, nil).Restore(t.Context(), true, ofList(hungKnobs(caps))); err != nil || caps.enabled != allCaps {
		t.Error(err, caps.enabled)
	}
}

// TSO that goes with a later turn of txcsum than the first comes back after it, too.
func TestWentAlongLater(t *testing.T) {
	eachCard(t, func(t *testing.T, c *hungCaps, dir string) {
		const start = allCaps &^ bsd.CapTSO6
		c.enabled, c.wanted = start, start
		b := hungBoard(aJournal(t, dir, gone, nil), c, &log{})
		turn(t, b, "txcsum", "txcsum4")
		turn(t, b, "txcsum", "off")
		expectJournal(t, dir, "tso tso4>off asked= kept=", "txcsum on>off asked= kept=")
		if err := b.Restore(t.Context()); err != nil || c.enabled != start {
			t.Error(err, c.enabled)
		}
		expectJournal(t, dir)
	})
}

func copyJournal(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from, journalFile))
	if err := errors.Join(err, os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, journalFile), text, 0o600)); err != nil {
		t.Fatal(err)
	}
}
