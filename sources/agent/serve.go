package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/knobs"
)

const (
	// restoreLimit is how long putting back may take: each link reset needs seconds.
	restoreLimit = time.Minute
	// farewell is how long the last words may take to an asker that reads slowly.
	farewell = time.Second
	// asked is how many requests may wait while a knob is turned.
	asked = 64
)

// A Hub runs sources and merges what they say: sources/hub's.
type Hub interface {
	sources.Sink
	Go(context.Context, sources.Source) <-chan struct{}
	Run(context.Context)
	Batches() <-chan sources.Batch
}

// A Config is what an agent serves.
type Config struct {
	Header recording.Header // said first; Interface is the one the agent is for
	Knobs  []sources.Knob
	State  string // directory of the journal; "": the knobs are simulated, nothing is kept
	// Watch makes what is watched, at the first request for it: sources that tell how
	// things are each so often, and the Hub for them. nil: there is nothing to watch.
	Watch func(every time.Duration) (Hub, []sources.Source)

	now func() time.Time // the clock that is told; nil: time.Now
}

// Serve works off the requests on in, and says on out what comes of them, until in
// or ctx ends, out is broken, or an asker is silent that promised not to be. Then it puts
// back what it turned, but for what it was told to keep, and says with a Done of ID 0
// what is left. The error tells what could not be put back, or is a *SilenceError; a
// caller that shall survive a broken pipe must ignore SIGPIPE.
func Serve(ctx context.Context, in io.Reader, out io.Writer, cfg Config) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	o, err := newOutlet(out, cfg.Header, end)
	if err != nil {
		return err
	}
	var journal *knobs.Journal
	if cfg.State != "" {
		journal, err = knobs.OpenJournal(cfg.State, cfg.Header.Interface, func(text string) {
			o.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: "knobs", Text: text, Error: true})
		})
		if err != nil {
			return errors.Join(err, o.close(farewell))
		}
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	s := &server{cfg: cfg, out: o, board: knobs.NewJournaled(o, journal, cfg.Knobs...), journal: journal, work: make(chan task, asked), began: time.Now()}
	s.running.Go(func() { s.watchKnobs(ctx) })
	go s.read(ctx, in, end)
	s.serve(ctx)
	end()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreLimit)
	defer cancel()
	restored := s.board.Restore(limited)
	s.running.Wait()
	o.answer(s.done(0, restored))
	if err := o.close(farewell); err != nil && restored != nil {
		return errors.Join(restored, err)
	}
	if limit := time.Duration(s.silent.Load()); limit > 0 && restored == nil {
		return &SilenceError{limit}
	}
	return restored
}

// A task is a request that waits, and whether it came late.
type task struct {
	recording.Request
	late bool
}

type server struct {
	cfg     Config
	out     *outlet
	board   *knobs.Board
	journal *knobs.Journal // nil: none is kept
	work    chan task
	watched bool
	running sync.WaitGroup

	began    time.Time
	heard    atomic.Int64 // requests
	silent   atomic.Int64 // how long (a time.Duration) nothing was heard, when that was the end
	attended sync.Once
}

// watchKnobs tells the knobs' values and what changes them. A panic must not take
// the agent down: it has knobs to put back.
func (s *server) watchKnobs(ctx context.Context) {
	err := guarded(func() error { return s.board.Run(ctx, s.out) })
	if err != nil {
		s.out.Event(sources.Event{At: time.Now(), Kind: sources.SourceGone, Source: "knobs", Text: err.Error(), Error: true})
	}
}

func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug in netwatch: %v", p)
		}
	}()
	return f()
}

// read takes requests until there are no more. The time is told at once, also while
// a knob is turned; the rest is worked off one after the other.
func (s *server) read(ctx context.Context, in io.Reader, end func()) {
	defer end()
	defer close(s.work)
	requests := recording.NewRequests(in)
	for {
		q, err := requests.Next()
		s.heard.Add(1)
		var bad *recording.SyntaxError
		switch {
		case errors.As(err, &bad):
			s.out.Event(sources.Event{At: time.Now(), Kind: sources.SourceNote, Source: "agent", Text: bad.Error(), Error: true})
			continue
		case err != nil:
			return
		case q.Clock != nil:
			s.clock(ctx, *q.Clock, end)
			continue
		}
		select {
		case s.work <- task{q, s.late(q)}:
		case <-ctx.Done():
			return
		}
	}
}

// serve works off requests until ctx ends. Of what waits then, a turn is not begun
// any more, but a knob that a person keeps is kept.
func (s *server) serve(ctx context.Context) {
	for {
		select {
		case q, more := <-s.work:
			if !more {
				return
			}
			s.one(ctx, q)
		case <-ctx.Done():
			for {
				select {
				case q, more := <-s.work:
					if !more {
						return
					}
					s.one(ctx, q)
				default:
					return
				}
			}
		}
	}
}

func (s *server) one(ctx context.Context, q task) {
	var id int64
	var left []recording.Change
	err := guarded(func() error {
		switch {
		case q.Turn != nil:
			id = q.Turn.ID
			switch {
			case ctx.Err() != nil:
				return errors.New("the agent is ending")
			case q.late:
				return errLate
			}
			return s.board.Turn(ctx, "", q.Turn.Knob, q.Turn.Value)
		case q.Restore != nil:
			id = q.Restore.ID
			was := s.board.Changed()
			left = s.back(context.WithoutCancel(ctx), was)
			err := s.board.Restore(context.WithoutCancel(ctx))
			left = append(left, s.left(context.WithoutCancel(ctx), was)...)
			return err
		case q.Keep != nil:
			id = q.Keep.ID
			if q.late {
				return errLate
			}
			return s.board.Keep(context.WithoutCancel(ctx), q.Keep.Knobs...)
		default:
			id = q.Watch.ID
			return s.watch(ctx, time.Duration(q.Watch.Every)*time.Microsecond)
		}
	})
	a := s.done(id, err)
	a.Done.Left = left
	s.out.answer(a)
}

// back is what of was has its first value again before this agent gave it.
func (s *server) back(ctx context.Context, was []knobs.Change) []recording.Change {
	var back []recording.Change
	for _, c := range was {
		i := slices.IndexFunc(s.cfg.Knobs, func(k sources.Knob) bool { return k.Spec().Name == c.Knob })
		if i < 0 {
			continue
		}
		if value, err := s.cfg.Knobs[i].Get(ctx); err == nil && value == c.Start {
			back = append(back, recording.Change{Knob: c.Knob, Start: c.Start, Value: value})
		}
	}
	return back
}

var errLate = errors.New("that came too late")

// left is what of was has another value than at first, though the board is done with it.
func (s *server) left(ctx context.Context, was []knobs.Change) []recording.Change {
	var left []recording.Change
	for _, c := range was {
		is := func(k sources.Knob) bool { return k.Spec().Name == c.Knob }
		i := slices.IndexFunc(s.cfg.Knobs, is)
		if i < 0 || slices.ContainsFunc(s.board.Changed(), func(still knobs.Change) bool { return still.Knob == c.Knob }) {
			continue
		}
		if value, err := s.cfg.Knobs[i].Get(ctx); err == nil && value != c.Start {
			left = append(left, recording.Change{Knob: c.Knob, Start: c.Start, Value: value})
		}
	}
	return left
}

func (s *server) done(id int64, err error) recording.Answer {
	d := &recording.Done{ID: id}
	if err != nil {
		d.Error = err.Error()
	}
	for _, c := range s.board.Changed() {
		d.Changed = append(d.Changed, recording.Change(c))
	}
	return recording.Answer{Done: d}
}

// watch starts the sources at the first call, and tells what was left turned.
func (s *server) watch(ctx context.Context, every time.Duration) error {
	switch {
	case s.cfg.Watch == nil:
		return errors.New("this agent has nothing to watch")
	case s.watched:
		return errors.New("it is watched already")
	}
	s.watched = true
	s.tellLeft()
	h, list := s.cfg.Watch(every)
	for _, src := range list {
		h.Go(ctx, src)
	}
	s.running.Go(func() { h.Run(ctx) })
	s.running.Go(func() { s.forward(ctx, h.Batches()) })
	return nil
}

// forward sends the hub's Batches. While the asker is slow the hub gathers them.
func (s *server) forward(ctx context.Context, batches <-chan sources.Batch) {
	for b := range batches {
		if !s.out.put(ctx.Done(), message{batch: b}) && ctx.Err() == nil {
			return
		}
	}
}
