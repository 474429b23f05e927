package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/sources/knobs"
	"netwatch/tui"
	"netwatch/tui/theme"
)

// screen shows the session on the terminal until the person quits.
func (v *showing) screen(ctx context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
	cfg := tui.Config{
		Session: s, Feed: batches, Turner: v.turner, Load: v.load,
		Host: v.here(), Facts: v.facts, Bytes: v.units == "byte", Theme: theme.Options{ASCII: v.ascii},
		OverLink: overLink(v.header.Interface),
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
	v.keep = result.Keep
	if err == nil && result.Interrupted {
		return &exitError{exitSignal + int(syscall.SIGINT), nil}
	}
	return err
}

// overLink says whether the ssh that this terminal hangs on came in over the
// interface: a turn that drops the link would drop the person.
func overLink(iface string) bool {
	f := strings.Fields(os.Getenv("SSH_CONNECTION")) // client address and port, server address and port
	if len(f) < 3 {
		return false
	}
	server, err := netip.ParseAddr(f[2])
	if err != nil {
		return false
	}
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return false
	}
	addrs, err := i.Addrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().WithZone("") == server.Unmap().WithZone("") {
			return true
		}
	}
	return false
}

// pending tells the screen what leaving would put back, on every end.
type pending struct {
	here  hand
	peers []*peer
}

// Pending implements tui.Restorer.
func (p pending) Pending() []string {
	out := changes("", p.here.Changed())
	for _, peer := range p.peers {
		out = append(out, changes(peer.host+" ", peer.Changed())...)
	}
	return out
}

func changes(host string, list []knobs.Change) []string {
	var out []string
	for _, c := range list {
		out = append(out, host+c.Knob+" "+c.Value+" -> "+c.Start)
	}
	return out
}
