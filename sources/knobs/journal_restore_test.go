package knobs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"netwatch/sources"
)

func TestJournalRestore(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(e *Entry)
		value string // as the knob is found
		force bool
		fate  Fate
		words string
		after string
	}{
		{name: "as netwatch left it", value: "2", fate: PutBack, words: "put back aim=1 (was turned to 2)", after: "1"},
		{name: "somebody else's", value: "0", fate: Dropped, words: "left at 0: it is not the 2 netwatch had set", after: "0"},
		{name: "back already", value: "1", fate: Dropped, words: "as it was", after: "1"},
		{name: "died before the set", edit: func(e *Entry) { e.Value, e.Asked = "1", "2" }, value: "1", fate: Dropped, after: "1"},
		{name: "died after the set", edit: func(e *Entry) { e.Value, e.Asked = "1", "2" }, value: "2", fate: PutBack, after: "1"},
		{name: "died after a set that was masked", edit: func(e *Entry) { e.Value, e.Asked = "1", "2" }, value: "0", fate: Failed,
			words: "aim is 0 and was 1: netwatch died while it turned it from 1 to 2; by hand: sudo sysctl aim=1", after: "0"},
		{name: "another boot", edit: func(e *Entry) { e.Boot = "other" }, value: "2", fate: Left, words: "--force puts it back", after: "2"},
		{name: "another boot, forced", edit: func(e *Entry) { e.Boot = "other" }, value: "2", force: true, fate: PutBack, after: "1"},
		{name: "another boot, forced, not ours", edit: func(e *Entry) { e.Boot = "other" }, value: "0", force: true, fate: Dropped, after: "0"},
		{name: "another boot, as it was", edit: func(e *Entry) { e.Boot = "other" }, value: "1", fate: Dropped, after: "1"},
		{name: "another network", edit: func(e *Entry) { e.Net = "net:[7]" }, value: "2", force: true, fate: Left, words: "net:[7]", after: "2"},
		{name: "its netwatch runs", edit: func(e *Entry) { e.PID = running }, value: "2", fate: Left, words: "still runs", after: "2"},
		{name: "its netwatch runs, old journal", edit: func(e *Entry) { e.PID, e.Started = running, 0 }, value: "2", fate: Left, words: "still runs", after: "2"},
		{name: "another process has its number", edit: func(e *Entry) { e.PID, e.Started = running, e.Started+100 }, value: "2", fate: PutBack, after: "1"},
		{name: "its number in another boot", edit: func(e *Entry) { e.PID, e.Boot = running, "other" }, value: "2", fate: Left, words: "before the host was booted", after: "2"},
		{name: "its netwatch runs, forced", edit: func(e *Entry) { e.PID = running }, value: "2", force: true, fate: PutBack, after: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, k := stateDirOf(t), newFake("aim", "1")
			turn(t, journalBoard(t, dir, gone, k, &log{}), "aim", "2")
			rewrite(t, dir, c.edit)
			k.put("aim", c.value)
			got, err := aJournal(t, dir, 77, nil).Restore(t.Context(), c.force, finder(k))
			if err != nil || len(got) != 1 || got[0].Fate != c.fate || !strings.Contains(got[0].Text, c.words) || k.values["aim"] != c.after {
				t.Fatalf("%+v, %v; aim is %s", got, err, k.values["aim"])
			}
			if kept := len(standing(t, dir)) == 1; kept != (c.fate == Left || c.fate == Failed) {
				t.Errorf("entry kept: %v", kept)
			}
		})
	}
}

func rewrite(t *testing.T, dir string, edit func(*Entry)) {
	t.Helper()
	if edit == nil {
		return
	}
	path := filepath.Join(dir, journalFile)
	entries, err := readJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	edit(&entries[0])
	b, _ := json.Marshal(journalJSON{journalFormat, entries})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreOfWhatIsGone(t *testing.T) {
	dir, k := stateDirOf(t), newFake("aim", "1", "tso", "on")
	b := journalBoard(t, dir, gone, k, &log{})
	turn(t, b, "aim", "2")
	turn(t, b, "tso", "off")
	k.refuse["tso"] = einval
	got, err := aJournal(t, dir, 77, nil).Restore(t.Context(), false, func(e Entry) (sources.Knob, error) {
		if e.Knob == "aim" {
			return nil, errors.New("no interface \x1bem4")
		}
		return knob(k, e.Knob), nil
	})
	if err != nil || len(got) != 2 || got[0].Fate != Failed || got[1].Fate != Failed {
		t.Fatal(got, err)
	}
	if !strings.Contains(got[0].Text, "tso is off and was on: em4: invalid argument; by hand: sudo sysctl tso=on") ||
		got[1].Text != "aim was turned from 1 to 2: no interface  em4" {
		t.Errorf("%q, %q", got[0].Text, got[1].Text)
	}
	expectJournal(t, dir, "aim 1>2 asked= kept=", "tso on>off asked= kept=")
}

// A process began after the boot, and before this test looks; the number of one that
// is gone tells nothing.
func TestStartOf(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
		t.Skip("nobody asks for it on " + runtime.GOOS + ": there is no journal")
	}
	a, b := startOf(running), startOf(running)
	if a != b || a <= 0 || startOf(gone) != 0 {
		t.Errorf("%d, then %d; gone: %d", a, b, startOf(gone))
	}
}

// What is told of an entry beforehand is what Restore does with it.
func TestStandingIsWhatRestoreDoes(t *testing.T) {
	for _, c := range []struct {
		edit  func(e *Entry)
		want  Standing
		force bool
	}{
		{nil, Restorable, false},
		{func(e *Entry) { e.Boot = "other" }, BeforeBoot, true},
		{func(e *Entry) { e.PID, e.Boot = running, "other" }, BeforeBoot, true},
		{func(e *Entry) { e.PID = running }, Running, true},
		{func(e *Entry) { e.Net = "net:[7]" }, Elsewhere, false},
	} {
		dir, k := stateDirOf(t), newFake("aim", "1")
		turn(t, journalBoard(t, dir, gone, k, &log{}), "aim", "2")
		rewrite(t, dir, c.edit)
		j := aJournal(t, dir, 77, nil)
		if entries, err := j.Entries(); err != nil || len(entries) != 1 || j.Standing(entries[0]) != c.want {
			t.Errorf("%+v, %v: want %d", entries, err, c.want)
		}
		without, err := j.Restore(t.Context(), false, finder(k))
		if err != nil || (without[0].Fate == PutBack) != (c.want == Restorable) {
			t.Errorf("standing %d: %+v, %v", c.want, without, err)
		}
		if !c.force {
			continue
		}
		if forced, err := j.Restore(t.Context(), true, finder(k)); err != nil || forced[0].Fate != PutBack {
			t.Errorf("standing %d, forced: %+v, %v", c.want, forced, err)
		}
	}
}
