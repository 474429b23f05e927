package panes

import (
	"strings"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// linkWord is what the newest link event says of the interface: GONE or NO LINK.
func (f *Frame) linkWord() string {
	events := f.Session.Events()
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Kind == sources.LinkDown && f.ofLink(e) {
			if strings.Contains(strings.ToUpper(e.Text), "GONE") {
				return "GONE"
			}
			break
		}
	}
	return "NO LINK"
}

// say writes an event in words, and how loud they are.
func say(e sources.Event) (text string, ink theme.Ink) {
	text = experiment.Sentence(e)
	if e.Error {
		return text, theme.Alert
	}
	return text, loudness[e.Kind]
}

// loudness is the ink of an event that is no error.
var loudness = map[sources.EventKind]theme.Ink{
	sources.KnobTurned: theme.Turn, sources.KnobBoth: theme.Turn, sources.KnobDrifted: theme.Turn, sources.KnobFailed: theme.Alert,
	sources.LinkDown: theme.Alert, sources.CounterReset: theme.Warn, sources.SourceGone: theme.Warn, sources.SourceNone: theme.Warn,
	sources.PingLate: theme.Warn, sources.Mark: theme.Mark,
}

// after is text behind a separator, or nothing.
func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}
