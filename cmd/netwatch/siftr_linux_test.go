package main

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"netwatch/parsers/siftr"
	"netwatch/parsers/siftr/siftrgen"
	"netwatch/screenshots/terminal"
)

// A kernel writes a siftr2 log as fast as it is told, as the module would, with
// the records' times in step with the clock.
type kernel struct {
	t    testing.TB
	path string
	rate int64 // records a second
	f    *os.File
	gen  *siftrgen.Generator
	last time.Time
}

func newKernel(t testing.TB, path string, rate int64) *kernel {
	k := &kernel{t: t, path: path, rate: rate}
	k.enable()
	return k
}

// enable opens the log as siftr2 does: the same inode, cut to nothing.
func (k *kernel) enable() {
	k.t.Helper()
	f, err := os.OpenFile(k.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		k.t.Fatal(err)
	}
	if k.f != nil {
		k.f.Close()
	}
	k.f, k.last = f, time.Now()
	k.gen = siftrgen.New(siftrgen.Config{Format: siftrgen.Text25, Flows: 3, Seed: 1, Start: time.Now().UnixMicro(), Rate: k.rate})
	k.write(siftr.AppendHeader25(nil, &k.gen.Cycle().Header))
}

func (k *kernel) write(b []byte) {
	if _, err := k.f.Write(b); err != nil {
		k.t.Error(err)
	}
}

// log writes for d; 100,000 records/s are about 10 MB/s.
func (k *kernel) log(d time.Duration) {
	var buf []byte
	k.last = time.Now()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		now := time.Now()
		buf = buf[:0]
		for range int(now.Sub(k.last).Seconds() * float64(k.rate)) {
			buf = siftr.AppendRecord25(buf, k.gen.Next(), k.gen.Enable)
		}
		k.last = now
		k.write(buf)
	}
}

// A log that grows at 10 MB/s is drawn live: cut, moved away, removed and made anew.
func TestALogThatGrowsAtTenMegabytes(t *testing.T) {
	bin := binary(t)
	t.Chdir(t.TempDir())
	const log = "siftr2.log"
	k := newKernel(t, log, 100_000)
	term, err := terminal.Start(120, 40, nil, bin, "lo", "--siftr", log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	// drawn looks at the screen while the log grows. What stood there before is
	// older than the two seconds that let a figure count as live.
	drawn := func(what string) {
		t.Helper()
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() { k.log(5 * time.Second) })
		wait(t, term, what, 6*time.Second, func(s string) bool {
			return strings.Contains(s, "k rec/s") && figure(s, "cwnd KiB") > 0 && figure(s, "srtt") > 0 && figure(s, "avg seg") > 0 && figure(s, "goodput") > 0
		})
	}
	drawn("the log")
	k.enable() // the second enable cuts the file
	drawn("the log after it was cut")
	if err := os.Rename(log, "away.log"); err != nil {
		t.Fatal(err)
	}
	drawn("the log after it was moved away")
	wait(t, term, "the word about it", 3*time.Second, has("moved away"))
	k.enable() // a new file at the path
	drawn("the new log")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	drawn("the log after it was removed")
	press(t, term, "q")
	end(t, term, exitOK)
}

// A log that was finished before is said, not drawn; one that is none is named.
func TestLogsThatAreNotLive(t *testing.T) {
	bin := binary(t)
	t.Chdir(t.TempDir())
	const done, none = "done.log", "none.log"
	f, err := os.Create(done)
	if err != nil {
		t.Fatal(err)
	}
	if err := siftrgen.Write(f, siftrgen.Config{Format: siftrgen.Text25, Records: 1000, Flows: 1, Seed: 1, Start: time.Now().Add(-time.Hour).UnixMicro()}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(none, []byte("Dear diary,\ntoday it rained.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	term, err := terminal.Start(120, 40, nil, bin, "lo", "--siftr", done, "--siftr", none)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	wait(t, term, "the words", 5*time.Second, has("1000 records: use netwatch review", "none.log is no siftr log"))
	if v := figure(term.Text(), "cwnd KiB"); v > 0 {
		t.Errorf("a finished log is drawn: cwnd %v", v)
	}
	press(t, term, "q")
	end(t, term, exitFailure) // none.log cannot be followed as a log
}
