package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/sources/agent"
	"netwatch/sources/knobs"
	"netwatch/sources/tcp"
)

const (
	backoffMin  = time.Second // before the first new try
	backoffMax  = 15 * time.Second
	linkTold    = 2 * time.Second  // between words about clock and link
	steadyAfter = 30 * time.Second // a link that held so long starts over with backoffMin
)

// A peer is the other end of the testbed, reached by ssh: a source that keeps an
// agent running there, and the hand that turns its knobs. Agent forwarding, jump
// hosts and names are ssh's own business.
type peer struct {
	host, iface string
	ssh         []string      // the command, with its options
	path        string        // netwatch there
	every       time.Duration // between the samples of a session
	knobFlags   []string      // --knob, passed on
	program     string        // what push copies there: pushThis, a file, or noPush
	pushed      string        // the temporary folder there that push made
	restore     string        // what a person types to put back what was left turned there
	leaveOut    func(tcp.Way) // told by which connection it was reached; nil: nobody wants to know

	mu     sync.Mutex
	client *agent.Client     // nil: not connected
	lost   []knobs.Change    // turned by agents that are gone
	values map[string]string // what the knobs stand at, as the present agent tells
	came   bool              // it was connected
	why    string            // it was not, the last time
}

// argv is the ssh command that runs words over there.
func (p *peer) argv(words ...string) []string {
	return append(append(append([]string(nil), p.ssh...), "-o", "BatchMode=yes", p.host), words...)
}

// agentCommand starts the agent over there.
func (p *peer) agentCommand() []string {
	words := `agent --ssh-connection "$SSH_CONNECTION"` // sudo and doas would take it away
	for _, k := range p.knobFlags {
		words += ` --knob "` + k + `"`
	}
	return p.rootCommand(words + " -- " + p.iface)
}

// rootCommand runs netwatch over there, as root where that needs no password: without
// root the agent still measures, and its knobs are locked. sudo and doas are asked as
// here, by what does nothing: they may be allowed to run netwatch alone, by its whole
// path. A program that was pushed is removed when it ends, whatever became of this end.
func (p *peer) rootCommand(words string) []string {
	exec, after := "exec ", ""
	if p.pushed != "" {
		exec, after = "", "; s=$?; rm -rf "+p.pushed+"; exit $s"
	}
	run := "$n " + words
	script := "trap : HUP INT; n=`command -v " + p.path + "`; n=${n:-" + p.path + "}; if [ `id -u` -eq 0 ]; then " + exec + run +
		"; elif sudo -n $n agent --check >/dev/null 2>&1; then " + exec + "sudo -n " + run +
		"; elif doas -n $n agent --check >/dev/null 2>&1; then " + exec + "doas -n " + run +
		"; else " + exec + run + "; fi" + after
	return p.argv("sh", "-c", "'"+script+"'")
}

// newClient is for an agent over there; watch is how often it tells samples, 0 never.
func (p *peer) newClient(watch time.Duration) *agent.Client {
	return agent.NewClient(agent.ClientConfig{Argv: p.agentCommand(), Host: p.host, Version: version, Commit: commit(), Watch: watch, Restore: p.restore})
}

// Name is the word on the status line.
func (p *peer) Name() string { return experiment.PeerSource }

// Run keeps an agent running until ctx ends, with growing pauses between the tries.
// What was lost stays a gap; a new agent goes on with the same series.
func (p *peer) Run(ctx context.Context, sink sources.Sink) error {
	pause, advised := backoffMin, false
	for again := false; ; again = true {
		began := time.Now()
		quiet, err := p.try(ctx, sink, again)
		if ctx.Err() != nil {
			return nil
		}
		text := "ended"
		if err != nil {
			text = err.Error()
		}
		if !advised && err != nil {
			text, advised = p.advised(ctx, text), true
		}
		p.missed(text)
		sink.Event(sources.Event{At: time.Now(), Span: quiet, Kind: sources.SourceGone, Host: p.host, Source: experiment.PeerSource, Subject: p.iface, Text: text, Error: true})
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

// try runs one agent to its end, and tells how long it had said nothing then. A program that was pushed is pushed again: it was
// removed over there when its agent ended.
func (p *peer) try(ctx context.Context, sink sources.Sink, again bool) (quiet time.Duration, err error) {
	if again && p.program != noPush {
		if err := p.push(ctx); err != nil {
			return 0, err
		}
	}
	c, first := p.newClient(p.every), !p.hasCome()
	came := make(chan struct{})
	go func() {
		defer close(came)
		if c.Ready(ctx) == nil {
			h := c.Header()
			if w, ok := tcp.ParseWay(h.Options[sshOption]); ok && p.leaveOut != nil {
				p.leaveOut(w)
			}
			p.set(c)
			sink.Event(sources.Event{At: time.Now(), Kind: sources.SourceUp, Host: p.host, Source: experiment.PeerSource, Subject: p.iface,
				Text: strings.Join(strings.Fields(strings.Join([]string{h.Driver, h.OS, h.Kernel}, " ")), " ")})
		}
	}()
	told, enough := context.WithCancel(ctx)
	go p.tellLink(told, c, sink)
	err = c.Run(ctx, &peerSink{sink, p, first})
	enough()
	<-came
	p.lose(c)
	return c.Quiet(), err
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
			if quiet := c.Quiet(); quiet > 0 {
				sink.Event(sources.Event{At: now, Kind: sources.SourceNote, Host: p.host, Source: experiment.PeerSource, Text: fmt.Sprintf("no word for %v", quiet)})
			} else if ahead, within, ok := c.Clock(); ok {
				sink.Event(sources.Event{At: now, Kind: sources.SourceNote, Host: p.host, Source: experiment.PeerSource,
					Text: fmt.Sprintf("%s, ssh %.1f kB/s", clockText(ahead, within), float64(heard-before)/linkTold.Seconds()/1000)})
			}
			before = heard
		}
	}
}

// clockText tells the difference of two clocks. What rounding takes away is added to what
// it is known within.
func clockText(ahead, within time.Duration) string {
	const shown = 10 * time.Microsecond
	rounded := ahead.Round(shown)
	within += (ahead - rounded).Abs()
	within = (within + shown - 1).Truncate(shown)
	return fmt.Sprintf("clock %+.2f ms +-%.2f", rounded.Seconds()*1000, within.Seconds()*1000)
}

func (p *peer) set(c *agent.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = c
	p.came = p.came || c != nil
}

// lose takes note of an agent that is gone. One that could still act has put back what
// it turned; of one that was killed the next tells how the knobs stand. What that one told
// to be back is settled.
func (p *peer) lose(c *agent.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = nil
	p.lost = slices.DeleteFunc(p.lost, func(l knobs.Change) bool {
		value, told := p.values[l.Knob]
		return told && value != l.Value
	})
	p.lost = append(p.lost, c.Changed()...)
	clear(p.values)
}

// hasCome says whether it was connected before.
func (p *peer) hasCome() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.came
}

// A peerSink hears what the knobs of a peer stand at. What a netwatch that is gone left
// turned there is told when the peer first comes: later it may be this one's own, which
// leaving asks for.
type peerSink struct {
	sources.Sink
	peer  *peer
	first bool
}

// Event implements sources.Sink.
func (v *peerSink) Event(e sources.Event) {
	switch {
	case e.Kind == sources.KnobSeen || e.Kind == sources.KnobTurned || e.Kind == sources.KnobDrifted || e.Kind == sources.KnobFailed:
		v.peer.stands(e.Subject, e.New)
	case agent.IsLeft(e) && !v.first:
		return
	case agent.IsLeft(e):
		e.Text += "; " + v.peer.restore + " puts it back"
	}
	v.Sink.Event(e)
}

func (p *peer) stands(knob, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.values == nil {
		p.values = map[string]string{}
	}
	if value != "" {
		p.values[knob] = value
	}
}

func (p *peer) agent() (*agent.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == nil {
		return nil, fmt.Errorf("%s: %w", p.host, sources.ErrAway)
	}
	return p.client, nil
}

// Turn implements sources.Turner for this peer.
func (p *peer) Turn(ctx context.Context, host, knob, value string) error {
	c, err := p.agent()
	if err != nil {
		return err
	}
	return c.Turn(ctx, host, knob, value)
}
