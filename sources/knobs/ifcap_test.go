package knobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// A kernelWord is an error as a FreeBSD kernel's number for it reads there; other
// systems word some otherwise.
type kernelWord struct {
	words string
	errno syscall.Errno
}

func (w kernelWord) Error() string { return w.words }
func (w kernelWord) Unwrap() error { return w.errno }

// wordOf is the error that a table of a real kernel's answers tells, nil for none.
func wordOf(t *testing.T, words string) error {
	t.Helper()
	switch words {
	case "<nil>":
		return nil
	case "operation not permitted":
		return kernelWord{words, syscall.EPERM}
	case "no such file or directory", "name2oid: no such file or directory":
		return kernelWord{words, syscall.ENOENT}
	case "no such process":
		return kernelWord{words, syscall.ESRCH}
	case "device not configured":
		return kernelWord{words, syscall.ENXIO}
	case "invalid argument":
		return kernelWord{words, syscall.EINVAL}
	}
	t.Fatalf("no error is worded %q", words)
	return nil
}

func table(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A capsRow is one SIOCSIFCAP that a real kernel was asked for.
type capsRow struct {
	iface, request  string // "em0", "-tso4 -tso6"
	cur, asked, now bsd.Caps
	words           string
}

func capsRows(t *testing.T, file string) (list []capsRow) {
	t.Helper()
	row := regexp.MustCompile(`SIOCSIFCAP (\w+) \[(.*?)\]: cur 0x([0-9a-f]+)<.*?> asked 0x([0-9a-f]+)<.*?> err=(.*?) \(.*?\) took \S+ -> now 0x([0-9a-f]+)<`)
	for _, r := range row.FindAllStringSubmatch(table(t, file), -1) {
		mask := func(s string) bsd.Caps {
			n, err := strconv.ParseUint(s, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return bsd.Caps(n)
		}
		list = append(list, capsRow{r[1], r[2], mask(r[3]), mask(r[4]), mask(r[6]), r[5]})
	}
	return list
}

// turn is the turn of one knob that asks for the same.
func (r capsRow) turn() (knob, value string, ok bool) {
	switch r.request {
	case "-tso4", "-tso4 -tso6":
		return "tso", "off", true
	case "+tso4":
		return "tso", "tso4", true
	case "+tso6":
		if r.cur&bsd.CapTSO4 != 0 {
			return "tso", "tso4+tso6", true
		}
		return "tso", "tso6", true
	case "-lro":
		return "lro", "off", true
	}
	return "", "", false // several knobs at once, or none of netwatch's
}

// rowCaps answers as the kernel did in one row.
type rowCaps struct {
	row       capsRow
	supported bsd.Caps
	refused   error
	wanted    []bsd.Caps
	asked     bool
}

func (c *rowCaps) get() (bsd.Caps, bsd.Caps, error) {
	if c.asked {
		return c.row.now, c.supported, nil
	}
	return c.row.cur, c.supported, nil
}

func (c *rowCaps) set(want bsd.Caps) error {
	c.wanted, c.asked = append(c.wanted, want), true
	return c.refused
}

// What netwatch asks the kernel for is what the tables of real kernels were asked for,
// bit by bit, and what it says of the answer is what they answered: the granted value,
// the kernel's word for a refusal, "needs root" where a user is refused, and nothing
// asked where nothing would change or the card has no such thing.
func TestCapabilityTables(t *testing.T) {
	supported := map[string]bsd.Caps{"15.0 em0": 0x4953dbb, "14.0 em0": 0x4953dbb, "12.1 em0": 0x91389b, // 82540EM
		"15.0 em1": 0x4f53fbb, "14.0 em1": 0x4f53fbb, // 82574L
		"15.0 lo0": 0x680003, "14.0 lo0": 0x680003}
	for file, want := range map[string]struct{ rows, turns int }{
		"15.0-ifcap-errors.txt": {6, 5}, "14.0-ifcap-errors.txt": {6, 5}, "12.1-ifcap.txt": {4, 4},
		"15.0-tso-toggle.txt": {9, 6}, "14.0-tso-toggle.txt": {9, 6}, "15.0-tso-off.txt": {1, 1}, "15.0-tso-on.txt": {1, 1},
	} {
		rows, turns := capsRows(t, file), 0
		for _, r := range rows {
			knob, value, ok := r.turn()
			if !ok {
				continue
			}
			turns++
			caps := &rowCaps{row: r, supported: supported[file[:4]+" "+r.iface], refused: wordOf(t, r.words)}
			playCaps(t, file, caps, knob, value)
		}
		if len(rows) != want.rows || turns != want.turns {
			t.Errorf("%s: %d rows, %d turns", file, len(rows), turns)
		}
	}
}

func playCaps(t *testing.T, file string, caps *rowCaps, knob, value string) {
	t.Helper()
	r, at := caps.row, fmt.Sprintf("%s: %s [%s]", file, caps.row.iface, caps.row.request)
	locked := ""
	if errors.Is(caps.refused, os.ErrPermission) {
		locked = NeedsRoot
	}
	l := &log{}
	list := freebsdList(device{r.iface, strings.TrimRight(r.iface, "0123456789"), 0, caps}, newFake(), nil, locked)
	err := New(l, list...).Turn(t.Context(), "", knob, value)
	bits := map[string][]bsd.Caps{"tso": {bsd.CapTSO4, bsd.CapTSO6}, "lro": {bsd.CapLRO}}[knob]
	said := func(caps bsd.Caps) string {
		var on uint32
		for i, bit := range bits {
			if caps&bit != 0 {
				on |= 1 << i
			}
		}
		return word(byName(list, knob).(offload).parts, on)
	}
	switch {
	case caps.supported&(bsd.CapTSO4|bsd.CapTSO6) == 0:
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), r.iface+" cannot do TSO") || caps.wanted != nil {
			t.Errorf("%s: %v, %v", at, err, caps.wanted)
		}
		return
	case locked != "":
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "needs root: sudo ifconfig em0 tso") || caps.wanted != nil {
			t.Errorf("%s: %v, %v", at, err, caps.wanted)
		}
		return
	case err != nil || len(l.events) != 2:
		t.Errorf("%s: %v, %+v", at, err, l.events)
		return
	}
	want := fmt.Sprintf("%s %s>%s>%s", sources.KnobTurned, said(r.cur), value, said(r.now))
	if caps.refused != nil {
		want = fmt.Sprintf("%s %s>%s>%s", sources.KnobFailed, said(r.cur), value, said(r.now))
	}
	e := l.events[1]
	if got := fmt.Sprintf("%s %s>%s>%s", e.Kind, e.Old, e.Asked, e.New); got != want {
		t.Errorf("%s: %s, want %s", at, got, want)
	}
	if caps.refused != nil && !strings.HasPrefix(e.Text, r.words) {
		t.Errorf("%s: %q, want %s", at, e.Text, r.words)
	}
	if changes := r.asked != r.cur; changes != (len(caps.wanted) == 1) || changes && caps.wanted[0] != r.asked {
		t.Errorf("%s: the kernel is asked for %#x, want %#x", at, caps.wanted, uint32(r.asked))
	}
}

// Every mask of the tables has the words beside it, and after the refusals em0 is as it was.
func TestMasksHaveTheirWords(t *testing.T) {
	pair := regexp.MustCompile(`0x([0-9a-f]+)<([A-Z0-9_,]*)>`)
	files, err := filepath.Glob("testdata/1*.txt")
	if err != nil {
		t.Fatal(err)
	}
	masks := 0
	for _, path := range files {
		for _, p := range pair.FindAllStringSubmatch(table(t, filepath.Base(path)), -1) {
			masks++
			n, _ := strconv.ParseUint(p[1], 16, 32)
			if got := bsd.Caps(n).String(); got != p[2] {
				t.Errorf("%s: %s is %s, want %s", path, p[1], got, p[2])
			}
		}
	}
	if masks < 3*(6+6+4+9+9+1+1) { // three of each request
		t.Errorf("%d masks", masks)
	}
	if after := table(t, "15.0-caps-after-errors.txt"); !strings.Contains(after, "req(supported)=0x4953dbb<") || !strings.Contains(after, "cur(enabled)=0x48525bb<") {
		t.Error(after)
	}
}

// The kernel's word for an interface that is not there. It is asked about when the
// interface goes while netwatch runs.
func TestCapabilitiesOfACardThatWent(t *testing.T) {
	if n := strings.Count(table(t, "15.0-ifcap-errors.txt"), "ifcap: error: device not configured\n"); n != 2 {
		t.Fatal(n)
	}
	caps := &fakeCaps{enabled: 0x48525bb, supported: 0x4953dbb}
	b := New(&log{}, freebsdList(device{"em0", "em", 0, caps}, newFake(), nil, "")...)
	caps.err = fmt.Errorf("em0: %w: %w", wordOf(t, "device not configured"), os.ErrNotExist)
	err := b.Turn(t.Context(), "", "tso", "off")
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "tso cannot be read: em0: device not configured") || caps.sets != 0 {
		t.Error(err, caps.sets)
	}
}
