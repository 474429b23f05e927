package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"netwatch/sources"
)

// typingBench has two knobs more, both without a list: rx-usecs, and ring, whose turn
// drops the link. Only digits and a path are values.
func typingBench(change func(*Config)) *bench {
	b := newBench(func(c *Config) {
		c.Check = func(host, knob, value string) error {
			if strings.Trim(value, "0123456789") != "" && !strings.HasPrefix(value, "/") {
				return fmt.Errorf("%s takes whole microseconds, not %q", host+knob, value)
			}
			return nil
		}
		if change != nil {
			change(c)
		}
	})
	b.has(sources.KnobSpec{Name: "rx-usecs"}, "3")
	b.has(sources.KnobSpec{Name: "ring", Disruption: sources.LinkReset}, "256")
	return b
}

func (b *bench) has(spec sources.KnobSpec, value string) {
	s := b.cfg.Session
	s.Apply(sources.Batch{At: s.Now(), Events: []sources.Event{{At: s.Now(), Kind: sources.KnobSeen, Subject: spec.Name, New: value, Knob: &spec}}})
}

// row is how the knobs page is opened on rx-usecs.
const row = "K j j j j "

func TestTyping(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
		footer     string
	}{
		{"Enter asks", row + "enter", nil, "rx-usecs 3 -> _   type a value; Enter turns it, Esc leaves"},
		{"what is typed", row + "enter 1 2", nil, "rx-usecs 3 -> 12_ "},
		{"any letter, none of which is a key", row + "enter / q . - K space U", nil, "rx-usecs 3 -> /q.-K U_ "},
		{"names of keys are no letters", row + "enter 1 left tab 2", nil, "rx-usecs 3 -> 12_ "},
		{"Backspace", row + "enter 1 ü backspace", nil, "rx-usecs 3 -> 1_ "},
		{"Backspace on nothing", row + "enter backspace 1", nil, "rx-usecs 3 -> 1_ "},
		{"Ctrl-U", row + "enter 1 2 ctrl+u 4", nil, "rx-usecs 3 -> 4_ "},
		{"Enter turns", row + "enter 5 0 enter", []string{"/rx-usecs=50"}, "left/right turns"},
		{"Enter on nothing", row + "enter enter", nil, "rx-usecs 3 -> _ "},
		{"Esc", row + "enter 5 esc", nil, "left/right turns"},
		{"the value it has", row + "enter 3 enter", nil, "rx-usecs is 3 already"},
		{"a refused value may be mended", row + "enter 5 x enter backspace enter", []string{"/rx-usecs=5"}, "left/right turns"},
		{"right", row + "right", nil, "rx-usecs has no list of values: Enter asks for one to type"},
		{"left", row + "left", nil, "rx-usecs has no list of values: Enter asks for one to type"},
		{"one that drops the link asks once more", row + "j enter 5 enter", nil, "ring 256 -> 5: the link will drop for seconds"},
		{"and then turns", row + "j enter 5 enter enter", []string{"/ring=5"}, "left/right turns"},
		{"a list is left alone", "K enter", nil, `"enter" does nothing here`},
		{"another page", "enter", nil, `"enter" does nothing here`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := typingBench(nil)
			b.press(c.keys)
			if !slices.Equal(b.turns, c.want) {
				t.Errorf("turned %v, want %v", b.turns, c.want)
			}
			if got := b.footer(); !strings.Contains(got+" ", c.footer) {
				t.Errorf("footer says %q, want %q", got, c.footer)
			}
		})
	}
}

// A value that the check refuses is not turned: the question stays, with the reason above
// it in the words of the check, until another key is pressed.
func TestTypedValueIsRefused(t *testing.T) {
	b := typingBench(nil)
	b.press(row + "enter 5 x enter")
	const why = `rx-usecs takes whole microseconds, not "5x"`
	lines := strings.Split(b.View().Content, "\n")
	if got := lines[len(lines)-2]; !strings.Contains(got, why) || !strings.Contains(b.footer(), "3 -> 5x_") || b.turns != nil {
		t.Errorf("above the question: %q, the question: %q, turned %v", got, b.footer(), b.turns)
	}
	b.press("y")
	if strings.Contains(b.View().Content, why) || !strings.Contains(b.footer(), "3 -> 5xy_") {
		t.Errorf("after another key: %q", b.footer())
	}
}

// What is pasted is typed, but for what a terminal would act on; it turns nothing, and
// means nothing to another question.
func TestPastedValue(t *testing.T) {
	b := typingBench(nil)
	b.press(row + "enter")
	b.Update(tea.PasteMsg{Content: "/var/\x1b[2Jlog\r\n\x07\u009b5"})
	if got := b.footer(); !strings.Contains(got, "3 -> /var/[2Jlog5_ ") || b.turns != nil {
		t.Errorf("%q, turned %v", got, b.turns)
	}
	b.press("esc K a")
	b.Update(tea.PasteMsg{Content: "2"})
	if got := b.footer(); !strings.Contains(got, "aim") || b.turns != nil {
		t.Errorf("pasted into a choice: %q, turned %v", got, b.turns)
	}
}

// Where the text has no room, its end is shown: that is what the next key changes.
func TestLongValueOnANarrowScreen(t *testing.T) {
	b := typingBench(nil)
	b.Update(tea.WindowSizeMsg{Width: 59, Height: 20})
	b.press(row + "enter")
	b.Update(tea.PasteMsg{Content: "/" + strings.Repeat("a", 80) + "/siftr.log"})
	if got := b.footer(); !strings.HasPrefix(got, "Enter/Esc: rx-usecs -> ..aa") || !strings.HasSuffix(strings.TrimRight(got, " "), "/siftr.log_") || len(got) > 59 {
		t.Errorf("%q", got)
	}
}

// A question for what cannot be turned any more goes, and one for what is turned
// meanwhile says so.
func TestTypingFollowsTheKnob(t *testing.T) {
	b := typingBench(nil)
	b.press(row + "enter 7")
	b.turned("rx-usecs", "3", "9")
	b.Update(newsMsg{})
	if got := b.footer(); !strings.Contains(got, "rx-usecs 9 -> 7_ ") {
		t.Errorf("%q", got)
	}
	b.turning = "aim"
	b.Update(newsMsg{})
	if got := b.footer(); !strings.Contains(got, "aim is being turned") {
		t.Errorf("%q", got)
	}
	b = typingBench(func(c *Config) { c.Turner = nil })
	b.press(row + "enter")
	if got := b.footer(); !strings.Contains(got, "read only") {
		t.Errorf("where nothing is turned: %q", got)
	}
}

// A kernel's refusal is told on the knobs page, too, which shows no events.
func TestTheKernelRefusesATypedValue(t *testing.T) {
	for keys, want := range map[string]bool{"K": true, "1": false} {
		b := typingBench(nil)
		b.press(keys)
		now := b.cfg.Session.Now()
		b.feed.keep(sources.Batch{At: now, Events: []sources.Event{{At: now, Kind: sources.KnobFailed, Subject: "rx-usecs", Old: "3", Asked: "5", New: "3", Text: "invalid argument"}}}, true)
		b.Update(newsMsg{})
		if got := b.footer(); strings.Contains(got, "rx-usecs") != want || strings.Contains(got, "invalid argument") != want {
			t.Errorf("page %s: footer says %q", keys, got)
		}
	}
}
