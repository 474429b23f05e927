package knobs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"netwatch/parsers/bsd"
	"netwatch/sources"
)

// A setRow is one set of a sysctl that a real kernel was asked for, and what the name
// read afterwards, where that was looked at.
type setRow struct {
	name, value, words string
	after              string
	looked             bool
}

func setRows(t *testing.T, file string) (list []setRow) {
	t.Helper()
	row := regexp.MustCompile(`^sysctl ([\w.]+)=(.*): err=(.*)$`)
	for line := range strings.Lines(table(t, file)) {
		line = strings.TrimRight(line, "\r\n") // some are of a console
		if r := row.FindStringSubmatch(line); r != nil {
			list = append(list, setRow{name: r[1], value: r[2], words: r[3]})
			continue
		}
		if n := len(list) - 1; n >= 0 && !list[n].looked {
			list[n].after, list[n].looked = strings.CutPrefix(line, list[n].name+": ")
		}
	}
	return list
}

// readOnly are the kinds of what nobody can set: a counter of em0, as the kernel gave it,
// the loader's tunables of em and a constant.
var readOnly = map[string]uint32{
	"dev.em.0.queue_rx_0.interrupt_rate": 0x82000006,
	"hw.em.max_interrupt_rate":           0x80080002, "hw.em.rx_int_delay": 0x80080002, "hw.em.unsupported_tso": 0x80080002,
	"kern.ostype": 0x80000003,
}

func kindOf(name string) []byte {
	if n := readOnly[name]; n != 0 {
		return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
	}
	return []byte{2, 0, 0, 0xc2} // dev.em.0.fc
}

// playedKernel answers as the kernel did in one row.
type playedKernel struct {
	row    setRow
	before string
	err    error
	asked  int
}

func (k *playedKernel) get(name string) (string, error) {
	switch {
	case strings.HasPrefix(k.row.words, "name2oid"):
		return "", fmt.Errorf("sysctl %s: %w", name, k.err)
	case k.asked == 0:
		return k.before, nil
	}
	return k.after(), nil
}

func (k *playedKernel) after() string {
	switch {
	case k.row.looked:
		return k.row.after
	case k.err != nil:
		return k.before
	}
	return k.row.value
}

func (k *playedKernel) set(name, value string) error {
	k.asked++
	if k.err == nil {
		return nil
	}
	return refusal(fmt.Errorf("sysctl %s: %w", name, k.err), kindOf(name))
}

// What netwatch says of each set that real kernels were asked for is what they
// answered: the value that was read back, the kernel's word for a refusal and the old
// value kept (or the refused log's name, which they do take), of a name that nobody can
// set the reason, "needs root" to a user, and no such name.
func TestSetTables(t *testing.T) {
	for file, want := range map[string]struct{ rows, refused, needsRoot, missing int }{
		"15.0-sysctl-set-errors.txt": {38, 9, 2, 1}, "14.0-sysctl-set-errors.txt": {38, 8, 2, 6},
		"14.0-itr.txt": {8, 2, 0, 0}, "12.1-itr.txt": {11, 3, 0, 0}, "siftr-1.2.4-errors.txt": {15, 4, 1, 1},
		"siftr-1.3.0-experiments.txt": {15, 3, 0, 0}, "siftr2-2.5-errors.txt": {9, 0, 8, 1},
	} {
		rows := setRows(t, file)
		values := map[string]string{}
		var refused, needsRoot, missing int
		for _, r := range rows {
			k := &playedKernel{row: r, before: values[r.name], err: wordOf(t, r.words)}
			if _, known := values[r.name]; !known {
				k.before = "unknown"
				if r.looked && k.err != nil {
					k.before = r.after
				}
			}
			at := fmt.Sprintf("%s: %s=%s", file, r.name, r.value)
			switch {
			case strings.HasPrefix(r.words, "name2oid"):
				missing++
				playMissing(t, at, k)
			case errors.Is(k.err, os.ErrPermission) && readOnly[r.name] == 0:
				needsRoot++
				playUser(t, at, k)
			default:
				if k.err != nil {
					refused++
				}
				playSet(t, at, k)
				values[r.name] = k.after()
			}
		}
		if got := fmt.Sprint(len(rows), refused, needsRoot, missing); got != fmt.Sprint(want.rows, want.refused, want.needsRoot, want.missing) {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func playedKnob(k *playedKernel, locked string) sources.Knob {
	return variable{spec: sources.KnobSpec{Name: "sysctl:" + k.row.name, Command: "sudo sysctl " + k.row.name + "=%s", Locked: locked},
		name: k.row.name, kernel: k}
}

func playSet(t *testing.T, at string, k *playedKernel) {
	t.Helper()
	l := &log{}
	name := "sysctl:" + k.row.name
	turn(t, New(l, playedKnob(k, "")), name, k.row.value)
	kind := sources.KnobTurned
	if k.err != nil {
		kind = sources.KnobFailed
	}
	e := l.events[1]
	got := fmt.Sprintf("%s %s>%s>%s", e.Kind, e.Old, e.Asked, e.New)
	if want := fmt.Sprintf("%s %s>%s>%s", kind, k.before, k.row.value, k.after()); got != want || k.asked != 1 {
		t.Errorf("%s: %s, want %s", at, got, want)
	}
	words := ""
	if k.err != nil {
		words = "sysctl " + k.row.name + ": " + k.row.words
	}
	switch {
	case readOnly[k.row.name] == 0:
	case strings.HasPrefix(k.row.name, "hw.em."):
		words += ": it is a read only tunable, which is set in /boot/loader.conf"
	default:
		words += ": it is read only"
	}
	if e.Text != words {
		t.Errorf("%s: %q, want %q", at, e.Text, words)
	}
}

func playUser(t *testing.T, at string, k *playedKernel) {
	t.Helper()
	l := &log{}
	err := New(l, playedKnob(k, NeedsRoot)).Turn(t.Context(), "", "sysctl:"+k.row.name, k.row.value)
	want := fmt.Sprintf("sysctl:%s needs root: sudo sysctl %s=%s", k.row.name, k.row.name, k.row.value)
	if !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), want) || k.asked != 0 || len(l.events) != 0 {
		t.Errorf("%s: %v, want %s", at, err, want)
	}
}

func playMissing(t *testing.T, at string, k *playedKernel) {
	t.Helper()
	err := New(&log{}, playedKnob(k, "")).Turn(t.Context(), "", "sysctl:"+k.row.name, k.row.value)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "cannot be read: sysctl "+k.row.name) || k.asked != 0 {
		t.Errorf("%s: %v", at, err)
	}
}

// What sysctl(8) says of em4's knob, of a user's turn, of a tunable and of a name that
// is not there, netwatch says too, in its own form.
func TestAsSysctlSays(t *testing.T) {
	const aim = "dev.em.4.enable_aim"
	said := strings.TrimSpace(table(t, "made-sysctl_set_enable_aim.txt"))
	l := &log{}
	b := New(l, freebsdList(device{"em4", "em", 4, &fakeCaps{}}, newFake(aim, "1"), nil, "")...)
	turn(t, b, "aim", "2")
	if e := l.events[1]; said != aim+": "+e.Old+" -> "+e.New {
		t.Errorf("%+v, want %s", e, said)
	}
	if said := table(t, "made-sysctl_set_enable_aim_notroot.txt"); !strings.Contains(said, "dev.em.4.enable_aim=2: Operation not permitted") {
		t.Fatal(said)
	}
	b = New(&log{}, freebsdList(device{"em4", "em", 4, &fakeCaps{}}, newFake(aim, "1"), nil, NeedsRoot)...)
	if err := b.Turn(t.Context(), "", "aim", "2"); !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), "aim needs root: sudo sysctl dev.em.4.enable_aim=2") {
		t.Error(err)
	}
	tunable := table(t, "made-sysctl_tunable_readonly.txt")
	err := refusal(syscall.EPERM, kindOf("hw.em.unsupported_tso"))
	for _, words := range []string{"a read only tunable", "set in /boot/loader.conf"} {
		if !strings.Contains(tunable, words) || !strings.Contains(err.Error(), words) || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%v, want %s", err, tunable)
		}
	}
	if err := refusal(syscall.EINVAL, kindOf("hw.em.unsupported_tso")); err != syscall.EINVAL {
		t.Error(err)
	}
	_, err = variable{name: "dev.em.9.enable_aim", kernel: newFake()}.Get(t.Context())
	if said := table(t, "made-sysctl_unknown_oid.txt"); !strings.Contains(said, "dev.em.9.enable_aim") || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "dev.em.9.enable_aim") {
		t.Error(err)
	}
}

// What the kernels took and netwatch does not send, for it would come to something else:
// -1 of an unsigned number reads back as 4294967295, and a port of 70000 as 4464.
func TestNotSent(t *testing.T) {
	for _, c := range []struct {
		kind  bsd.SysctlType
		size  int
		value string
	}{{bsd.TypeUint, 4, "-1"}, {bsd.TypeU16, 2, "70000"}} {
		if b, err := bsd.AppendWord(nil, c.kind, c.size, c.value); !errors.Is(err, bsd.ErrFormat) {
			t.Errorf("%s is sent as % x: %v", c.value, b, err)
		}
	}
}

// The boot's name is its 16 random octets; where the kernel has no such name (12.1), or
// not enough randomness yet, the seconds of the boot's time, without the rest of it.
func TestBootName(t *testing.T) {
	for _, release := range []string{"14.0", "15.0"} {
		id, err1 := os.ReadFile(filepath.Join("testdata", release+"-kern.boot_id.bin"))
		at, err2 := os.ReadFile(filepath.Join("testdata", release+"-kern.boottime.bin"))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		replies := map[string]string{"kern.boot_id": string(id), "kern.boottime": string(at)}
		read := func(name string) ([]byte, error) { return readOf(replies, name) }
		if got, err := bootName(read); err != nil || got != hex.EncodeToString(id) || len(got) != 32 {
			t.Errorf("%s: %q, %v", release, got, err)
		}
		for _, none := range []error{os.ErrNotExist, syscall.ENXIO} {
			got, err := bootName(func(name string) ([]byte, error) {
				if name == "kern.boot_id" {
					return nil, none
				}
				return read(name)
			})
			want := map[string]string{"14.0": "216e0d6b00000000", "15.0": "fe6d0d6b00000000"}[release]
			if got != want || err != nil {
				t.Errorf("%s without: %q, %v", release, got, err)
			}
		}
	}
	if got, err := bootName(func(string) ([]byte, error) { return nil, syscall.EPERM }); got != "" || err == nil {
		t.Error(got, err)
	}
}
