package ping

import (
	"context"
	"fmt"
	"io"
	"time"

	"netwatch/sources"
	"netwatch/sources/proc"
)

// settle is how long output that is there already may take to read in.
const settle = 100 * time.Millisecond

// A Stream is the output of a ping that somebody else started.
type Stream struct {
	name string
	in   io.Reader
	book book
}

// FromReader makes a source of a pipe or a followed file. name is for the status
// line. If in is an io.Closer, Run closes it when ctx ends.
func FromReader(name string, in io.Reader) *Stream {
	return &Stream{name: name, in: in, book: book{}}
}

// Name is the name it was given.
func (s *Stream) Name() string { return s.name }

// Run reads until the input ends (io.EOF), ctx ends (nil) or reading fails.
func (s *Stream) Run(ctx context.Context, sink sources.Sink) error {
	began := time.Now()
	f := newFeed(s.book, sink, "", false, 0)
	in := proc.Read(ctx, s.in)
	ticker := time.NewTicker(Fastest)
	defer ticker.Stop()
	settled := time.After(settle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-settled:
			settled = nil
			f.backlog(began)
		case now := <-ticker.C:
			f.tick(now)
		case o, ok := <-in.Output():
			if ok {
				f.read(o.Data, false)
				if settled == nil {
					f.flush(o.At)
				} else {
					f.hold(o.At)
				}
				continue
			}
			if settled != nil {
				f.backlog(began)
			}
			f.end(time.Now())
			switch {
			case ctx.Err() != nil:
				return nil
			case in.Err() != nil:
				return fmt.Errorf("cannot read %s: %w", s.name, in.Err())
			}
			return io.EOF
		}
	}
}
