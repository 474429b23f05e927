package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/knobs"
	"netwatch/sources/proc"
)

// A ClientConfig says how an agent is started and what is wanted of it.
type ClientConfig struct {
	Argv    []string      // the whole command: sudo -n netwatch agent em4
	Env     []string      // added to its environment
	Host    string        // "" here, else the peer's name: what the agent says is marked with it
	Version string        // of this netwatch; the agent must be the same
	Commit  string        // it was built from; the agent must be the same where both are known
	Watch   time.Duration // between its samples; 0: none are wanted
	Restore string        // what a person types to put back what it left turned when it was killed

	now func() time.Time // this side's clock; nil: time.Now
}

// A Client is this side of one agent. Run starts it and, as a source, passes on
// what it says; the other methods ask it, and may be called before Run. When Run
// has ended the Client is used up: what it changed and could not put back stays
// in Changed.
type Client struct {
	cfg   ClientConfig
	start func() (child, error)

	ready chan struct{} // closed when the agent can be asked, or never will
	gone  chan struct{} // closed when it is gone

	write sync.Mutex // one request at a time
	mu    sync.Mutex
	child child
	err   error // why it is gone, or never came
	asks  int64
	open  map[int64]pending
	has   []knobs.Change
	left  []knobs.Change // by the last Restore
	under *knobs.Change  // a turn that has begun and is not answered
	clock clock

	header recording.Header
	heard  atomic.Int64
	seen   atomic.Int64 // Up of the newest answer about the clock
	quiet  atomic.Int64 // for so long (a time.Duration) it has said nothing
	spoke  atomic.Bool  // it has given its first answer
	silent atomic.Bool  // too long: it was given up
}

// Heard is how many octets the agent has said so far: what it costs the wire.
func (c *Client) Heard() int64 { return c.heard.Load() }

// Host is the peer's name, "" for an agent of this host.
func (c *Client) Host() string { return c.cfg.Host }

// Header is what the agent said of itself and its host; it is empty before Ready.
func (c *Client) Header() recording.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

// A child is a running agent: proc.Child.
type child interface {
	Output() <-chan proc.Output
	Send([]byte) error
	Stop()    // closes its input
	Release() // closes all its pipes
	Kill()    // of a messenger to another host, which alone hears of it
	Done() <-chan struct{}
	Wait() proc.Status
}

type process struct{ *proc.Child }

func (p process) Send(b []byte) error {
	_, err := p.Input().Write(b)
	return err
}

type pending struct {
	doing string // for a person, should it never be answered
	done  chan recording.Done
}

// NewClient makes the Client of an agent that is not started yet.
func NewClient(cfg ClientConfig) *Client {
	if cfg.now == nil {
		cfg.now = time.Now
	}
	cfg.Restore = cmp.Or(cfg.Restore, "netwatch restore")
	return &Client{
		cfg: cfg, ready: make(chan struct{}), gone: make(chan struct{}), open: map[int64]pending{},
		start: func() (child, error) {
			c, err := proc.Start(proc.Spec{Argv: cfg.Argv, Env: cfg.Env, Input: true, Detached: true})
			if err != nil {
				return nil, err
			}
			return process{c}, nil
		},
	}
}

// Ready waits until the agent has introduced itself and, on another host, has given its
// first answer. The error tells why it did not.
func (c *Client) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return &worded{fmt.Sprintf("the agent%s has not come yet", c.on()), ctx.Err()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Turn implements sources.Turner for the host of this agent.
func (c *Client) Turn(ctx context.Context, host, knob, value string) error {
	if host != c.cfg.Host {
		return fmt.Errorf("host %q: this agent turns the knobs of %q: %w", host, c.cfg.Host, errors.ErrUnsupported)
	}
	return c.ask(ctx, "turning "+knob+" to "+value, func(id int64) recording.Request {
		return recording.Request{Turn: &recording.Turn{ID: id, Knob: knob, Value: value, Seen: c.seen.Load()}}
	})
}

// Restore has every knob put back that this agent turned.
func (c *Client) Restore(ctx context.Context) error {
	return c.ask(ctx, "putting back what it turned", func(id int64) recording.Request {
		return recording.Request{Restore: &recording.Ask{ID: id}}
	})
}

// Keep leaves the named knobs as this agent turned them, all of them where none is named.
func (c *Client) Keep(ctx context.Context, names ...string) error {
	return c.ask(ctx, "keeping what it turned", func(id int64) recording.Request {
		return recording.Request{Keep: &recording.Keep{ID: id, Knobs: names, Seen: c.seen.Load()}}
	})
}

// Changed tells which knobs the agent would put back, oldest turn first, as of its
// last answer.
func (c *Client) Changed() []knobs.Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]knobs.Change(nil), c.has...)
}

// Left tells what the last Restore left because others turned it since, or had put it
// back themselves; Value is what it is now.
func (c *Client) Left() []knobs.Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]knobs.Change(nil), c.left...)
}

// ask sends a request and waits for its answer. When none came to what was sent the
// error is sources.ErrUnanswered: nobody here knows what became of it.
func (c *Client) ask(ctx context.Context, doing string, request func(id int64) recording.Request) error {
	if err := c.Ready(ctx); err != nil {
		return err
	}
	if quiet := c.Quiet(); quiet > 0 {
		return &worded{fmt.Sprintf("the agent%s has not said a word for %v: it is not asked", c.on(), quiet), errSilent}
	}
	p := pending{doing: doing, done: make(chan recording.Done, 1)}
	c.mu.Lock()
	c.asks++
	id := c.asks
	c.open[id] = p
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.open, id)
		c.mu.Unlock()
	}()
	if err := c.send(request(id)); err != nil {
		select { // its end has more words than a broken pipe
		case <-c.gone:
		case <-time.After(farewell):
			return fmt.Errorf("the agent takes no requests any more: %w", err)
		case <-ctx.Done():
			return c.unanswered(ctx.Err())
		}
	}
	select {
	case d := <-p.done:
		return answer(d)
	case <-c.gone:
	case <-ctx.Done():
		return c.unanswered(ctx.Err())
	}
	select {
	case d := <-p.done: // it answered, and went
		return answer(d)
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &worded{c.err.Error(), errors.Join(sources.ErrUnanswered, c.err)}
}

// unanswered is for an asker that waits no longer.
func (c *Client) unanswered(why error) error {
	return &worded{fmt.Sprintf("the agent%s did not answer in time", c.on()), errors.Join(sources.ErrUnanswered, why)}
}

// A worded error has words for a person instead of Go's.
type worded struct {
	text string
	is   error
}

func (w *worded) Error() string { return w.text }
func (w *worded) Unwrap() error { return w.is }

func answer(d recording.Done) error {
	if d.Error != "" {
		return errors.New(printable(d.Error))
	}
	return nil
}

func (c *Client) send(q recording.Request) error {
	line, err := recording.AppendRequest(nil, q)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	c.mu.Lock()
	agent := c.child
	c.mu.Unlock()
	return agent.Send(line)
}

// comes makes the Client one that can be asked. How long that took is no silence.
func (c *Client) comes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ready:
	default:
		c.quiet.Store(0)
		c.spoke.Store(true)
		close(c.ready)
	}
}

var (
	errEnded  = errors.New("the agent has ended")
	errSilent = errors.New("it is silent") // it was not asked
)

// fail ends the Client with what a person is told, nil when it was told to end.
func (c *Client) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil {
		c.err = errEnded
	}
	select {
	case <-c.ready:
	default:
		close(c.ready)
	}
	close(c.gone)
	return err
}

// notStarted says why an agent never introduced itself, by what it or the program
// that should have started it said instead.
func (c *Client) notStarted(reason, said string) error {
	said = lastLine(said)
	if name := filepath.Base(c.cfg.Argv[0]); name == "sudo" || name == "doas" {
		return fmt.Errorf("cannot become root: %s: %w", cmp.Or(said, reason), os.ErrPermission)
	}
	if said != "" {
		reason += ": " + said
	}
	return fmt.Errorf("the agent%s did not start: %s", c.on(), reason)
}

// died says how an agent ended that had begun to work, and what that leaves: also
// what it was about to turn. Of a peer it is the link that is gone: over there the
// agent lives until it has put back what it turned. What to do comes first: a narrow
// screen cuts the end.
func (c *Client) died(st proc.Status, said string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	after, how := c.cfg.Restore+" puts back what it left turned", st.String()
	if c.cfg.Host != "" {
		after = "it puts back what it turned, or " + c.cfg.Restore + " does if it was killed"
	}
	if c.silent.Load() {
		how = fmt.Sprintf("no word for %v", silenceHere)
	}
	if said = lastLine(said); said != "" {
		how += ": " + said
	}
	left := len(c.has) > 0
	for _, p := range c.open {
		if len(p.done) == 0 {
			left = true
			how += ", while " + p.doing
		}
	}
	var turned []string
	for _, k := range c.has {
		turned = append(turned, fmt.Sprintf("%s=%s (was %s)", k.Knob, k.Value, k.Start))
	}
	if u := c.under; u != nil && !slices.ContainsFunc(c.has, func(k knobs.Change) bool { return k.Knob == u.Knob }) {
		turned = append(turned, fmt.Sprintf("perhaps %s=%s (was %s)", u.Knob, u.Value, u.Start))
		c.has = append(c.has, *u)
	}
	text := "the agent" + c.on() + " is gone"
	if left {
		text += "; " + after
	}
	if len(turned) > 0 {
		text += ": " + strings.Join(turned, ", ")
	}
	return errors.New(text + " (" + how + ")")
}

func (c *Client) on() string {
	if c.cfg.Host == "" {
		return ""
	}
	return " on " + c.cfg.Host
}

// lastLine is the last words of a program, fit for the screen.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return printable(strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:]))
}

// event marks an event with the host it comes from and this side's time, and notes a
// turn that begins.
func (c *Client) event(e sources.Event, offset time.Duration) sources.Event {
	e.Host = c.cfg.Host
	e.At = e.At.Add(-offset)
	e.Text = printable(e.Text)
	if e.Kind == sources.KnobTurning {
		c.mu.Lock()
		c.under = &knobs.Change{Knob: e.Subject, Start: e.Old, Value: e.Asked}
		c.mu.Unlock()
	}
	return e
}
