package main

import (
	"context"
	"os"
	"syscall"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui"
	"netwatch/tui/theme"
)

// screen shows the session on the terminal until the person quits.
func (v *showing) screen(ctx context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
	cfg := tui.Config{
		Session: s, Feed: batches, Turner: v.turner, Load: v.load,
		Host: v.here(), Facts: v.facts, Bytes: v.units == "byte", Theme: theme.Options{ASCII: v.ascii},
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
	return err
}
