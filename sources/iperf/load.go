package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"netwatch/parsers/iperf"
	"netwatch/sources"
	"netwatch/sources/proc"
)

// askLimit bounds the question which options a version has.
const askLimit = 3 * time.Second

// A Load is a load generator that netwatch starts: iperf3 or iperf2 in the mode
// that shows the most, or any other command as it is. Each Run starts it once; it
// may be run again when Run has returned.
type Load struct {
	argv []string
	name string
	book book

	mu      sync.Mutex
	busy    bool // Run is under way
	child   *proc.Child
	stopped bool // Stop was called, or ctx ended: a signal is no failure then
	result  Result
	starts  int
}

// A Result says how a load ended.
type Result struct {
	Ended  bool        // false: it never ran to its end
	Status proc.Status // how the process ended
	Failed bool        // its status is not 0, or it reported an error in spite of 0
	Text   string      // in words: "exit status 1: iperf3: error - ..."
}

// New makes a Load of a command: the program and its arguments, no shell.
func New(argv []string) *Load {
	l := &Load{argv: argv, name: "load", book: newBook()}
	if i := program(argv); i >= 0 {
		l.name = filepath.Base(argv[i])
	}
	return l
}

// Name is "iperf3", "iperf", "iperf2" or "load".
func (l *Load) Name() string { return l.name }

// Command is the command as the user gave it, without control characters.
func (l *Load) Command() string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.Join(l.argv, " "))
}

// Running tells whether the process is there or about to be.
func (l *Load) Running() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}

// Result says how the last run ended.
func (l *Load) Result() Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result
}

// Stop ends the run under way as Ctrl-C would, harder after 2 s. Run then returns.
func (l *Load) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.child != nil {
		l.child.Stop()
	}
}

// Run starts the load and says what it says. It returns io.EOF when the load has
// ended, nil when ctx ended (the load is ended then, too), and an error in words
// when the load could not be started.
func (l *Load) Run(ctx context.Context, sink sources.Sink) error {
	if !l.begin() {
		return errors.New(l.name + " is running already")
	}
	defer l.done()
	p := planFor(l.argv, func(argv ...string) (string, error) { return proc.Ask(askLimit, argv...) })
	unstop := context.AfterFunc(ctx, l.Stop)
	defer unstop()
	child, err := l.start(ctx, p)
	if err != nil {
		l.mu.Lock()
		l.result = Result{Ended: true, Failed: true, Text: err.Error()}
		l.mu.Unlock()
		return err
	}
	if child != nil {
		l.follow(child, p, sink)
	}
	if ctx.Err() != nil {
		return nil
	}
	return io.EOF
}

// begin takes the Load for one Run.
func (l *Load) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		return false
	}
	l.busy, l.stopped, l.result = true, false, Result{}
	return true
}

func (l *Load) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy, l.child = false, nil
}

// follow says what the child says until it has ended.
func (l *Load) follow(child *proc.Child, p plan, sink sources.Sink) {
	f := newFeed(l.book, sink, l.Command(), time.Time{})
	f.parser.Expect(p.tool)
	began := time.Now()
	if p.note != "" {
		f.note(began, iperf.Iperf3, p.note, false)
	}
	outer := ""
	if p.tool == "" {
		l.starts++
		outer = fmt.Sprintf("load #%d", l.starts)
		sink.Event(sources.Event{At: began, Kind: sources.RunStarted, Source: "load", Subject: outer, Text: l.Command()})
	}
	for o := range child.Output() {
		f.read(o.Data, o.Stderr)
		if outer != "" && f.hasStart() {
			sink.Event(sources.Event{At: o.At, Kind: sources.RunEnded, Source: "load", Subject: outer, Text: "its own runs follow"})
			outer = ""
		}
		f.flush(o.At)
	}
	l.end(f, outer, child.Wait())
}

// start starts the child, without a terminal where there is none. There is no child
// and no error when the load was stopped before it began.
func (l *Load) start(ctx context.Context, p plan) (child *proc.Child, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || ctx.Err() != nil {
		return nil, nil
	}
	if child, err = proc.Start(proc.Spec{Argv: p.argv, PTY: p.pty}); err != nil && p.pty {
		child, err = proc.Start(proc.Spec{Argv: p.fallback})
	}
	l.child = child
	return child, err
}

// end says how the load ended. outer is the name of a run that only the command
// itself bounds.
func (l *Load) end(f *feed, outer string, st proc.Status) {
	now := time.Now()
	l.mu.Lock()
	stopped := l.stopped
	l.mu.Unlock()
	f.broken = !stopped && !st.OK()
	f.end(now, st.String())
	r := Result{Ended: true, Status: st, Failed: f.broken || !stopped && f.failed != "", Text: st.String()}
	if f.failed != "" {
		r.Text += ": " + f.failed
	}
	if outer != "" {
		f.sink.Event(sources.Event{At: now, Kind: sources.RunEnded, Source: "load", Subject: outer, Text: st.String()})
	}
	if r.Failed && !f.told || outer != "" {
		f.note(now, iperf.Tool(l.name), l.name+": "+st.String()+f.lastWords(), r.Failed)
	}
	l.mu.Lock()
	l.result = r
	l.mu.Unlock()
}
