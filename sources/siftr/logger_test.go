package siftr_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
	"netwatch/sources/siftr"
)

const gigabyte = 1e9

func room(gigabytes uint64) *atomic.Uint64 {
	var free atomic.Uint64
	free.Store(gigabytes * gigabyte)
	return &free
}

// logging runs a Logger in synctest's clock, half a second between the steps.
func logging(t *testing.T, k *kernel, free *atomic.Uint64, steps ...func(*siftr.Logger)) *sink {
	t.Helper()
	s := new(sink)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := siftr.NewLogger(k, k, func(string) (uint64, error) { return free.Load(), nil }, 5201)
		done := make(chan error)
		go func() { done <- g.Run(ctx, s) }()
		for _, step := range steps {
			step(g)
			time.Sleep(500 * time.Millisecond)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestLogger(t *testing.T) {
	arm := func(g *siftr.Logger) { g.Arm(false) }
	stay := func(g *siftr.Logger) { g.Arm(true) }
	disarm := func(g *siftr.Logger) { g.Disarm() }
	begin := func(g *siftr.Logger) { g.Load(true) }
	end := func(g *siftr.Logger) { g.Load(false) }
	// synctest's clock begins at midnight UTC 2000-01-01; the name has the local time.
	at := func(d time.Duration) string { return time.Unix(epoch, 0).Add(d).Format("-20060102-150405.log") }
	on := func(m string, d time.Duration) []string {
		return []string{m + ".log=" + m + at(d), m + ".port=5201", m + "=1"}
	}
	off := func(m string) []string { return []string{m + "=0", m + ".port=0", m + ".log=" + m + ".log"} }
	tests := []struct {
		name    string
		modules []string
		steps   []func(*siftr.Logger)
		turns   [][]string
		notes   []string
	}{
		{"one run", []string{"siftr2", "siftr"}, []func(*siftr.Logger){arm, begin, end, begin, end},
			[][]string{on("siftr2", 0), off("siftr2")}, []string{"logs to ", "logged to "}},
		{"stock", []string{"siftr"}, []func(*siftr.Logger){arm, begin, end},
			[][]string{on("siftr", 0), off("siftr")}, []string{"logs to ", "logged to "}},
		{"armed within a run: the next", []string{"siftr2"}, []func(*siftr.Logger){begin, arm, end, begin, end},
			[][]string{on("siftr2", time.Second), off("siftr2")}, []string{"logs to ", "logged to "}},
		{"left on", []string{"siftr2"}, []func(*siftr.Logger){stay, begin, end, begin, end, disarm},
			[][]string{on("siftr2", 0), off("siftr2")}, []string{"logs to ", "logged to "}},
		{"left on within a logged run", []string{"siftr2"}, []func(*siftr.Logger){arm, begin, stay, end, disarm},
			[][]string{on("siftr2", 0), off("siftr2")}, []string{"logs to ", "logged to "}},
		{"taken back", []string{"siftr2"}, []func(*siftr.Logger){arm, disarm, begin, end}, nil, nil},
		{"on when netwatch ends", []string{"siftr2"}, []func(*siftr.Logger){stay}, [][]string{on("siftr2", 0)}, []string{"logs to "}},
		{"not loaded", nil, []func(*siftr.Logger){stay}, nil, []string{"neither siftr2 nor siftr is loaded: sudo kldload siftr2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			k, free := newKernel(dir, tt.modules...), room(100)
			s := logging(t, k, free, tt.steps...)
			if want := slices.Concat(tt.turns...); !slices.Equal(k.turns, want) {
				t.Errorf("turned %q\nwant   %q", k.turns, want)
			}
			expectNotes(t, s, tt.notes)
		})
	}
}

func expectNotes(t *testing.T, s *sink, want []string) {
	t.Helper()
	notes := s.texts(sources.SourceNote)
	if len(notes) != len(want) {
		t.Fatalf("notes %q, want %q", notes, want)
	}
	for i, w := range want {
		if !strings.Contains(notes[i], w) {
			t.Errorf("note %q, want %q in it", notes[i], w)
		}
	}
}

// TestLoggerRefused: what a kernel refuses is found out by reading back and by
// looking for the file, and nothing stays turned.
func TestLoggerRefused(t *testing.T) {
	stay := func(g *siftr.Logger) { g.Arm(true) }
	tests := []struct {
		name   string
		module string
		set    func(k *kernel)
		note   string
	}{
		{"stock, no directory", "siftr", func(k *kernel) {}, "siftr refused the log file /"},
		{"siftr2, no directory", "siftr2", func(k *kernel) {}, "siftr2 could not be switched on"},
		{"no rights", "siftr2", func(k *kernel) { k.denied = os.ErrPermission }, "permission denied"},
		{"on already", "siftr2", func(k *kernel) { k.put("siftr2.enabled", []byte{1, 0, 0, 0}) }, "siftr2 is on already and writes /"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, free := newKernel(filepath.Join(t.TempDir(), "none"), tt.module), room(100)
			tt.set(k)
			before, _ := siftr.ReadSwitches(k, tt.module)
			s := logging(t, k, free, stay)
			expectNotes(t, s, []string{tt.note})
			if after, _ := siftr.ReadSwitches(k, tt.module); after != before {
				t.Errorf("left as %+v, was %+v", after, before)
			}
		})
	}
}

// TestLoggerWatches: the log ends when the disk fills up or somebody else ends it,
// and a name that somebody else has set stays.
func TestLoggerWatches(t *testing.T) {
	stay := func(g *siftr.Logger) { g.Arm(true) }
	wait := func(*siftr.Logger) { time.Sleep(time.Second) }
	t.Run("disk", func(t *testing.T) {
		k, free := newKernel(t.TempDir(), "siftr2"), room(100)
		s := logging(t, k, free, stay, func(*siftr.Logger) { free.Store(gigabyte) }, wait)
		expectNotes(t, s, []string{"logs to ", "the log ended: 1.0 GB free in "})
		if sw, _ := siftr.ReadSwitches(k, "siftr2"); sw.Enabled || sw.Port != 0 || filepath.Base(sw.LogFile) != "siftr2.log" {
			t.Errorf("left as %+v", sw)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		k, free := newKernel(t.TempDir(), "siftr2"), room(100)
		s := logging(t, k, free, stay, func(*siftr.Logger) { k.put("siftr2.enabled", []byte(defaults)) }, wait)
		expectNotes(t, s, []string{"logs to ", "somebody switched it off"})
	})
	t.Run("another file", func(t *testing.T) {
		k, free := newKernel(t.TempDir(), "siftr2"), room(100)
		logging(t, k, free, stay, func(g *siftr.Logger) { k.put("siftr2.logfile", []byte("/mine\x00")); g.Disarm() })
		if sw, _ := siftr.ReadSwitches(k, "siftr2"); sw.LogFile != "/mine" || !sw.Enabled {
			t.Errorf("somebody else's log was touched: %+v", sw)
		}
	})
}

func TestLoggerProposes(t *testing.T) {
	dir := t.TempDir()
	unsupported := func() error { return fmt.Errorf("sysctl on linux: %w", errors.ErrUnsupported) }
	tests := []struct {
		name       string
		kernel     siftr.Kernel
		free       uint64
		words, err string
	}{
		// 41 GB less 1.07 GB at 78,000 records of 100 octets a second are 85 minutes.
		{"siftr2", newKernel(dir, "siftr2"), 41 * gigabyte, "siftr2: port 5201 into " + dir + "/siftr2-TIME.log, 41.0 GB free, for 85 min at this rate", ""},
		{"siftr", newKernel(dir, "siftr"), 41 * gigabyte, "siftr: port 5201 into " + dir + "/siftr-TIME.log, 41.0 GB free, for 52 min at this rate", ""},
		{"full", newKernel(dir, "siftr2"), gigabyte, "", "1.0 GB free in " + dir + ", and a log leaves 1 GB"},
		{"not loaded", newKernel(dir), 41 * gigabyte, "", "neither siftr2 nor siftr is loaded: sudo kldload siftr2"},
		{"Linux", refusing{unsupported()}, 41 * gigabyte, "", "siftr is a module of FreeBSD's kernel; this system has none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := siftr.NewLogger(tt.kernel, nil, func(string) (uint64, error) { return tt.free, nil }, 0)
			words, _, err := g.Propose(5201, 78_000)
			if words != tt.words || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("%q, %v", words, err)
			}
		})
	}
}

type refusing struct{ err error }

func (r refusing) Read(string) ([]byte, error) { return nil, r.err }

// TestLoggerState: the size of the log and how long there is room at its rate.
func TestLoggerState(t *testing.T) {
	k, free := newKernel(t.TempDir(), "siftr2"), room(41)
	grow := func(*siftr.Logger) {
		k.write(t, "siftr2", strings.Repeat("x", 8_000_000))
		time.Sleep(500 * time.Millisecond)
	}
	var states []string
	say := func(g *siftr.Logger) { states = append(states, g.State()) }
	aside := func(*siftr.Logger) { time.Sleep(250 * time.Millisecond) } // of the Logger's own seconds
	logging(t, k, free, aside, say, func(g *siftr.Logger) { g.Arm(false) }, say, func(g *siftr.Logger) { g.Load(true) }, say,
		func(*siftr.Logger) {}, grow, grow, say, func(g *siftr.Logger) { g.Load(false) }, say)
	// 8 MB a second leave room for (41 - 1.07) GB / 8 MB/s = 4991 s.
	want := []string{"", "siftr: next run", "siftr2 0 MB", "siftr2 16 MB, room for 83 min", ""}
	if !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
}
