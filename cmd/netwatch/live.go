package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/hub"
	"netwatch/sources/iperf"
	"netwatch/sources/irq"
	"netwatch/sources/nic"
	"netwatch/sources/ping"
	"netwatch/sources/tcp"
)

// runLive watches an interface of this host, or what passes between two.
func runLive(cmd *cobra.Command, o *options, ifaces, command []string) error {
	for _, iface := range ifaces {
		if err := checkInterface(iface); err != nil {
			return err
		}
	}
	iface := ifaces[0]
	if err := o.checkFiles(); err != nil {
		return err
	}
	p := &plan{options: o, iface: iface, command: command}
	if f, err := nic.Describe(iface); err == nil {
		p.facts, p.driver = factLine(f), f.Driver
		p.describe = func() string { return described(iface) }
	}
	var err error
	if p.peers, err = o.openPeers(cmd.Context(), iface); err != nil {
		return err
	}
	if p.knobs, err = o.knobs(iface); err != nil {
		return err
	}
	h := hub.New()
	watch, unwatch := context.WithCancel(context.WithoutCancel(cmd.Context()))
	p.sources = o.hostSources(iface, hub.Tick)
	p.leaveOutPeers()
	if len(ifaces) == 2 {
		p.second = ifaces[1]
		p.sources = append(p.sources, nic.New(p.second, hub.Tick), irq.New(p.second, hub.Tick))
	}
	if o.ping != "" {
		p.sources = append(p.sources, ping.New(o.ping, 0))
	}
	if o.pingLog != "" {
		p.sources = append(p.sources, ping.FromReader("ping", p.follow(watch, h, "ping", o.pingLog)))
	}
	switch {
	case o.load == "-":
		p.read(cmd.InOrStdin())
	case isPipe(o.load):
		p.read(&pipe{path: o.load})
	case o.load != "":
		p.sources = append(p.sources, iperf.FromReader("load", p.follow(watch, h, "load", o.load)))
	case len(command) > 0:
		l := iperf.New(command)
		p.sources = append(p.sources, l)
		p.load, p.result = &again{l, h, watch}, l.Result
	}
	return p.run(cmd, h, watch, unwatch)
}

// leaveOutPeers has the connections that netwatch reaches its peers by counted as none.
func (p *plan) leaveOutPeers() {
	for _, src := range p.sources {
		if connections, is := src.(*tcp.Source); is {
			for _, peer := range p.peers {
				peer.leaveOut = func(w tcp.Way) { connections.LeaveOut(peer.host, w) }
			}
		}
	}
}

// follow follows a file that a source reads.
func (p *plan) follow(ctx context.Context, h *hub.Hub, source, path string) io.Reader {
	f := follow(ctx, path, func(text string) {
		h.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: source, Text: text})
	})
	p.awaited = append(p.awaited, f)
	return f
}

// read takes a load that ends with in.
func (p *plan) read(in io.Reader) {
	s := iperf.FromReader("load", in)
	p.sources, p.result = append(p.sources, s), s.Result
}

// again starts a load once more in the same session.
type again struct {
	*iperf.Load
	h     *hub.Hub
	watch context.Context
}

// Start begins another run, unless one is on.
func (a *again) Start() error {
	if a.Running() {
		return errors.New("the load is running")
	}
	a.h.Go(a.watch, a.Load)
	return nil
}

// checkFiles finds out before the screen opens that a file is none to read. One that
// is not there yet, or may not be read yet, is waited for and said. A pipe is not tried:
// its writer would take the end of the trial for the reader's.
func (o *options) checkFiles() error {
	if o.load == "-" && o.output == "tui" && isTerminal(os.Stdin) {
		return usageError("--load -: standard input is a terminal; pipe iperf3 into netwatch, or give the command after --")
	}
	for _, path := range append([]string{o.pingLog, o.load}, o.siftr...) {
		if path == "" || path == "-" || path == o.load && isPipe(path) {
			continue
		}
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		f.Close()
		if err == nil && info.IsDir() {
			return fmt.Errorf("%s: a directory is no log", path)
		}
	}
	return nil
}

// described is what the header says of a card now, "" while it is not there.
func described(iface string) string {
	f, err := nic.Describe(iface)
	if err != nil {
		return ""
	}
	return factLine(f)
}

// factLine is what the header says of a card.
func factLine(f nic.Facts) string {
	var parts []string
	if f.Driver != "" {
		parts = append(parts, f.Driver)
	}
	if f.Description != "" {
		parts = append(parts, f.Description)
	}
	switch {
	case f.Media != "":
		parts = append(parts, f.Media)
	case f.Speed > 0:
		parts = append(parts, iperf.Rate(float64(f.Speed)))
	}
	if below := f.Below(); below != "" {
		parts = append(parts, below)
	}
	if f.MTU > 0 {
		parts = append(parts, fmt.Sprintf("mtu %d", f.MTU))
	}
	return strings.Join(parts, "  ")
}
