// Package panes draws the screen: one file a rectangle, each a function that
// paints what a Frame holds into a grid. Panes read the session and never change
// it, ask no clock and call nobody; what a key does is decided in package tui.
package panes

import (
	"math"
	"time"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

// A Page is one of the screens that Tab goes through.
type Page int

// The pages, in the order of Tab and of the digits.
const (
	Charts Page = iota
	Settings
	Flows
	Knobs
	Events
	Help
	Pages // how many there are
)

var pageNames = [Pages]string{"charts", "settings", "flows", "knobs", "events", "help"}

// A View is what a person chose to look at.
type View struct {
	Page   Page
	Host   string // whose charts are shown, "" this one; where two fit, the one on the right
	Act    int    // what knob keys act on: 0 all ends, n the nth of the hosts
	Window time.Duration
	End    time.Time // right edge of the charts; zero follows the present
	Bytes  bool      // octets over time are shown in byte/s, not bit/s
	Zero   bool      // every chart starts at zero
	Row    int       // the selected row (knobs) or the first one shown (other lists)
	Detail int       // the first row shown of what is told of the selected knob
}

// A Prompt is a question that waits for a key. Long is shown where it fits, with as
// many of the Rows above it as there is room for.
type Prompt struct {
	Long, Short string
	Tiny        string // where no row has room, "" is the Short one
	Rows        []PromptRow
}

// A PromptRow is a row above a question, in its long and its short form.
type PromptRow struct{ Long, Short string }

// A Frame is everything a screen is made from.
type Frame struct {
	Session  *experiment.Session
	Theme    *theme.Theme
	Stack    *Stack // what the charts keep from frame to frame
	View     View
	Host     string // this host's name
	Facts    string // driver, speed, offloads: the words after the interface's name
	ReadOnly string // why no knob can be turned at all, "" when they can
	Prompt   Prompt // replaces the footer
	Notice   string // replaces the footer when there is no Prompt
	Log      string // what of logging the next run is under way: "siftr2 next run"
	Ended    bool   // the input ended: nothing new will come
}

// right is the time at the right edge of the charts.
func (f *Frame) right() time.Time {
	if f.View.End.IsZero() {
		return f.Session.Now()
	}
	return f.View.End
}

// live says whether the screen follows the present.
func (f *Frame) live() bool { return f.View.End.IsZero() }

// present is the Frame as it would be if it followed the present: the lines that tell
// how the machine is, and that keys act on, are always of now.
func (f *Frame) present() *Frame {
	c := *f
	c.View.End = time.Time{}
	return &c
}

// now labels what is of the present on a screen that is not.
func (f *Frame) now() string {
	if f.live() {
		return ""
	}
	return "now "
}

// clock writes a time of day as the session's own clock has it.
func (f *Frame) clock(t time.Time) string {
	return t.In(f.Session.Now().Location()).Format("15:04:05")
}

// LastRow is the largest View.Row that makes sense on a screen of a size: the
// last knob, or the first row of a list whose end is on the screen.
func LastRow(f *Frame, w, h int) int {
	body := h - 3 - knobRows(f, w, h)
	n := 0
	switch f.View.Page {
	case Knobs:
		return max(len(f.Session.Knobs())-1, 0)
	case Settings:
		n = len(f.settingLines(w))
	case Flows:
		n = len(f.flows()) + 1
	case Events:
		n = len(f.eventRows(w, math.MaxInt))
	case Help:
		n = len(f.helpLines(w))
	}
	return max(n-body, 0)
}
