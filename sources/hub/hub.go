// Package hub runs sources and merges what they say into one Batch a tick. It
// never blocks a source: what nobody takes is merged into the next Batch, and
// beyond a bound samples are shed and counted. A source that panics is gone with
// its reason; the others go on. It does not know what is measured.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"netwatch/sources"
)

const (
	// Tick is how often a Batch is made, and how long an event waits at most.
	Tick = 100 * time.Millisecond
	// slowest is how often a Batch is made at least: who takes them tells by their
	// silence that something is wrong.
	slowest = time.Second
	// maxSamples and maxEvents bound what waits for a slow taker: about ten
	// seconds of a busy session. Events are shed only beyond their own bound.
	maxSamples = 20_000
	maxEvents  = 2_000
	// farewell is how long sources may take to end when the hub's context does.
	farewell = 2 * time.Second
)

// A Hub is a Sink for sources and turners and a stream of Batches for one taker.
type Hub struct {
	mu      sync.Mutex
	samples []sources.Sample
	events  []sources.Event
	shed    int
	closed  bool
	every   time.Duration
	news    chan struct{} // holds one after an event; nil where the next Batch is soon enough
	out     chan sources.Batch
	running sync.WaitGroup
}

// New returns a Hub that has no source yet.
func New() *Hub { return Every(Tick) }

// Every is New for a taker who wants Batches less often than each Tick. An event
// does not wait for that, and the pause is a second at most.
func Every(pause time.Duration) *Hub {
	h := &Hub{every: min(max(pause, Tick), slowest), out: make(chan sources.Batch)}
	if h.every > Tick {
		h.news = make(chan struct{}, 1)
	}
	return h
}

// Batches is the stream. It is closed when Run ends, after a last Batch.
func (h *Hub) Batches() <-chan sources.Batch { return h.out }

// Sample implements sources.Sink.
func (h *Hub) Sample(s sources.Sample) {
	if s.N == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.samples) >= maxSamples {
		h.shed++
		return
	}
	h.samples = append(h.samples, s)
}

// Event implements sources.Sink.
func (h *Hub) Event(e sources.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) >= maxEvents {
		h.shed++
		return
	}
	h.events = append(h.events, e)
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// Go starts a source. It may be called at any time before Run ends. The returned
// channel is closed when the source ended.
func (h *Hub) Go(ctx context.Context, s sources.Source) <-chan struct{} {
	done := make(chan struct{})
	h.running.Add(1)
	go func() {
		defer h.running.Done()
		defer close(done)
		err := h.run(ctx, s)
		if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return
		}
		e := sources.Event{At: time.Now(), Kind: sources.SourceGone, Source: s.Name(), Text: err.Error(), Error: true}
		if errors.Is(err, io.EOF) {
			e.Text, e.Error = "ended", false
		}
		h.Event(e)
	}()
	return done
}

func (h *Hub) run(ctx context.Context, s sources.Source) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug in netwatch: %v (%s)", p, panicPlace(debug.Stack()))
		}
	}()
	return s.Run(ctx, h)
}

// Run makes a Batch each Tick, or as often as is wanted, until ctx ends. Then it
// waits a little for the sources, hands over what they said last and closes the stream.
func (h *Hub) Run(ctx context.Context) {
	t := time.NewTicker(h.every)
	defer t.Stop()
	defer close(h.out)
	for hurry := false; ; {
		select {
		case <-h.news:
			if !hurry {
				hurry = true
				t.Reset(Tick)
			}
		case <-t.C:
			now := time.Now() // a late tick may bring a time after that of the next one
			if hurry {
				hurry = false
				t.Reset(h.every)
			}
			b := h.take(now)
			select {
			case h.out <- b:
			case <-ctx.Done():
				h.putBack(b)
			default:
				h.putBack(b)
			}
		case <-ctx.Done():
			h.wait()
			select {
			case h.out <- h.take(time.Now()):
			case <-time.After(farewell):
			}
			return
		}
	}
}

func (h *Hub) wait() {
	all := make(chan struct{})
	go func() { h.running.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(farewell):
	}
}

func (h *Hub) take(now time.Time) sources.Batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := sources.Batch{At: now, Samples: h.samples, Events: h.events, Shed: h.shed}
	h.samples, h.events, h.shed = make([]sources.Sample, 0, len(b.Samples)), nil, 0 // the next Batch is about as big
	return b
}

// putBack keeps a Batch that nobody took, in front of what came since.
func (h *Hub) putBack(b sources.Batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples = append(b.Samples, h.samples...)
	h.events = append(b.Events, h.events...)
	h.shed += b.Shed
}
