package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/sources/agent"
	"netwatch/sources/knobs"
	"netwatch/sources/proc"
)

const (
	backoffMin  = time.Second // before the first new try
	backoffMax  = 15 * time.Second
	linkTold    = 2 * time.Second  // between words about clock and link
	steadyAfter = 30 * time.Second // a link that held so long starts over with backoffMin
)

// errNoPeer says that a peer is not there at the moment.
var errNoPeer = errors.New("it is not connected")

// A peer is the other end of the testbed, reached by ssh: a source that keeps an
// agent running there, and the hand that turns its knobs. Agent forwarding, jump
// hosts and names are ssh's own business.
type peer struct {
	host, iface string
	ssh         []string      // the command, with its options
	path        string        // netwatch there
	every       time.Duration // between the samples of a session
	knobFlags   []string      // --knob, passed on
	pushed      string        // the temporary folder there that push made

	mu     sync.Mutex
	client *agent.Client // nil: not connected
}

// openPeers reads --peer and, with --push, brings netwatch there.
func (o *options) openPeers(ctx context.Context, iface string) ([]*peer, error) {
	var all []*peer
	for _, text := range o.peers {
		p, err := o.parsePeer(text, iface)
		if err != nil {
			return nil, err
		}
		if o.push != noPush {
			if err := p.push(ctx, o.push); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// parsePeer reads HOST or HOST:IFACE.
func (o *options) parsePeer(text, iface string) (*peer, error) {
	host, name, ok := strings.Cut(text, ":")
	p := &peer{host: host, iface: iface, ssh: strings.Fields(o.ssh), path: o.peerPath, every: o.peerEvery, knobFlags: o.knob}
	if ok {
		p.iface = name
	}
	for _, word := range append([]string{p.host, p.iface, p.path}, p.knobFlags...) {
		if word == "" || word != iface && strings.HasPrefix(word, "-") || strings.ContainsFunc(word, unsafeInShell) {
			return nil, usageError("--peer %q: HOST or HOST:IFACE, in plain letters (%q cannot be passed on)", text, word)
		}
	}
	if len(p.ssh) == 0 {
		return nil, usageError("--ssh needs a command")
	}
	return p, nil
}

// unsafeInShell: ssh hands its arguments to a shell over there, so only what no
// shell takes for its own is passed on.
func unsafeInShell(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/@+:=,%", r))
}

// argv is the ssh command that runs words over there.
func (p *peer) argv(words ...string) []string {
	return append(append(append([]string(nil), p.ssh...), "-o", "BatchMode=yes", p.host), words...)
}

// agentCommand starts the agent over there.
func (p *peer) agentCommand() []string {
	run := p.path + " agent"
	for _, k := range p.knobFlags {
		run += " --knob " + k
	}
	return p.rootCommand(run + " -- " + p.iface)
}

// rootCommand runs a command over there, as root where that needs no password:
// without root the agent still measures, and its knobs are locked.
func (p *peer) rootCommand(run string) []string {
	script := "if [ `id -u` -eq 0 ]; then exec " + run +
		"; elif sudo -n true 2>/dev/null; then exec sudo -n " + run +
		"; elif doas -n true 2>/dev/null; then exec doas -n " + run +
		"; else exec " + run + "; fi"
	return p.argv("sh", "-c", "'"+script+"'")
}

// newClient is for an agent over there; watch is how often it tells samples, 0 never.
func (p *peer) newClient(watch time.Duration) *agent.Client {
	return agent.NewClient(agent.ClientConfig{Argv: p.agentCommand(), Host: p.host, Version: version, Watch: watch})
}

// Name is the word on the status line.
func (p *peer) Name() string { return experiment.PeerSource }

// Run keeps an agent running until ctx ends, with growing pauses between the tries.
// What was lost stays a gap; a new agent goes on with the same series.
func (p *peer) Run(ctx context.Context, sink sources.Sink) error {
	pause, advised := backoffMin, false
	for {
		c := p.newClient(p.every)
		began, came := time.Now(), make(chan struct{})
		go func() {
			defer close(came)
			if c.Ready(ctx) == nil {
				p.set(c)
				h := c.Header()
				sink.Event(sources.Event{At: time.Now(), Kind: sources.SourceUp, Host: p.host, Source: experiment.PeerSource, Subject: p.iface,
					Text: strings.Join(strings.Fields(strings.Join([]string{h.Driver, h.OS, h.Kernel}, " ")), " ")})
			}
		}()
		told, enough := context.WithCancel(ctx)
		go p.tellLink(told, c, sink)
		err := c.Run(ctx, sink)
		enough()
		<-came
		p.set(nil)
		if ctx.Err() != nil {
			return nil
		}
		text := "ended"
		if err != nil {
			text = err.Error()
		}
		if !advised && err != nil {
			if advice := p.advice(ctx, text); advice != "" {
				text += "; " + advice
			}
			advised = true
		}
		sink.Event(sources.Event{At: time.Now(), Kind: sources.SourceGone, Host: p.host, Source: experiment.PeerSource, Subject: p.iface, Text: text, Error: true})
		if time.Since(began) > steadyAfter {
			pause = backoffMin
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, backoffMax)
	}
}

// tellLink says how far the peer's clock is ahead, how sure that is, and what the
// agent's words cost the wire.
func (p *peer) tellLink(ctx context.Context, c *agent.Client, sink sources.Sink) {
	every := time.NewTicker(linkTold)
	defer every.Stop()
	for before := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			heard := c.Heard()
			if ahead, half, ok := c.Clock(); ok {
				sink.Event(sources.Event{At: now, Kind: sources.SourceNote, Host: p.host, Source: experiment.PeerSource,
					Text: fmt.Sprintf("clock %+.2f ms +-%.2f, ssh %.1f kB/s", float64(ahead.Microseconds())/1000,
						float64(half.Microseconds())/1000, float64(heard-before)/linkTold.Seconds()/1000)})
			}
			before = heard
		}
	}
}

func (p *peer) set(c *agent.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = c
}

func (p *peer) agent() (*agent.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == nil {
		return nil, fmt.Errorf("%s: %w", p.host, errNoPeer)
	}
	return p.client, nil
}

// advice is how netwatch gets onto a host that has none, or another one: the exact
// lines, for its system and machine.
func (p *peer) advice(ctx context.Context, said string) string {
	missing := strings.Contains(said, "not found") || strings.Contains(said, "No such file") || strings.Contains(said, "Exec format") ||
		strings.Contains(said, "exec format") || strings.Contains(said, "is netwatch ")
	if !missing || ctx.Err() != nil {
		return ""
	}
	told, err := proc.Ask(askLimit, p.argv("uname", "-sm")...)
	told = strings.TrimSpace(told)
	f := strings.Fields(told[strings.LastIndexByte(told, '\n')+1:]) // a banner may come first
	if err != nil || len(f) < 2 {
		return ""
	}
	arch := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[f[1]]
	return fmt.Sprintf("build and copy it: GOOS=%s GOARCH=%s CGO_ENABLED=0 go build -o netwatch.%s ./cmd/netwatch && scp netwatch.%s %s:netwatch, then --peer-path ./netwatch",
		strings.ToLower(f[0]), cmp.Or(arch, f[1]), p.host, p.host, p.host)
}

// Turn implements sources.Turner for this peer.
func (p *peer) Turn(ctx context.Context, host, knob, value string) error {
	c, err := p.agent()
	if err != nil {
		return err
	}
	return c.Turn(ctx, host, knob, value)
}

// Changed tells which of its knobs are not as they were.
func (p *peer) Changed() []knobs.Change {
	c, err := p.agent()
	if err != nil {
		return nil
	}
	return c.Changed()
}

// leave restores or keeps what was turned over there and says so.
func (p *peer) leave(ctx context.Context, w io.Writer, keep bool) error {
	changed := p.Changed()
	if len(changed) == 0 {
		return nil
	}
	c, err := p.agent()
	if err != nil {
		return err
	}
	if keep {
		if err := c.Keep(ctx); err != nil {
			return fmt.Errorf("%s: cannot keep what was turned: %w", p.host, err)
		}
		for _, k := range changed {
			fmt.Fprintf(w, "netwatch: %s: kept %s=%s (was %s)\n", p.host, k.Knob, k.Value, k.Start)
		}
		return nil
	}
	if err := c.Restore(ctx); err != nil {
		return &exitError{exitUnrestored, fmt.Errorf("%s: not everything could be put back: %w", p.host, err)}
	}
	left, used := c.Left(), false
	for _, k := range changed {
		if i := slices.IndexFunc(left, func(l knobs.Change) bool { return l.Knob == k.Knob }); i >= 0 {
			words, another := leftAt(k, left[i].Value)
			used = used || another
			fmt.Fprintf(w, "netwatch: %s: %s\n", p.host, words)
			continue
		}
		fmt.Fprintf(w, "netwatch: %s: put back %s=%s (was turned to %s)\n", p.host, k.Knob, k.Start, k.Value)
	}
	if used {
		return &exitError{exitUnrestored, nil}
	}
	return nil
}
