package knobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netwatch/sources"
)

const (
	journalFile    = "journal.json"
	newJournalFile = journalFile + ".new"
	journalFormat  = 1
	// lockLimit is how long another netwatch may take for its turn: a driver that
	// resets its card needs seconds.
	lockLimit = 15 * time.Second
	lockPoll  = 10 * time.Millisecond
)

// A Journal remembers on disk what netwatch turned, so that it can be put back
// after a crash or a power loss. All netwatch of a host share it: a turn holds its
// lock from the first reading to the last.
type Journal struct {
	dir     string
	iface   string
	boot    string
	net     string
	pid     int
	started int64 // as of an Entry
	say     func(text string)
}

// StateDir is where the journal is: $NETWATCH_STATE or the system's place.
func StateDir() string { return cmp.Or(os.Getenv("NETWATCH_STATE"), stateDir) }

// OpenJournal opens the journal of this host in dir for a netwatch that was
// started for iface. The directory is made by the first turn. What has to be said
// of the journal itself (it was damaged) goes to say, as one line.
func OpenJournal(dir, iface string, say func(text string)) (*Journal, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("journal: which boot this is: %w", err)
	}
	return &Journal{dir: dir, iface: iface, boot: boot, net: netID(), pid: os.Getpid(), started: startOf(os.Getpid()), say: say}, nil
}

// Entries tells what stands in the journal, oldest turn first. The error
// satisfies errors.Is for os.ErrPermission where only root may read it.
func (j *Journal) Entries() ([]Entry, error) {
	entries, err := readJournal(filepath.Join(j.dir, journalFile))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return entries, nil
}

// Left tells what stands in the journal and nobody puts back by himself: the netwatch
// that turned it is gone, and no person chose to keep it. An unreadable journal
// tells nothing.
func (j *Journal) Left() []Entry {
	entries, err := j.Entries()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		return e.Net != j.net || e.Kept != "" || !e.Turned() || j.runs(e)
	})
}

// entry is the one of a knob in this boot and network as it stands now, nil if there
// is none; a nil Journal has none. It does not wait for the lock.
func (j *Journal) entry(spec sources.KnobSpec) (*Entry, error) {
	if j == nil {
		return nil, nil
	}
	entries, err := j.Entries()
	if err != nil {
		return nil, err
	}
	return (&ledger{Journal: j, entries: entries}).find(spec), nil
}

// Net is what an Entry of this process has for Net: the network namespace or vnet jail it
// is in, "" where there is but one.
func Net() string { return netID() }

// Here tells whether an entry is of this boot and this network.
func (j *Journal) Here(e Entry) bool { return e.Boot == j.boot && e.Net == j.net }

// A Standing is what restore does about an entry of the journal.
type Standing uint8

const (
	Restorable Standing = iota + 1 // it puts the knob back
	Running                        // the netwatch that turned it still runs, and does so
	BeforeBoot                     // it was turned before the host was booted: only when forced
	Elsewhere                      // it is of another network: only there
)

// Standing tells what Restore does about an entry, before it looks at the knob.
func (j *Journal) Standing(e Entry) Standing {
	switch {
	case e.Net != j.net:
		return Elsewhere
	case e.PID != j.pid && j.runs(e):
		return Running
	case e.Boot != j.boot:
		return BeforeBoot
	}
	return Restorable
}

type journalJSON struct {
	Format  int     `json:"netwatch_journal"`
	Entries []Entry `json:"entries"`
}

// errDamaged is wrapped by the error for a file that is no journal.
var errDamaged = errors.New("damaged")

func readJournal(path string) ([]Entry, error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var all journalJSON
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errDamaged, err)
	}
	if all.Format > journalFormat {
		return nil, fmt.Errorf("%s is of a newer netwatch (format %d)", path, all.Format)
	}
	if all.Format != journalFormat || slices.ContainsFunc(all.Entries, func(e Entry) bool { return e.Knob == "" || e.Boot == "" }) {
		return nil, fmt.Errorf("%s: %w: it is no journal of netwatch", path, errDamaged)
	}
	return all.Entries, nil
}

// A ledger is the journal under its lock. A nil ledger is that of a Board without
// a journal: it remembers nothing.
type ledger struct {
	*Journal
	lock    *os.File
	entries []Entry
	before  map[string]Entry // of the knobs that are being turned, by name, where they had one
}

// open takes the lock and reads the journal. A damaged one is kept aside.
func (j *Journal) open(ctx context.Context) (*ledger, error) {
	if j == nil {
		return nil, nil
	}
	if err := j.prepare(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(j.dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if err := flock(ctx, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal: %w", err)
	}
	l := &ledger{Journal: j, lock: f, before: map[string]Entry{}}
	path := filepath.Join(j.dir, journalFile)
	l.entries, err = readJournal(path)
	if errors.Is(err, errDamaged) {
		err = j.putAside(path, err)
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("journal: %w", err)
	}
	return l, nil
}

// prepare makes the directory, and refuses one in which somebody else could
// write: what is in the journal is done with root's rights.
func (j *Journal) prepare() error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(j.dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to uid %d, and this is uid %d: %w", j.dir, st.Uid, os.Geteuid(), os.ErrPermission)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others than uid %d: %w", j.dir, os.Geteuid(), os.ErrPermission)
	}
	return nil
}

// flock waits for the lock; it is gone with the process that holds it.
func flock(ctx context.Context, f *os.File) error {
	deadline := time.Now().Add(lockLimit)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		case time.Now().After(deadline):
			return fmt.Errorf("another netwatch holds %s for more than %v", f.Name(), lockLimit)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// putAside renames a damaged journal: what it said is for a person to read.
func (j *Journal) putAside(path string, damage error) error {
	aside := path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000")
	if err := os.Rename(path, aside); err != nil {
		return errors.Join(damage, err)
	}
	j.say(printable(fmt.Sprintf("%v; it is kept as %s, and what it told is not put back", damage, aside)))
	return nil
}

func (l *ledger) close() {
	if l != nil {
		l.lock.Close()
	}
}

// find is the entry of a knob in this boot and network, nil if there is none.
func (l *ledger) find(spec sources.KnobSpec) *Entry {
	if l == nil {
		return nil
	}
	for i := range l.entries {
		if e := &l.entries[i]; l.Here(*e) && e.Subject == spec.Subject && e.Knob == spec.Name {
			return e
		}
	}
	return nil
}

// begin notes that a knob whose value is old is about to be turned, and returns
// where a session puts it back to. start is for a knob without an entry.
func (l *ledger) begin(spec sources.KnobSpec, old, start, asked string) (home string) {
	if l == nil {
		return start
	}
	e := l.find(spec)
	if e != nil && !e.set(old) && old != e.Start {
		l.say(fmt.Sprintf("%s is %s, not the %s netwatch had set: its first value %s is given up", spec.Name, old, e.Value, e.Start))
		l.remove(e)
		e = nil
	}
	delete(l.before, spec.Name)
	if e != nil {
		l.before[spec.Name] = *e
	} else {
		l.entries = append(l.entries, Entry{Interface: l.iface, Subject: spec.Subject, Index: indexOf(spec.Subject), Knob: spec.Name,
			Start: start, Boot: l.boot, Net: l.net})
		e = &l.entries[len(l.entries)-1]
	}
	e.Value, e.Asked, e.Along, e.At, e.PID, e.Started = old, asked, "", time.Now(), l.pid, l.started
	return e.home()
}

// finish notes what a turn came to. A turn that changed nothing leaves the journal
// as it was; a knob that is where it started has no entry any more.
func (l *ledger) finish(spec sources.KnobSpec, old, granted string) {
	e := l.find(spec)
	if e == nil {
		return
	}
	if was, ok := l.before[spec.Name]; ok && granted == old {
		*e = was
	}
	e.Value, e.Asked, e.Along = granted, "", ""
	if granted == e.Start && e.Kept == "" {
		l.remove(e)
	}
}

// drop takes an entry out for good.
func (l *ledger) drop(e *Entry) error {
	if e == nil {
		return nil
	}
	l.remove(e)
	return l.save()
}

// keep marks a knob as kept.
func (l *ledger) keep(spec sources.KnobSpec) {
	if e := l.find(spec); e != nil {
		e.Kept, e.PID, e.Started = e.Value, 0, 0
	}
}

func (l *ledger) remove(e *Entry) {
	gone := *e
	l.entries = slices.DeleteFunc(l.entries, func(x Entry) bool { return x == gone })
}

// othersTurn is the process that turned the knob since this one did, 0 if none
// that still runs.
func (l *ledger) othersTurn(e *Entry) int {
	if e == nil || e.PID == l.pid || !l.runs(*e) {
		return 0
	}
	return e.PID
}

// runs tells whether the netwatch that turned a knob last still runs. A process that
// began at another time has only got its number. The clock of the two times has whole
// seconds, and either may be cut off.
func (j *Journal) runs(e Entry) bool {
	if e.PID == 0 || e.Boot != j.boot || errors.Is(syscall.Kill(e.PID, 0), syscall.ESRCH) {
		return false
	}
	began := startOf(e.PID)
	return e.Started == 0 || began == 0 || max(began-e.Started, e.Started-began) <= 1
}

// save replaces the journal so that it is whole at any moment, also after a power
// loss: a new file, on disk, renamed, and the name on disk. Under the lock there is one
// new file at most; one that a death left is written over.
func (l *ledger) save() error {
	if l == nil {
		return nil
	}
	b, err := json.MarshalIndent(journalJSON{journalFormat, l.entries}, "", "\t")
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, newJournalFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(l.dir, journalFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("journal: %w", err), os.Remove(f.Name()))
	}
	dir, err := os.Open(l.dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
