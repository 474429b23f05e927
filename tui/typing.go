package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/panes"
	"netwatch/tui/theme"
)

// typedMost is more than any kernel takes for a value.
const typedMost = 1024

// A typing is the question which value a knob shall have that has no list of them.
// Any letter may be typed: what the knob takes is known to its check alone.
type typing struct {
	m       *model
	ask     *question
	knob    knob
	text    string
	refused string // what was said to the text
}

func (m *model) typeValue(k knob) {
	t := &typing{m: m, knob: k}
	t.ask = &question{t.prompt(), t.answer, t.again}
	m.ask, m.typing = t.ask, t
}

// again says the question anew: the knob may have another value meanwhile.
func (t *typing) again() (p panes.Prompt, pointless string) {
	return t.prompt(), t.m.refusal(t.knob...)
}

func (t *typing) answer(key string) (cmd tea.Cmd, done bool) {
	if key == "enter" {
		return t.enter()
	}
	t.refused = ""
	switch {
	case key == "backspace":
		_, n := utf8.DecodeLastRuneInString(t.text)
		t.text = t.text[:len(t.text)-n]
	case key == "ctrl+u":
		t.text = ""
	case key == "space":
		t.put(" ")
	case utf8.RuneCountInString(key) == 1: // a longer one is the name of a key
		t.put(key)
	}
	t.ask.prompt = t.prompt()
	return nil, false
}

func (t *typing) enter() (cmd tea.Cmd, done bool) {
	if t.text == "" {
		return nil, false
	}
	if check := t.m.cfg.Check; check != nil {
		if err := check(t.knob.host(), t.knob.name(), t.text); err != nil {
			t.refused = err.Error()
			t.ask.prompt = t.prompt()
			return nil, false
		}
	}
	return t.m.turn(t.knob, t.text), true
}

// put adds to the text what can be shown of it.
func (t *typing) put(text string) {
	text = strings.Map(func(r rune) rune {
		if r != utf8.RuneError && unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if len(t.text)+len(text) <= typedMost {
		t.text += text
	}
}

// paste adds what the terminal says was pasted. It never answers a question, also with a
// line's end in it.
func (m *model) paste(text string) {
	if t := m.typing; t != nil && m.ask == t.ask {
		t.put(text)
		t.refused = ""
		t.ask.prompt = t.prompt()
	}
}

// prompt shows the end of the text, where there is no room for all of it.
func (t *typing) prompt() panes.Prompt {
	k := t.knob[0]
	p := t.m.frame.Whose(panes.Prompt{
		Long:  k.Spec.Name + " " + k.Value + " -> " + t.text + "_   type a value; Enter turns it, Esc leaves",
		Short: "Enter/Esc: " + k.Spec.Name + " -> ",
	}, t.knob)
	p.Short += theEnd(t.text+"_", t.m.w-theme.Width(p.Short))
	if t.refused != "" {
		for _, row := range theme.FoldWhole(t.refused, t.m.w) {
			p.Rows = append(p.Rows, panes.PromptRow{Long: row, Short: row})
		}
	}
	return p
}

// tellRefusals says on the knobs page, which has no events, what a kernel did not take.
func (m *model) tellRefusals(b sources.Batch) {
	for _, e := range b.Events {
		if e.Kind == sources.KnobFailed && m.frame.View.Page == panes.Knobs {
			m.notice(experiment.Sentence(e))
		}
	}
}

// theEnd is the last w cells of a text that is longer, behind "..".
func theEnd(text string, w int) string {
	if theme.Width(text) <= w {
		return text
	}
	for text != "" && theme.Width(text)+len("..") > w {
		_, n := utf8.DecodeRuneInString(text)
		text = text[n:]
	}
	return ".." + text
}
