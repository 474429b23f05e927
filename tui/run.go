// Package tui is the screen: a Bubble Tea program that takes batches, keeps them
// in the session, and draws the panes. It decides what a key does and knows no
// source, no kernel and no process; turning, loading and restoring are interfaces.
//
// One message a frame: a command collects batches for a quarter of a second and
// then reports, however many came. Update applies them and draws; View hands out
// the string that Update made, so nothing is drawn twice.
package tui

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// fps is how often the renderer looks for a new frame. Frames come four times a
// second; the rest is for keys. Bubble Tea's own 60 costs more than all drawing.
const fps = 10

// A Load is the load generator that netwatch started.
type Load interface {
	Start() error // again, after it ended
	Stop()        // asks it to end; does not wait
	Running() bool
}

// A Check says why a knob of a host ("" = here) would refuse a value, in the words that
// a person is told without a screen.
type Check func(host, knob, value string) error

// A Restorer knows what leaving would put back. The screen only asks; who called
// Run does it.
type Restorer interface {
	// Pending is each knob that would be put back now.
	Pending() []Turned
}

// A Turned is a knob of a host that does not have its first value.
type Turned struct{ Host, Knob, Value, Start string }

// A Logger logs runs with siftr. Its methods other than Propose return at once;
// how it went comes as events.
type Logger interface {
	// Propose says in words, and in few, what would be logged: with the port of the
	// load where only the connection tells it (0: none does), at so many packets a
	// second. The error says why nothing can be logged.
	Propose(port uint16, packets float64) (words, brief string, err error)
	Arm(stay bool) // logs the next run; with stay from now on
	Disarm()       // ends that, or takes it back
	Load(on bool)  // a run began, or there is none any more
	State() string // what is under way, "" for nothing
}

// A Config is what a screen is about.
type Config struct {
	Session  *experiment.Session  // owned by the screen until Run returns
	Feed     <-chan sources.Batch // closed: the input ended, the screen stays
	Turner   sources.Turner       // nil: nothing is turned
	ReadOnly string               // why, when Turner is nil
	Check    Check                // of a value that was typed; nil: a turn tells
	Restorer Restorer             // nil: every knob that is not as it was at the start
	Load     Load                 // nil: none
	Logger   Logger               // nil: this session logs nothing
	Host     string               // this host's name, for the header
	Facts    string               // the card in words, for the header
	Describe func() string        // tells them anew, "" while the card is not there; nil: they never change
	Keep     bool                 // nothing is put back unless a person says so when leaving
	OverLink bool                 // this terminal itself hangs on the interface: a turn that drops the link wants Enter twice
	Theme    theme.Options
	Bytes    bool      // byte/s instead of bit/s
	Input    io.Reader // nil: the terminal
	Output   io.Writer // nil: standard output
}

// A Result says how a person left.
type Result struct {
	Answered    bool     // whether to keep was asked, and answered: Keep and Kept hold
	Keep        bool     // turned knobs shall stay as they are, all of them
	Kept        []Turned // where not all, these
	Interrupted bool     // by Ctrl-C
}

// Run shows the screen until a person quits or ctx ends. It leaves signals alone:
// the caller's ctx ends on them. What the feed said until the end is in the
// session when Run returns. The error is Bubble Tea's, also for a panic, after
// which the terminal is as it was.
func Run(ctx context.Context, cfg Config) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	m := newModel(ctx, cfg)
	options := []tea.ProgramOption{tea.WithFPS(fps), tea.WithoutSignalHandler()}
	if cfg.Input != nil {
		options = append(options, tea.WithInput(cfg.Input))
	}
	if cfg.Output != nil {
		options = append(options, tea.WithOutput(cfg.Output))
	}
	p := tea.NewProgram(m, options...)
	stop := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	stop()
	cancel()
	m.feed.rest(cfg.Session)
	return m.result, err
}
