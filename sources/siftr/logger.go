package siftr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"netwatch/sources"
)

// leastFree is how much room a log leaves on its file system.
const leastFree = 1 << 30

// A Logger switches siftr2, or siftr where that is not loaded, on for a run and
// off after it. Each run has a log file of its own. What it turns it turns through a
// Turner and reads back; it never loads and never unloads a module (siftr of FreeBSD
// 14.0 that was unloaded panics at the next shutdown).
//
// As a Source it does what its other methods, which return at once, ask for.
type Logger struct {
	kernel Kernel
	turner sources.Turner
	free   func(dir string) (octets uint64, err error)
	port   uint16
	wake   chan struct{}

	mu      sync.Mutex
	wish    wish
	running bool    // a run is on
	logging bool    // and it is the one to be logged
	on      *logged // the log being written, nil when none is
	pace    float64 // octets a second of the newest log, 0 before the first
}

// A wish is what a person wants logged.
type wish uint8

const (
	nothing wish = iota
	nextRun
	allOn
)

// A logged is a log that the Logger began.
type logged struct {
	Switches // as they were before
	path     string
	size     int64
	left     uint64 // room on the file system
}

// NewLogger makes a Logger. turner knows the knobs "siftr2", "siftr2.log",
// "siftr2.port" and the same of siftr; free tells the room on a directory's file
// system; port is that of the load's command, 0 when it is not known.
func NewLogger(k Kernel, turner sources.Turner, free func(dir string) (uint64, error), port uint16) *Logger {
	return &Logger{kernel: k, turner: turner, free: free, port: port, wake: make(chan struct{}, 1)}
}

// Name is "siftr log".
func (g *Logger) Name() string { return "siftr log" }

// Arm logs the next run; with stay the log begins at once and goes on until Disarm.
func (g *Logger) Arm(stay bool) {
	w := nextRun
	if stay {
		w = allOn
	}
	g.set(func() { g.wish = w })
}

// Disarm ends the log, or takes back that there shall be one.
func (g *Logger) Disarm() { g.set(func() { g.wish = nothing }) }

// Load says that a run began or that there is none any more.
func (g *Logger) Load(on bool) {
	g.set(func() {
		switch {
		case on && !g.running:
			g.logging = g.wish == nextRun
		case !on && g.logging:
			g.logging = false
			if g.wish == nextRun {
				g.wish = nothing
			}
		}
		g.running = on
	})
}

func (g *Logger) set(change func()) {
	g.mu.Lock()
	change()
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default: // it looks at all of it
	}
}

// Run implements sources.Source. A log that is on when ctx ends is left to whoever
// puts the knobs back.
func (g *Logger) Run(ctx context.Context, sink sources.Sink) error {
	tick := time.NewTicker(switchesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-g.wake:
			g.fulfil(ctx, sink)
		case <-tick.C:
			g.watch(ctx, sink)
		}
	}
}

// fulfil begins or ends a log as it is wanted.
func (g *Logger) fulfil(ctx context.Context, sink sources.Sink) {
	g.mu.Lock()
	want := g.wish == allOn || g.wish == nextRun && g.logging
	on := g.on
	g.mu.Unlock()
	switch {
	case want && on == nil:
		l, err := g.begin(ctx)
		if err != nil {
			g.giveUp(sink, "siftr", "no log: "+err.Error())
			return
		}
		g.mu.Lock()
		g.on = l
		g.mu.Unlock()
		note(sink, l.Module, "logs to "+l.path, false)
	case !want && on != nil:
		g.finish(ctx, sink, on, "")
	}
}

// giveUp takes the wish back and says why.
func (g *Logger) giveUp(sink sources.Sink, source, why string) {
	g.mu.Lock()
	g.wish, g.on = nothing, nil
	g.mu.Unlock()
	note(sink, source, why, true)
}

func note(sink sources.Sink, source, text string, bad bool) {
	sink.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: source, Text: text, Error: bad})
}

// module is the module that logs here.
func (g *Logger) module() (Switches, error) {
	for _, m := range modules {
		sw, err := ReadSwitches(g.kernel, m)
		switch {
		case err == nil:
			return sw, nil
		case errors.Is(err, errors.ErrUnsupported):
			return sw, errors.New("siftr is a module of FreeBSD's kernel; this system has none")
		case !errors.Is(err, os.ErrNotExist):
			return sw, err
		}
	}
	return Switches{}, errors.New("neither siftr2 nor siftr is loaded: sudo kldload siftr2")
}

// begin sets the log file and the filter while the module is off, then switches it
// on, and puts all back when that fails. Each step is read back: a Turner tells a
// refusal as an event only.
func (g *Logger) begin(ctx context.Context) (*logged, error) {
	sw, err := g.module()
	switch {
	case err != nil:
		return nil, err
	case sw.Enabled:
		return nil, fmt.Errorf("%s is on already and writes %s", sw.Module, sw.LogFile)
	}
	dir := logDir(sw)
	free, err := g.room(dir)
	if err != nil {
		return nil, err
	}
	l := &logged{Switches: sw, left: free, path: filepath.Join(dir, sw.Module+time.Now().Format("-20060102-150405.log"))}
	if err := g.switchOn(ctx, l); err != nil {
		return nil, errors.Join(err, g.putBack(ctx, l))
	}
	return l, nil
}

func (g *Logger) switchOn(ctx context.Context, l *logged) error {
	g.mu.Lock()
	port := g.port
	g.mu.Unlock()
	now, err := g.turn(ctx, l.Module, ".log", l.path)
	if err != nil {
		return err
	}
	if now.LogFile != l.path {
		return fmt.Errorf("%s did not take the log file %s", l.Module, l.path)
	}
	// Stock siftr makes the file at the set, and a refused name reads back too.
	if l.Module == "siftr" && !exists(l.path) {
		return fmt.Errorf("%s refused the log file %s", l.Module, l.path)
	}
	if now.Port != port {
		if now, err = g.turn(ctx, l.Module, ".port", fmt.Sprint(port)); err != nil {
			return err
		}
		if now.Port != port {
			return fmt.Errorf("%s did not take the port filter %d", l.Module, port)
		}
	}
	if now, err = g.turn(ctx, l.Module, "", "1"); err != nil {
		return err
	}
	if !now.Enabled || !exists(l.path) {
		return fmt.Errorf("%s could not be switched on", l.Module)
	}
	return nil
}

// room is what is free in a directory, at least what a log must leave.
func (g *Logger) room(dir string) (uint64, error) {
	free, err := g.free(dir)
	switch {
	case err != nil:
		return 0, fmt.Errorf("room in %s: %w", dir, err)
	case free < leastFree:
		return free, fmt.Errorf("%.1f GB free in %s, and a log leaves 1 GB", float64(free)/1e9, dir)
	}
	return free, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// turn turns a knob of the module and reads the switches back.
func (g *Logger) turn(ctx context.Context, module, leaf, value string) (Switches, error) {
	if err := g.turner.Turn(ctx, "", module+leaf, value); err != nil {
		return Switches{}, err
	}
	return ReadSwitches(g.kernel, module)
}

// putBack switches the module off and sets what the Logger has set to what it was. What
// somebody else has set since is left alone.
func (g *Logger) putBack(ctx context.Context, l *logged) error {
	now, err := ReadSwitches(g.kernel, l.Module)
	if err != nil {
		return err
	}
	if now.LogFile != l.path {
		return nil
	}
	if now.Enabled {
		if now, err = g.turn(ctx, l.Module, "", "0"); err != nil {
			return err
		}
		if now.Enabled {
			return fmt.Errorf("%s cannot be switched off", l.Module)
		}
	}
	if now.Port != l.Port {
		if _, err := g.turn(ctx, l.Module, ".port", fmt.Sprint(l.Port)); err != nil {
			return err
		}
	}
	_, err = g.turn(ctx, l.Module, ".log", l.LogFile)
	return err
}

// finish ends the log; why is said where it is not what the person wanted.
func (g *Logger) finish(ctx context.Context, sink sources.Sink, l *logged, why string) {
	if err := g.putBack(ctx, l); err != nil {
		g.giveUp(sink, l.Module, "the log goes on: "+err.Error())
		return
	}
	if why != "" {
		g.giveUp(sink, l.Module, why)
		return
	}
	g.mu.Lock()
	g.on = nil
	g.mu.Unlock()
	text := "logged to " + l.path
	if info, err := os.Stat(l.path); err == nil {
		text += fmt.Sprintf(", %.1f MB", float64(info.Size())/1e6)
	}
	note(sink, l.Module, text, false)
}

// watch looks at the growth of the log and at the room that is left.
func (g *Logger) watch(ctx context.Context, sink sources.Sink) {
	g.mu.Lock()
	l := g.on
	g.mu.Unlock()
	if l == nil {
		return
	}
	if sw, err := ReadSwitches(g.kernel, l.Module); err != nil || !sw.Enabled {
		g.finish(ctx, sink, l, "somebody switched it off: the log ended")
		return
	}
	var size int64
	if info, err := os.Stat(l.path); err == nil {
		size = info.Size()
	}
	free, err := g.room(filepath.Dir(l.path))
	if err != nil {
		g.finish(ctx, sink, l, "the log ended: "+err.Error())
		return
	}
	g.mu.Lock()
	if grown := float64(size-l.size) / switchesEvery.Seconds(); grown > 0 {
		g.pace += (grown - g.pace) / 4
		if l.size == 0 {
			g.pace = grown
		}
	}
	l.size, l.left = size, free
	g.mu.Unlock()
}
