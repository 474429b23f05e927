package agent

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/proc"
)

// A fakeKnob is a value that may refuse, take its time, or panic. In a synctest bubble
// a slow set must end before the board's next poll, which waits for it with a mutex.
type fakeKnob struct {
	name string

	mu     sync.Mutex
	value  string
	refuse error
	slow   time.Duration
	bug    bool
}

func (k *fakeKnob) Spec() sources.KnobSpec {
	return sources.KnobSpec{Name: k.name, Values: []string{"0", "1", "2"}}
}

func (k *fakeKnob) Get(context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value, nil
}

func (k *fakeKnob) Set(_ context.Context, value string) error {
	time.Sleep(k.slow)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.bug:
		panic("bug")
	case k.refuse != nil:
		return k.refuse
	}
	k.value = value
	return nil
}

func (k *fakeKnob) is(t *testing.T, want string) {
	t.Helper()
	if got, _ := k.Get(t.Context()); got != want {
		t.Errorf("%s is %s, want %s", k.name, got, want)
	}
}

// A memoryChild is an agent without a process: Serve on pipes.
type memoryChild struct {
	in   *io.PipeWriter
	said *io.PipeReader
	out  chan proc.Output
	done chan struct{}
	st   proc.Status
	once sync.Once
}

// inMemory runs serve as a child. What it returns is its last words and status 3.
func inMemory(serve func(in io.Reader, out io.Writer) error) *memoryChild {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &memoryChild{in: inW, said: outR, out: make(chan proc.Output), done: make(chan struct{})}
	go func() {
		for {
			buf := make([]byte, 100) // lines come in pieces
			n, err := outR.Read(buf)
			if n > 0 {
				c.out <- proc.Output{At: time.Now(), Data: buf[:n]}
			}
			if err != nil {
				break
			}
		}
		close(c.out)
		close(c.done)
	}()
	go func() {
		if err := serve(inR, outW); err != nil {
			c.out <- proc.Output{Data: []byte(err.Error() + "\n"), Stderr: true}
			c.st = proc.Status{Code: 3}
		}
		inR.Close()
		outW.Close()
	}()
	return c
}

func (c *memoryChild) Output() <-chan proc.Output { return c.out }
func (c *memoryChild) Send(b []byte) error        { _, err := c.in.Write(b); return err }
func (c *memoryChild) Stop()                      { c.once.Do(func() { c.in.Close() }) }
func (c *memoryChild) Release()                   {}
func (c *memoryChild) Kill()                      { c.said.Close() }
func (c *memoryChild) Done() <-chan struct{}      { return c.done }
func (c *memoryChild) Wait() proc.Status          { <-c.done; return c.st }

type sink struct {
	mu      sync.Mutex
	events  []sources.Event
	samples []sources.Sample
}

func (s *sink) Sample(v sources.Sample) { s.mu.Lock(); s.samples = append(s.samples, v); s.mu.Unlock() }
func (s *sink) Event(e sources.Event)   { s.mu.Lock(); s.events = append(s.events, e); s.mu.Unlock() }

// story is the events but for KnobSeen and SourceUp, as "host kind subject asked>new text".
func (s *sink) story() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind != sources.KnobSeen && e.Kind != sources.SourceUp {
			list = append(list, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s>%s %s", e.Host, e.Kind, e.Subject, e.Asked, e.New, e.Text)), " "))
		}
	}
	return list
}

func (s *sink) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := s.story(); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const version = "1.2.3"

func header() recording.Header { return recording.Header{Version: version, Interface: "em4"} }

// A pair is a Client and, in the same process and synctest bubble, its agent.
type pair struct {
	*Client
	sink *sink
	stop func()
	end  chan error // what Run returned
}

func newPair(t *testing.T, cc ClientConfig, serve func(in io.Reader, out io.Writer) error) *pair {
	t.Helper()
	cc.Version = version
	if cc.Argv == nil {
		cc.Argv = []string{"netwatch", "agent", "em4"}
	}
	p := &pair{Client: NewClient(cc), sink: &sink{}, end: make(chan error, 1)}
	p.start = func() (child, error) { return inMemory(serve), nil }
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() { p.end <- p.Run(ctx, p.sink) }()
	synctest.Wait() // the board's first look at its knobs is over
	return p
}

// serving is an agent for newPair.
func serving(ctx context.Context, cfg Config) func(in io.Reader, out io.Writer) error {
	cfg.Header = header()
	return func(in io.Reader, out io.Writer) error { return Serve(ctx, in, out, cfg) }
}
