package knobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netwatch/sources"
)

// aJournal opens a journal as process pid would. The words it says go to said.
func aJournal(t *testing.T, dir string, pid int, said *[]string) *Journal {
	t.Helper()
	j, err := OpenJournal(dir, "em4", func(s string) {
		if said != nil {
			*said = append(*said, s)
		}
	})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	j.pid = pid
	return j
}

// gone is a process number that no system has, running one of a process that runs.
const gone = 1<<31 - 2

var running = os.Getpid() // a parent may be outside of our jail

func stateDirOf(t *testing.T) string { return filepath.Join(t.TempDir(), "state") }

func journalBoard(t *testing.T, dir string, pid int, k *fakeKernel, l *log) *Board {
	var list []sources.Knob
	for _, name := range []string{"aim", "tso", "cc"} {
		if _, err := k.get(name); err == nil {
			list = append(list, knob(k, name))
		}
	}
	return NewJournaled(l, aJournal(t, dir, pid, nil), list...)
}

func turn(t *testing.T, b *Board, name, value string) {
	t.Helper()
	if err := b.Turn(t.Context(), "", name, value); err != nil {
		t.Fatal(err)
	}
}

// standing is the journal as "knob start value asked kept".
func standing(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := readJournal(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, fmt.Sprintf("%s %s>%s asked=%s kept=%s", e.Knob, e.Start, e.Value, e.Asked, e.Kept))
	}
	return list
}

func expectJournal(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := standing(t, dir); !slices.Equal(got, want) {
		t.Errorf("journal has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func finder(k *fakeKernel) func(Entry) (sources.Knob, error) {
	return func(e Entry) (sources.Knob, error) { return knob(k, e.Knob), nil }
}

func TestJournalOfATurn(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1", "tso", "on")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, newJournalFile), []byte(strings.Repeat("of a death ", 1000)), 0o600)); err != nil {
		t.Fatal(err)
	}
	b := journalBoard(t, dir, gone, k, &log{})
	before := func(want string) {
		k.after = func(_ map[string]string, name string) { expectJournal(t, dir, want) }
	}
	before("aim 1>1 asked=2 kept=") // on disk before the kernel is asked
	turn(t, b, "aim", "2")
	expectJournal(t, dir, "aim 1>2 asked= kept=")
	before("aim 1>2 asked=0 kept=")
	turn(t, b, "aim", "0")
	expectJournal(t, dir, "aim 1>0 asked= kept=")
	k.after = nil
	turn(t, b, "tso", "off")
	turn(t, b, "aim", "1")
	expectJournal(t, dir, "tso on>off asked= kept=")
	if err := b.Restore(t.Context()); err != nil || k.values["tso"] != "on" {
		t.Error(err, k.values)
	}
	expectJournal(t, dir)

	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, journalFile): 0o600, filepath.Join(dir, "lock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, newJournalFile)); err == nil {
		t.Error("the new journal is left behind")
	}
}

func TestJournalOfARefusedTurn(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1")
	k.refuse["aim"] = einval
	b := journalBoard(t, dir, gone, k, &log{})
	turn(t, b, "aim", "2")
	expectJournal(t, dir)
	if len(b.Changed()) != 0 {
		t.Error(b.Changed())
	}
}

// What cannot be journalled is not turned, and that is said.
func TestNoJournalNoTurn(t *testing.T) {
	dir := stateDirOf(t)
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory shall be
		t.Fatal(err)
	}
	k := newFake("aim", "1")
	b := journalBoard(t, dir, gone, k, &log{})
	if err := b.Turn(t.Context(), "", "aim", "2"); err == nil || !strings.HasPrefix(err.Error(), "aim is not turned: journal: ") || k.values["aim"] != "1" {
		t.Error(err, k.values)
	}
}

func TestOthersMayNotWriteTheJournal(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := journalBoard(t, dir, gone, k, &log{}).Turn(t.Context(), "", "aim", "2"); !errors.Is(err, os.ErrPermission) || k.values["aim"] != "1" {
		t.Error(err, k.values)
	}
}

// A journal that breaks while a knob is turned does not keep it from being put back.
func TestRestoreWithoutAJournal(t *testing.T) {
	dir, k, l := stateDirOf(t), newFake("aim", "1"), &log{}
	b := journalBoard(t, dir, gone, k, l)
	turn(t, b, "aim", "2")
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "1" {
		t.Error(err, k.values)
	}
	if !slices.ContainsFunc(l.events, func(e sources.Event) bool { return strings.HasPrefix(e.Text, "journal: ") }) {
		t.Errorf("not said: %+v", l.events)
	}
}

func TestTwoShareAJournal(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1", "tso", "on")
	la, lb := &log{}, &log{}
	a, b := journalBoard(t, dir, gone, k, la), journalBoard(t, dir, running, k, lb)
	turn(t, a, "aim", "2")
	turn(t, b, "tso", "off")
	turn(t, b, "aim", "0")
	expectJournal(t, dir, "aim 1>0 asked= kept=", "tso on>off asked= kept=")

	if err := a.Restore(t.Context()); err != nil || k.values["aim"] != "0" || k.values["tso"] != "off" {
		t.Error("the first put back what the second uses:", err, k.values)
	}
	last := la.events[len(la.events)-1]
	if want := fmt.Sprintf("aim is left at 0: another netwatch (process %d) has turned it since, and puts it back to 1", running); last.Text != want {
		t.Errorf("said %q", last.Text)
	}
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "1" || k.values["tso"] != "on" {
		t.Error("the first start value is lost:", err, k.values)
	}
	expectJournal(t, dir)
}

// The second netwatch died: what it set is netwatch's, and the first puts it back.
func TestTheOtherDied(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1")
	a, b := journalBoard(t, dir, running, k, &log{}), journalBoard(t, dir, gone, k, &log{})
	turn(t, a, "aim", "2")
	turn(t, b, "aim", "0")
	if err := a.Restore(t.Context()); err != nil || k.values["aim"] != "1" {
		t.Error(err, k.values)
	}
	expectJournal(t, dir)
}

// A value somebody else set is where the next session goes back to.
func TestSomebodyElseTurned(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1")
	turn(t, journalBoard(t, dir, gone, k, &log{}), "aim", "2") // and died
	k.put("aim", "0")
	var said []string
	b := NewJournaled(&log{}, aJournal(t, dir, running, &said), knob(k, "aim"))
	turn(t, b, "aim", "2")
	if want := []string{"aim is 0, not the 2 netwatch had set: its first value 1 is given up"}; !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "0" {
		t.Error(err, k.values)
	}
}

// set keeps 2; a session turns to 0 and goes back to 2; restore goes back to 1.
func TestKeep(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1")
	b := journalBoard(t, dir, running, k, &log{})
	turn(t, b, "aim", "2")
	if err := b.Keep(t.Context()); err != nil || len(b.Changed()) != 0 {
		t.Fatal(err)
	}
	expectJournal(t, dir, "aim 1>2 asked= kept=2")
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "2" {
		t.Error("what was kept was put back:", err, k.values)
	}
	b = journalBoard(t, dir, running, k, &log{})
	turn(t, b, "aim", "0")
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "2" {
		t.Error(err, k.values)
	}
	outcomes, err := aJournal(t, dir, gone, nil).Restore(t.Context(), true, finder(k))
	if err != nil || len(outcomes) != 1 || outcomes[0].Fate != PutBack || k.values["aim"] != "1" {
		t.Error(outcomes, err, k.values)
	}
	expectJournal(t, dir)
}

// What is offered at the start: not what somebody keeps or will put back.
func TestLeft(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1", "tso", "on", "cc", "cubic")
	dead, kept, live := journalBoard(t, dir, gone, k, &log{}), journalBoard(t, dir, gone, k, &log{}), journalBoard(t, dir, running, k, &log{})
	turn(t, dead, "aim", "2")
	turn(t, kept, "tso", "off")
	if err := kept.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn(t, live, "cc", "reno")
	if left := aJournal(t, dir, 77, nil).Left(); len(left) != 1 || left[0].Knob != "aim" || left[0].Start != "1" {
		t.Errorf("left %+v", left)
	}
	rewrite(t, dir, func(e *Entry) { e.Boot, e.PID = "another", running })
	if left := aJournal(t, dir, 77, nil).Left(); len(left) != 1 {
		t.Errorf("of another boot: %+v", left)
	}
	if left := aJournal(t, filepath.Join(dir, "none"), 77, nil).Left(); left != nil {
		t.Errorf("without a journal: %+v", left)
	}
}

func TestDamagedJournal(t *testing.T) {
	for name, content := range map[string]string{
		"empty":        "",
		"cut":          `{"netwatch_journal":1,"entries":[{"knob":"aim","sta`,
		"zeros":        "\x00\x00\x00\x00",
		"another file": `{"a":1}`,
		"no knob":      `{"netwatch_journal":1,"entries":[{"boot":"x","start":"1"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, k := stateDirOf(t), newFake("aim", "1")
			path := filepath.Join(dir, journalFile)
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
				t.Fatal(err)
			}
			var said []string
			j := aJournal(t, dir, running, &said)
			if _, err := j.Entries(); !errors.Is(err, errDamaged) {
				t.Errorf("read as %v", err)
			}
			turn(t, NewJournaled(&log{}, j, knob(k, "aim")), "aim", "2")
			aside, _ := filepath.Glob(path + ".damaged-*")
			if len(aside) != 1 || len(said) != 1 || !strings.Contains(said[0], aside[0]) {
				t.Fatalf("aside %v, said %q", aside, said)
			}
			if b, err := os.ReadFile(aside[0]); err != nil || string(b) != content {
				t.Errorf("%q, %v", b, err)
			}
			expectJournal(t, dir, "aim 1>2 asked= kept=")
		})
	}
	t.Run("of a newer netwatch", func(t *testing.T) {
		dir, k := stateDirOf(t), newFake("aim", "1")
		path := filepath.Join(dir, journalFile)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, []byte(`{"netwatch_journal":2}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		err := journalBoard(t, dir, gone, k, &log{}).Turn(t.Context(), "", "aim", "2")
		if err == nil || !strings.Contains(err.Error(), "newer netwatch") || k.values["aim"] != "1" {
			t.Error(err, k.values)
		}
	})
}

func TestLockIsWaitedFor(t *testing.T) {
	dir := stateDirOf(t)
	first, err := aJournal(t, dir, gone, nil).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := aJournal(t, dir, gone, nil).open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held: %v", err)
	}
	got := make(chan error)
	go func() {
		l, err := aJournal(t, dir, gone, nil).open(t.Context())
		l.close()
		got <- err
	}()
	first.close()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	k := newFake("aim", "1")
	user := variable{spec: sources.KnobSpec{Name: "tso", Values: []string{"0", "1"}, Locked: NeedsRoot}, name: "tso", kernel: k}
	b := New(&log{}, knob(k, "aim", "0", "1"), user, absent{sources.KnobSpec{Name: "lro", Locked: "none"}})
	for _, c := range []struct {
		knob, value string
		want        error
	}{
		{"aim", "0", nil}, {"aim", "2", ErrValue}, {"amm", "0", os.ErrNotExist},
		{"tso", "0", nil}, {"tso", "2", ErrValue}, {"lro", "on", errors.ErrUnsupported},
	} {
		if err := b.Check(c.knob, c.value); !errors.Is(err, c.want) {
			t.Errorf("%s=%s: %v, want %v", c.knob, c.value, err, c.want)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"netwatch_journal":1,"entries":[{"knob":"aim","boot":"x","start":"1","value":"2","at":"2026-01-02T03:04:05Z"}]}`))
	f.Add([]byte("{}"))
	path := filepath.Join(f.TempDir(), journalFile)
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := readJournal(path)
		if err != nil && len(entries) > 0 {
			t.Fatal("entries of a damaged journal")
		}
		for _, e := range entries {
			if e.Knob == "" || e.Boot == "" {
				t.Fatalf("%+v", e)
			}
		}
	})
}
