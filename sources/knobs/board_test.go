package knobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

// A fakeKernel is variables that refuse, mask, take their time and write back.
type fakeKernel struct {
	mu     sync.Mutex
	values map[string]string
	refuse map[string]error                           // set fails
	grant  map[string]func(old, asked string) string  // what a set comes to
	slow   time.Duration                              // how long a set takes
	after  func(values map[string]string, set string) // side effects
}

func newFake(pairs ...string) *fakeKernel {
	k := &fakeKernel{values: map[string]string{}, refuse: map[string]error{}, grant: map[string]func(old, asked string) string{}}
	for i := 0; i < len(pairs); i += 2 {
		k.values[pairs[i]] = pairs[i+1]
	}
	return k
}

func (k *fakeKernel) get(name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.values[name]
	if !ok {
		return "", fmt.Errorf("sysctl %s: %w", name, os.ErrNotExist)
	}
	return v, nil
}

func (k *fakeKernel) set(name, value string) error {
	time.Sleep(k.slow)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refuse[name]; err != nil {
		return err
	}
	if grant := k.grant[name]; grant != nil {
		value = grant(k.values[name], value)
	}
	k.values[name] = value
	if k.after != nil {
		k.after(k.values, name)
	}
	return nil
}

func (k *fakeKernel) put(name, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values[name] = value
}

func (k *fakeKernel) take(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.values, name)
}

func knob(k *fakeKernel, name string, values ...string) sources.Knob {
	return variable{spec: sources.KnobSpec{Name: name, Values: values, Command: "sudo sysctl " + name + "=%s"}, name: name, kernel: k}
}

type log struct {
	mu     sync.Mutex
	events []sources.Event
}

func (l *log) Sample(sources.Sample) {}
func (l *log) Event(e sources.Event) { l.mu.Lock(); l.events = append(l.events, e); l.mu.Unlock() }

// story is the events as "kind subject old>asked>new".
func (l *log) story() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		list = append(list, fmt.Sprintf("%s %s %s>%s>%s", e.Kind, e.Subject, e.Old, e.Asked, e.New))
	}
	return list
}

func (l *log) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := l.story(); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

var einval = fmt.Errorf("em4: %w", errors.New("invalid argument"))

func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(k *fakeKernel)
		value   string
		want    []string
		changed []Change
		text    string
	}{
		{name: "granted", value: "2",
			want:    []string{"knob-turning aim 1>2>", "knob-turned aim 1>2>2"},
			changed: []Change{{"aim", "1", "2"}}},
		{name: "to what it is", value: "1",
			want: []string{"knob-turning aim 1>1>", "knob-turned aim 1>1>1"}},
		{name: "granted something else", value: "2", spoil: func(k *fakeKernel) {
			k.grant["aim"] = func(_, _ string) string { return "0" } // r14 writes 0 back with jumbo frames
		}, want: []string{"knob-turning aim 1>2>", "knob-turned aim 1>2>0"}, changed: []Change{{"aim", "1", "0"}}},
		{name: "refused", value: "2", spoil: func(k *fakeKernel) { k.refuse["aim"] = einval }, text: "em4: invalid argument",
			want: []string{"knob-turning aim 1>2>", "knob-failed aim 1>2>1"}},
		{name: "another knob moves with it", value: "2", spoil: func(k *fakeKernel) {
			k.after = func(v map[string]string, _ string) { v["lro"] = "off" }
		}, want: []string{"knob-turning aim 1>2>", "knob-turned aim 1>2>2", "knob-drifted lro on>>off"},
			changed: []Change{{"aim", "1", "2"}}},
		{name: "words of a driver with control characters", value: "2", text: "em4:  [31mno ",
			spoil: func(k *fakeKernel) { k.refuse["aim"] = errors.New("em4: \x1b[31mno\n") },
			want:  []string{"knob-turning aim 1>2>", "knob-failed aim 1>2>1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, l := newFake("aim", "1", "lro", "on"), &log{}
			b := New(l, knob(k, "aim", "0", "1", "2"), knob(k, "lro"))
			b.known["aim"], b.known["lro"] = "1", "on"
			if c.spoil != nil {
				c.spoil(k)
			}
			if err := b.Turn(t.Context(), "", "aim", c.value); err != nil {
				t.Fatal(err)
			}
			l.expect(t, c.want...)
			if !slices.Equal(b.Changed(), c.changed) {
				t.Errorf("changed %v, want %v", b.Changed(), c.changed)
			}
			last := l.events[1]
			if !strings.HasPrefix(last.Text, c.text) || last.Error != (last.Kind == sources.KnobFailed) || last.Source != "knobs" {
				t.Errorf("%+v", last)
			}
		})
	}
}

// The span of KnobTurned is how long the kernel took: 1.2 s for TSO on em(4).
func TestTurnTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, l := newFake("tso", "on"), &log{}
		k.slow = 1200 * time.Millisecond
		if err := New(l, knob(k, "tso")).Turn(t.Context(), "", "tso", "off"); err != nil {
			t.Fatal(err)
		}
		if e := l.events[1]; e.Span != k.slow || e.At.Sub(l.events[0].At) != k.slow {
			t.Errorf("%+v", e)
		}
	})
}

func TestTurnThatCannotBeTried(t *testing.T) {
	k, l := newFake("aim", "1"), &log{}
	locked := variable{spec: sources.KnobSpec{Name: "lro", Locked: "em4 cannot do LRO"}, name: "lro", kernel: k}
	user := variable{spec: sources.KnobSpec{Name: "cc", Locked: NeedsRoot, Command: "sudo sysctl cc=%s"}, name: "cc", kernel: k}
	b := New(l, knob(k, "aim"), knob(k, "siftr"), locked, user, knob(k, "bool", "0", "1"))
	for _, c := range []struct {
		host, knob string
		is         error
		words      string
	}{
		{"", "bool", ErrValue, `bool takes 0, 1, not "2"`},
		{"", "aimm", os.ErrNotExist, "there are aim, siftr, lro, cc, bool"},
		{"r1", "aim", errors.ErrUnsupported, "host r1"},
		{"", "siftr", os.ErrNotExist, "siftr cannot be read"},
		{"", "lro", errors.ErrUnsupported, "em4 cannot do LRO"},
		{"", "cc", os.ErrPermission, "sudo sysctl cc=2"},
	} {
		err := b.Turn(t.Context(), c.host, c.knob, "2")
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.knob, err)
		}
	}
	l.expect(t)
}

func TestRestore(t *testing.T) {
	k, l := newFake("aim", "1", "tso", "on", "cc", "cubic"), &log{}
	b := New(l, knob(k, "aim"), knob(k, "tso"), knob(k, "cc"))
	for _, turn := range [][2]string{{"aim", "2"}, {"tso", "off"}, {"aim", "0"}, {"cc", "reno"}, {"cc", "cubic"}} {
		if err := b.Turn(t.Context(), "", turn[0], turn[1]); err != nil {
			t.Fatal(err)
		}
	}
	// cc is back already; aim's start is the first value, not the one before.
	want := []Change{{"aim", "1", "0"}, {"tso", "on", "off"}}
	if !slices.Equal(b.Changed(), want) {
		t.Fatalf("changed %v", b.Changed())
	}
	l.events = nil
	var wg sync.WaitGroup
	for range 2 { // a signal and a panic at once
		wg.Go(func() {
			if err := b.Restore(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l.expect(t, "knob-turning tso off>on>", "knob-turned tso off>on>on", "knob-turning aim 0>1>", "knob-turned aim 0>1>1")
	if len(b.Changed()) != 0 || k.values["aim"] != "1" || k.values["tso"] != "on" {
		t.Errorf("%v %v", b.Changed(), k.values)
	}
}

// enable_aim takes 7 and gives it back: what was there before netwatch returns,
// although no turn may ask for it.
func TestRestoreOfAnOddValue(t *testing.T) {
	k := newFake("aim", "7")
	b := New(&log{}, knob(k, "aim", "0", "1", "2"))
	if err := b.Turn(t.Context(), "", "aim", "2"); err != nil {
		t.Fatal(err)
	}
	if err := b.Restore(t.Context()); err != nil || k.values["aim"] != "7" {
		t.Error(err, k.values)
	}
}

func TestRestoreLeavesOthersTurns(t *testing.T) {
	k, l := newFake("aim", "1"), &log{}
	b := New(l, knob(k, "aim"))
	if err := b.Turn(t.Context(), "", "aim", "2"); err != nil {
		t.Fatal(err)
	}
	k.put("aim", "0") // somebody else
	l.events = nil
	if err := b.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	if len(l.events) != 1 || !strings.Contains(l.events[0].Text, "aim is left at 0") || k.values["aim"] != "0" || len(b.Changed()) != 0 {
		t.Errorf("%+v", l.events)
	}
}

func TestRestoreFailsAndSucceedsLater(t *testing.T) {
	k, l := newFake("aim", "1", "tso", "on", "lro", "on"), &log{}
	b := New(l, knob(k, "aim"), knob(k, "tso"), knob(k, "lro"))
	for _, name := range []string{"aim", "tso", "lro"} {
		if err := b.Turn(t.Context(), "", name, "off"); err != nil {
			t.Fatal(err)
		}
	}
	k.refuse["tso"] = einval
	k.grant["lro"] = func(old, _ string) string { return old } // says yes and does nothing
	err := b.Restore(t.Context())
	if err == nil || !strings.Contains(err.Error(), "tso is off and was on: em4: invalid argument") ||
		!strings.Contains(err.Error(), "lro is off and was on: asked for on, got off") || strings.Contains(err.Error(), "aim") {
		t.Error(err)
	}
	if k.values["aim"] != "1" || len(b.Changed()) != 2 {
		t.Errorf("%v, changed %v", k.values, b.Changed())
	}
	clear(k.refuse)
	clear(k.grant)
	if err := b.Restore(t.Context()); err != nil || len(b.Changed()) != 0 {
		t.Error(err, b.Changed())
	}
}

// watchFor runs the board as a source while script acts.
func watchFor(t *testing.T, k *fakeKernel, script func(b *Board), names ...string) *log {
	l := &log{}
	synctest.Test(t, func(t *testing.T) {
		var list []sources.Knob
		for _, n := range names {
			list = append(list, knob(k, n))
		}
		list = append(list, absent{sources.KnobSpec{Name: "gone", Locked: "veth0 has none"}})
		b := New(l, list...)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Run(ctx, l) }()
		time.Sleep(pollEvery / 2)
		script(b)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestSeenAndDrifted(t *testing.T) {
	k := newFake("aim", "1", "tso", "on")
	l := watchFor(t, k, func(b *Board) {
		if err := b.Turn(t.Context(), "", "aim", "2"); err != nil { // netwatch's own turn is no drift
			t.Error(err)
		}
		time.Sleep(3 * pollEvery)
		k.put("tso", "off") // the driver masks it at 100 Mbit/s
		time.Sleep(3 * pollEvery)
	}, "aim", "tso")
	l.expect(t, "knob-seen aim >>1", "knob-seen tso >>on", "knob-seen gone >>",
		"knob-turning aim 1>2>", "knob-turned aim 1>2>2", "knob-drifted tso on>>off")
	if drifted := l.events[5]; drifted.Span != pollEvery { // within what time it was
		t.Errorf("%+v", drifted)
	}
	if s := l.events[0].Knob; s == nil || s.Name != "aim" || l.events[2].Knob.Locked != "veth0 has none" {
		t.Errorf("%+v", l.events)
	}
}

// A module that is loaded and unloaded while netwatch looks.
func TestKnobComesAndGoes(t *testing.T) {
	k := newFake()
	l := watchFor(t, k, func(*Board) {
		time.Sleep(2 * pollEvery)
		k.put("siftr", "0")
		time.Sleep(2 * pollEvery)
		k.take("siftr")
		time.Sleep(2 * pollEvery)
		k.put("siftr", "1")
		time.Sleep(2 * pollEvery)
	}, "siftr")
	l.expect(t, "knob-seen gone >>", "knob-seen siftr >>0", "knob-seen siftr >>", "source-note siftr >>",
		"knob-seen siftr >>1", "knob-drifted siftr 0>>1")
}

func TestNames(t *testing.T) {
	b := New(&log{}, knob(newFake(), "aim"), knob(newFake(), "tso"))
	if specs := b.Specs(); len(specs) != 2 || specs[1].Name != "tso" || b.Name() != "knobs" {
		t.Error(specs, b.Name())
	}
}
