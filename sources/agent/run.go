package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/knobs"
	"netwatch/sources/proc"
)

const (
	banner   = 100     // lines that a login shell may say before the agent does
	lastSaid = 1 << 10 // bytes kept of what goes to standard error
	held     = 1000    // Batches that wait for the first answer about the clock
)

// Name is "agent".
func (c *Client) Name() string { return "agent" }

// Run starts the agent and passes on what it says until it is gone. When ctx ends
// it is told to end: it puts back what it turned, and Run waits for that. The error
// tells why an agent did not start, or how it died.
func (c *Client) Run(ctx context.Context, sink sources.Sink) error {
	agent, err := c.start()
	if err != nil {
		return c.fail(err)
	}
	c.mu.Lock()
	c.child = agent
	c.mu.Unlock()
	defer context.AfterFunc(ctx, agent.Stop)()
	if c.cfg.Host != "" {
		go c.listen(ctx, agent)
	}

	p := newPump(agent, &c.heard)
	r, err := recording.NewPipeReader(p.out, "agent", banner)
	switch {
	case err != nil:
		return c.never(ctx, agent, p, r, err)
	case c.another(r.Header) != "":
		p.stop()
		leave(agent)
		return c.fail(errors.New(c.another(r.Header)))
	}
	if n := len(r.Skipped); n > 0 {
		c.note(sink, fmt.Sprintf("%d lines before the agent%s spoke: %s", n, c.on(), short(r.Skipped[0])))
	}
	sink.Event(sources.Event{At: c.cfg.now(), Kind: sources.SourceUp, Host: c.cfg.Host, Source: "agent"})
	c.mu.Lock()
	c.header = r.Header
	c.mu.Unlock()
	hear := &hearing{client: c, sink: sink, series: map[*sources.Series]*sources.Series{}}
	if c.cfg.Host == "" {
		c.comes()
	} else {
		hear.wait = true
		clockCtx, stop := context.WithCancel(ctx)
		defer stop()
		go c.askClock(clockCtx)
	}
	if c.cfg.Watch > 0 {
		go c.watch(ctx, sink)
	}
	err = hear.all(r)
	p.stop()
	st := leave(agent)
	switch {
	case err != nil:
		return c.fail(fmt.Errorf("the agent%s does not speak any more: %w", c.on(), err))
	case ctx.Err() != nil && st.OK():
		return c.fail(nil)
	}
	return c.fail(c.died(st, p.stderr()))
}

// another says of an agent that it is not the netwatch that this one is.
func (c *Client) another(h recording.Header) string {
	theirs, ours := h.Version, c.cfg.Version
	if theirs == ours {
		if h.Commit == "" || c.cfg.Commit == "" || h.Commit == c.cfg.Commit {
			return ""
		}
		theirs, ours = theirs+" ("+h.Commit+")", ours+" ("+c.cfg.Commit+")"
	}
	return fmt.Sprintf("the agent%s is netwatch %s, this is %s", c.on(), short(theirs), ours)
}

// leave waits for the end of an agent that says nothing any more. One that does
// not end by itself is let go.
func leave(agent child) proc.Status {
	agent.Stop()
	for _, giveUp := range []func(){agent.Release, func() {}} {
		select {
		case <-agent.Done():
			return agent.Wait()
		case <-time.After(farewell):
			giveUp()
		}
	}
	return proc.Status{Code: -1, Signal: "none: it still runs"}
}

// never ends the Client of an agent that did not introduce itself.
func (c *Client) never(ctx context.Context, agent child, p *pump, r *recording.Reader, err error) error {
	p.stop()
	st := leave(agent)
	if ctx.Err() != nil {
		return c.fail(ctx.Err())
	}
	if c.silent.Load() {
		return c.fail(c.notStarted(fmt.Sprintf("no word for %v", silenceFirst), p.stderr()))
	}
	reason := err.Error()
	var bad *recording.SyntaxError
	if errors.As(err, &bad) {
		reason = st.String()
		if len(r.Skipped) > 0 {
			reason = fmt.Sprintf("it does not speak netwatch's language, but %q", short(r.Skipped[0]))
		}
		if strings.Contains(bad.Reason, "schema") {
			reason = bad.Reason
		}
	}
	return c.fail(c.notStarted(reason, p.stderr()))
}

// watch asks for what is to be watched. An agent that is silent just then is asked when
// it speaks again.
func (c *Client) watch(ctx context.Context, sink sources.Sink) {
	for {
		err := c.ask(ctx, "starting to watch", func(id int64) recording.Request {
			return recording.Request{Watch: &recording.Watch{ID: id, Every: c.cfg.Watch.Microseconds()}}
		})
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case !errors.Is(err, errSilent):
			c.note(sink, err.Error())
			return
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return
		case <-c.gone:
			return
		}
	}
}

func (c *Client) note(sink sources.Sink, text string) {
	sink.Event(sources.Event{At: c.cfg.now(), Kind: sources.SourceNote, Host: c.cfg.Host, Source: "agent", Text: text, Error: true})
}

// A pump takes what the agent says off its pipes: standard output as a stream,
// the end of standard error as words.
type pump struct {
	out  *io.PipeReader
	mu   sync.Mutex
	said []byte
	done chan struct{}
}

func newPump(agent child, heard *atomic.Int64) *pump {
	r, w := io.Pipe()
	p := &pump{out: r, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for o := range agent.Output() {
			heard.Add(int64(len(o.Data)))
			if !o.Stderr {
				_, _ = w.Write(o.Data) // after stop nobody wants it
				continue
			}
			p.mu.Lock()
			p.said = append(p.said, o.Data...)
			p.said = p.said[max(0, len(p.said)-lastSaid):]
			p.mu.Unlock()
		}
		w.Close()
	}()
	return p
}

// stop drops what is still said on standard output.
func (p *pump) stop() { p.out.Close() }

// stderr is the last of it.
func (p *pump) stderr() string {
	select {
	case <-p.done:
	case <-time.After(farewell): // somebody still holds the pipe
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.said)
}

// A hearing passes on what one agent says.
type hearing struct {
	client *Client
	sink   sources.Sink
	series map[*sources.Series]*sources.Series // the agent's to this side's
	wait   bool                                // the clocks are not compared yet
	held   []sources.Batch
	told   int // damaged lines
}

// all returns nil at the end of what the agent says.
func (h *hearing) all(r *recording.Reader) error {
	for {
		b, a, err := r.NextMessage()
		if r.NBad > h.told {
			if h.told == 0 {
				h.client.note(h.sink, "what the agent says is damaged: "+short(r.Bad[0].Error()))
			}
			h.told = r.NBad
		}
		switch {
		case errors.Is(err, io.EOF):
			h.flush()
			return nil
		case err != nil:
			return err
		case a != nil && a.Clock != nil:
			if h.client.compared(*a.Clock) {
				h.flush()
			}
		case a != nil:
			h.client.answered(*a.Done)
		case h.wait && len(h.held) < held:
			h.held = append(h.held, b)
		default:
			h.flush()
			h.pass(b)
		}
	}
}

func (h *hearing) flush() {
	for _, b := range h.held {
		h.pass(b)
	}
	h.wait, h.held = false, nil
}

func (h *hearing) pass(b sources.Batch) {
	offset, _, _ := h.client.Clock()
	for _, s := range b.Samples {
		s.Series = h.ours(s.Series)
		s.At = s.At.Add(-offset)
		h.sink.Sample(s)
	}
	for _, e := range b.Events {
		h.sink.Event(h.client.event(e, offset))
	}
	if b.Shed > 0 {
		h.client.note(h.sink, fmt.Sprintf("%d samples%s were not sent: the pipe is too slow", b.Shed, h.client.on()))
	}
}

// ours is this side's Series for one of the agent's: it has the host's name.
func (h *hearing) ours(s *sources.Series) *sources.Series {
	if h.client.cfg.Host == "" {
		return s
	}
	o := h.series[s]
	if o == nil {
		named := *s
		named.Host = h.client.cfg.Host
		o = &named
		h.series[s] = o
	}
	return o
}

func (c *Client) answered(d recording.Done) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.has, c.left, c.under = changes(d.Changed), changes(d.Left), nil
	if p, ok := c.open[d.ID]; ok && len(p.done) == 0 {
		p.done <- d
	}
}

func changes(said []recording.Change) []knobs.Change {
	var all []knobs.Change
	for _, k := range said {
		all = append(all, knobs.Change{Knob: printable(k.Knob), Start: printable(k.Start), Value: printable(k.Value)})
	}
	return all
}

// Clock says how far the agent's clock is ahead of this one, and within what: that is
// proven as long as the two drift apart by no more than 100 ppm (driftMost). ok is false
// before the first exchange; here, there is one clock.
func (c *Client) Clock() (ahead, within time.Duration, ok bool) {
	now := c.cfg.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock.at(now)
}

// printable replaces control characters: what an agent says may reach the screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// short is printable and no longer than a line of a screen: it is of what should not
// have been said.
func short(s string) string {
	const most = 120
	if r := []rune(printable(s)); len(r) > most {
		return string(r[:most]) + "..."
	}
	return printable(s)
}

var _ interface {
	sources.Source
	sources.Turner
} = (*Client)(nil)

var _ child = process{(*proc.Child)(nil)}
