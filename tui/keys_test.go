package tui

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/panes"
	"netwatch/tui/theme"
)

var start = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

// A bench is a model with what it acts on.
type bench struct {
	*model
	turns []string // "host/knob=value"
	fails error
	load  fakeLoad
}

func (b *bench) Turn(_ context.Context, host, knob, value string) error {
	b.turns = append(b.turns, host+"/"+knob+"="+value)
	return b.fails
}

type fakeLoad struct {
	running         bool
	starts, stopped int
}

func (l *fakeLoad) Start() error  { l.starts++; l.running = true; return nil }
func (l *fakeLoad) Stop()         { l.stopped++ }
func (l *fakeLoad) Running() bool { return l.running }

var knobs = []struct {
	value string
	spec  sources.KnobSpec
}{
	{"1", sources.KnobSpec{Name: "aim", Values: []string{"0", "1", "2"}, Meanings: []string{"off", "bulk", "low latency"}}},
	{"on", sources.KnobSpec{Name: "tso", Values: []string{"off", "on"}, Disruption: sources.LinkReset}},
	{"1", sources.KnobSpec{Name: "tcp.tso", Values: []string{"0", "1"}}},
	{"on", sources.KnobSpec{Name: "lro", Values: []string{"off", "on"}, Locked: "needs root", Command: "ifconfig em4 lro %s"}},
}

// newBench has a session of ten minutes, the knobs above and a load, at 120x40.
func newBench(change func(*Config)) *bench {
	b := &bench{}
	s := experiment.New(experiment.Options{Start: start, Interface: "em4"})
	first := sources.Batch{At: start}
	for _, k := range knobs {
		first.Events = append(first.Events, sources.Event{At: start, Kind: sources.KnobSeen, Subject: k.spec.Name, New: k.value, Knob: &k.spec})
	}
	s.Apply(first)
	s.Apply(sources.Batch{At: start.Add(10 * time.Minute)})
	cfg := Config{Session: s, Turner: b, Load: &b.load, Theme: theme.Options{Colours: theme.None}}
	if change != nil {
		change(&cfg)
	}
	b.model = newModel(context.Background(), cfg)
	b.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	return b
}

// turned tells the session that a knob has a new value.
func (b *bench) turned(knob, old, value string) {
	s := b.cfg.Session
	s.Apply(sources.Batch{At: s.Now(), Events: []sources.Event{{At: s.Now(), Kind: sources.KnobTurned, Subject: knob, Old: old, Asked: value, New: value}}})
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"space": {Code: tea.KeySpace, Text: " "}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"backspace": {Code: tea.KeyBackspace}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+l": {Code: 'l', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl},
}

// press presses keys, runs the command of each and feeds its message back. It
// says whether the last one quit.
func (b *bench) press(keys string) (quit bool) {
	for _, key := range strings.Fields(keys) {
		msg, ok := named[key]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		_, cmd := b.Update(msg)
		quit = false
		for cmd != nil {
			out := cmd()
			if _, quit = out.(tea.QuitMsg); quit || out == nil {
				break
			}
			_, cmd = b.Update(out)
		}
	}
	return quit
}

func TestTurns(t *testing.T) {
	tests := []struct {
		name, keys string
		want       []string
		footer     string // what the footer then says
	}{
		{"a asks", "a", nil, "aim  0 off  [1] bulk  2 low latency"},
		{"a digit turns at once", "a 2", []string{"/aim=2"}, "q quit"},
		{"another key is no answer", "a x", nil, "aim  0 off"},
		{"a value there is none for", "a 7", nil, "aim  0 off"},
		{"Esc leaves", "a esc", nil, "q quit"},
		{"the value it has", "a 1", nil, "aim is 1 already"},
		{"t warns", "t", nil, "the link will drop for seconds"},
		{"t and Enter", "t enter", []string{"/tso=off"}, "q quit"},
		{"t and Esc", "t esc", nil, "q quit"},
		{"t and a letter", "t y", nil, "the link will drop for seconds"},
		{"T turns at once", "T", []string{"/tcp.tso=0"}, "q quit"},
		{"knobs page: a digit is a page", "K 2", nil, "q quit"},
		{"knobs page: a then a digit", "K a 2", []string{"/aim=2"}, "left/right turns"},
		{"knobs page: right", "K right", []string{"/aim=2"}, "q quit"},
		{"knobs page: left goes around", "K j j left", []string{"/tcp.tso=0"}, "q quit"},
		{"knobs page: left and Enter", "K j left enter", []string{"/tso=off"}, "q quit"},
		{"knobs page: no such page", "K 9", nil, "there are pages 1 to 6"},
		{"knobs page: nought", "K 0", nil, `"0" does nothing here`},
		{"knobs page: locked", "K G right", nil, "lro is locked: needs root; by hand: ifconfig em4 lro off"},
		{"nothing to undo", "K U", nil, "nothing was turned"},
		{"nothing to restore", "K R", nil, "every knob is as it was at the start"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(nil)
			b.press(c.keys)
			if !slices.Equal(b.turns, c.want) {
				t.Errorf("turned %v, want %v", b.turns, c.want)
			}
			if got := b.footer(); !strings.HasPrefix(got, c.footer) && !strings.Contains(got, c.footer) {
				t.Errorf("footer says %q, want %q", got, c.footer)
			}
		})
	}
}

func (b *bench) footer() string {
	lines := strings.Split(b.View().Content, "\n")
	return lines[len(lines)-1]
}

func TestWhyNot(t *testing.T) {
	t.Run("read only", func(t *testing.T) {
		b := newBench(func(c *Config) { c.Turner, c.ReadOnly = nil, "needs root: run as root" })
		for _, keys := range []string{"a", "t", "T", "K right"} {
			b.press(keys)
			if !strings.HasPrefix(b.footer(), "needs root") {
				t.Errorf("%s: footer says %q", keys, b.footer())
			}
			b.press("esc")
		}
	})
	t.Run("no such knob", func(t *testing.T) {
		b := newBench(func(c *Config) { c.Session = experiment.New(experiment.Options{Start: start, Interface: "lo"}) })
		b.press("a")
		if !strings.HasPrefix(b.footer(), "no aim here") {
			t.Errorf("footer says %q", b.footer())
		}
	})
	t.Run("a turn that fails", func(t *testing.T) {
		b := newBench(nil)
		b.fails = errors.New("the agent is gone")
		b.press("a 2")
		if !strings.HasPrefix(b.footer(), "the agent is gone") {
			t.Errorf("footer says %q", b.footer())
		}
	})
	t.Run("a turn under way", func(t *testing.T) {
		b := newBench(nil)
		b.key("T") // its command has not run yet
		b.press("a")
		if !strings.HasPrefix(b.footer(), "tcp.tso is being turned") {
			t.Errorf("footer says %q", b.footer())
		}
	})
	t.Run("keys without a use", func(t *testing.T) {
		b := newBench(func(c *Config) { c.Load = nil })
		for keys, want := range map[string]string{
			"i": "no load was given", "j": "no rows here", "l": "this is the present", "x": `"x" does nothing here`,
			"9": "there are pages 1 to 6", "5 y": "that moves the charts", "1 + +": "the window is 30 s to 1 h",
		} {
			b.press(keys)
			if !strings.HasPrefix(b.footer(), want) {
				t.Errorf("%s: footer says %q, want %q", keys, b.footer(), want)
			}
		}
	})
}

// TestOwnLink wants Enter twice where the terminal hangs on the link.
func TestOwnLink(t *testing.T) {
	b := newBench(func(c *Config) { c.OverLink = true })
	b.press("t enter")
	if len(b.turns) != 0 || !strings.HasPrefix(b.footer(), "this terminal hangs on that link") {
		t.Errorf("turned %v after one Enter, footer says %q", b.turns, b.footer())
	}
	if b.press("enter"); !slices.Equal(b.turns, []string{"/tso=off"}) {
		t.Errorf("turned %v after two", b.turns)
	}
}

// Each U goes one turn further back; what is turned after one is undone first. A knob
// that somebody else put back needs no undoing.
func TestUndoWalksBack(t *testing.T) {
	b := newBench(nil)
	u := func(want string) {
		t.Helper()
		b.turns = nil
		b.press("K U")
		if got := strings.Join(b.turns, " "); got != want {
			t.Fatalf("U turned %q, want %q; footer %q", got, want, b.footer())
		}
	}
	b.turned("aim", "1", "2")
	b.turned("tcp.tso", "1", "0")
	b.turned("aim", "2", "0")
	u("/aim=2")
	b.turned("aim", "0", "2")
	u("/tcp.tso=1")
	b.turned("tcp.tso", "0", "1")
	b.turned("aim", "2", "0") // another turn in between
	u("/aim=2")
	b.turned("aim", "0", "2")
	u("/aim=1")
	b.turned("aim", "2", "1")
	if u(""); !strings.HasPrefix(b.footer(), "nothing was turned") {
		t.Errorf("footer says %q", b.footer())
	}
	b.turned("aim", "1", "2")
	b.turned("tcp.tso", "1", "0")
	b.cfg.Session.Apply(sources.Batch{At: b.cfg.Session.Now(), Events: []sources.Event{
		{At: b.cfg.Session.Now(), Kind: sources.KnobDrifted, Subject: "tcp.tso", Old: "0", New: "1"}}})
	u("/aim=1")
}

func TestUndoAndRestore(t *testing.T) {
	b := newBench(nil)
	b.turned("aim", "1", "2")
	b.turned("tcp.tso", "1", "0")
	b.press("K U")
	if want := []string{"/tcp.tso=1"}; !slices.Equal(b.turns, want) {
		t.Errorf("undo turned %v, want %v", b.turns, want)
	}
	b.turns = nil
	b.press("R")
	slices.Sort(b.turns)
	if want := []string{"/aim=1", "/tcp.tso=1"}; !slices.Equal(b.turns, want) {
		t.Errorf("restore turned %v, want %v", b.turns, want)
	}
	b.turned("tso", "on", "off")
	b.turns = nil
	b.press("R")
	if len(b.turns) != 0 || !strings.Contains(b.footer(), "the link will drop") {
		t.Errorf("restore did not warn: %v, %q", b.turns, b.footer())
	}
	b.press("enter")
	if len(b.turns) != 3 {
		t.Errorf("restore turned %v", b.turns)
	}
}

func TestLoad(t *testing.T) {
	b := newBench(nil)
	b.load.running = true
	b.press("i")
	if !strings.HasPrefix(b.footer(), "the load is running") || b.load.starts != 0 {
		t.Errorf("a running load was started: %q", b.footer())
	}
	if b.press("ctrl+c") || b.load.stopped != 1 {
		t.Error("the first Ctrl-C must stop the load, not quit")
	}
	b.load.running = false
	b.press("i")
	if b.load.starts != 1 {
		t.Error("i did not start the load again")
	}
	if b.press("ctrl+c"); b.load.stopped != 2 {
		t.Error("the load that was started again was not stopped")
	}
	if !b.press("ctrl+c") {
		t.Error("the second Ctrl-C must quit")
	}
}

func TestViewKeys(t *testing.T) {
	now := start.Add(10 * time.Minute)
	base := panes.View{Window: time.Minute}
	with := func(change func(*panes.View)) panes.View {
		v := base
		change(&v)
		return v
	}
	tests := []struct {
		keys string
		want panes.View
	}{
		{"space", with(func(v *panes.View) { v.End = now })},
		{"space space", base},
		{"h", with(func(v *panes.View) { v.End = now.Add(-15 * time.Second) })},
		{"left h l", with(func(v *panes.View) { v.End = now.Add(-15 * time.Second) })},
		{"h right", base},
		{"-", with(func(v *panes.View) { v.Window = 2 * time.Minute })},
		{"+", with(func(v *panes.View) { v.Window = 30 * time.Second })},
		{"- - - - - - -", with(func(v *panes.View) { v.Window = time.Hour })},
		{"- - - - - - - h", with(func(v *panes.View) { v.Window = time.Hour })}, // not before the session began
		{"y u", with(func(v *panes.View) { v.Zero, v.Bytes = true, true })},
		{"tab", with(func(v *panes.View) { v.Page = panes.Settings })},
		{"tab tab tab tab tab", base},
		{"shift+tab", with(func(v *panes.View) { v.Page = panes.Events })},
		{"3", with(func(v *panes.View) { v.Page = panes.Flows })},
		{"?", with(func(v *panes.View) { v.Page = panes.Help })},
		{"? ?", base},
		{"K", with(func(v *panes.View) { v.Page = panes.Knobs })},
		{"K j j k", with(func(v *panes.View) { v.Page, v.Row = panes.Knobs, 1 })},
		{"K G", with(func(v *panes.View) { v.Page, v.Row = panes.Knobs, 3 })},
		{"K j j j j j j g", with(func(v *panes.View) { v.Page = panes.Knobs })},
		{"K 1", base},
		{"K 2", with(func(v *panes.View) { v.Page = panes.Settings })},
		{"K j 4", with(func(v *panes.View) { v.Page = panes.Knobs })},
		{"K 6", with(func(v *panes.View) { v.Page = panes.Help })},
		{"K j tab", with(func(v *panes.View) { v.Page = panes.Events })},
		{"5 j j", with(func(v *panes.View) { v.Page = panes.Events })}, // a list that fits does not move
	}
	for _, c := range tests {
		t.Run(c.keys, func(t *testing.T) {
			b := newBench(nil)
			b.press(c.keys)
			if got := b.frame.View; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestKnobDetailsScroll: j goes through what is told of a knob before it goes to the next.
func TestKnobDetailsScroll(t *testing.T) {
	b := newBench(nil)
	b.cfg.Session.Knobs()[0].Spec.Note = strings.Repeat("much to tell of it ", 8) // 152 letters in rows of 35, below the values: 6 rows, room for 3
	b.Update(tea.WindowSizeMsg{Width: 40, Height: 8})
	b.press("K")
	v := &b.frame.View
	for _, c := range []struct {
		keys        string
		row, detail int
	}{{"j", 0, 1}, {"j j", 0, 3}, {"j", 1, 0}, {"k", 0, 0}, {"j j k", 0, 1}, {"G", 3, 0}} {
		if b.press(c.keys); v.Row != c.row || v.Detail != c.detail {
			t.Errorf("%s: row %d, scrolled by %d, want %d and %d", c.keys, v.Row, v.Detail, c.row, c.detail)
		}
	}
}

// TestNoticesAreWhole: why a key does nothing is said to its end on a narrow screen.
func TestNoticesAreWhole(t *testing.T) {
	b := newBench(nil)
	b.Update(tea.WindowSizeMsg{Width: 40, Height: 8})
	b.press("K G right")
	const want = "lro is locked: needs root; by hand: ifconfig em4 lro off"
	if got := strings.Join(strings.Fields(b.View().Content), " "); !strings.HasSuffix(got, want) {
		t.Errorf("the screen ends %q, want %q", got, want)
	}
}
