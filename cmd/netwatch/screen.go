package main

import (
	"context"
	"errors"
	"os"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui"
	"netwatch/tui/theme"
)

// screen shows the session on the terminal until the person quits.
func (v *showing) screen(ctx context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
	cfg := tui.Config{
		Session: s, Feed: batches, Turner: v.turner, Check: v.check, Load: v.load,
		Host: v.header.Here, Facts: v.facts, Describe: v.describe, Bytes: v.units == "byte", Theme: theme.Options{ASCII: v.ascii},
		OverLink: overLink(v.header.Interface, os.Getenv("SSH_CONNECTION")), Keep: v.keep,
	}
	if v.logger != nil {
		cfg.Logger = v.logger
	}
	if v.restorer != nil {
		cfg.Restorer = v.restorer
	}
	if v.noColor {
		cfg.Theme.Colours = theme.Attributes
	}
	if !isTerminal(os.Stdin) { // a load is piped in: the keys come from the terminal itself
		tty, err := os.Open("/dev/tty")
		if err != nil {
			return err
		}
		defer tty.Close()
		cfg.Input = tty
	}
	result, err := tui.Run(ctx, cfg)
	v.result = result
	if err == nil && result.Interrupted {
		return &exitError{exitSignal + int(syscall.SIGINT), nil}
	}
	if errors.Is(err, tea.ErrProgramPanic) { // which has told what and where
		return errors.New("a bug in netwatch: the screen panicked")
	}
	return err
}
