package iperf

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"netwatch/parsers/iperf"
	"netwatch/sources"
	"netwatch/sources/proc"
)

// settle is how long output that is there already may take to read in. What comes
// in this time counts as one piece: its rows may be of runs long over.
const settle = 100 * time.Millisecond

// A Stream is the output of a load that somebody else started.
type Stream struct {
	name string
	in   io.Reader
	book book

	mu     sync.Mutex
	result Result
}

// FromReader makes a source of a pipe or a followed file. name is for the status
// line. If in is an io.Closer, Run closes it when ctx ends. If it has Since() time.Time, a
// run that is over and began before that time was there already, as in a file that was
// copied: it is no run of now.
func FromReader(name string, in io.Reader) *Stream {
	return &Stream{name: name, in: in, book: newBook()}
}

// Name is the name it was given.
func (s *Stream) Name() string { return s.name }

// Result says how the input ended. There is no exit status to know of: it has failed
// if the tool reported an error or reading did.
func (s *Stream) Result() Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

func (s *Stream) ended(failed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result = Result{Ended: true, Failed: failed != "", Text: failed}
}

// Run reads until the input ends (io.EOF), ctx ends (nil) or reading fails.
func (s *Stream) Run(ctx context.Context, sink sources.Sink) error {
	last := time.Now()
	f := newFeed(s.book, sink, "", last)
	in := proc.Read(ctx, s.in)
	settled := time.After(settle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-settled:
			settled = nil
			f.flush(last)
		case o, ok := <-in.Output():
			if ok {
				f.read(o.Data, false)
				if file, ok := s.in.(interface{ Since() time.Time }); ok && file.Since().After(f.began) {
					f.began = file.Since()
					settled = time.After(settle)
				}
				if last = o.At; settled == nil {
					f.flush(last)
				}
				continue
			}
			f.end(last, "")
			switch {
			case ctx.Err() != nil:
				return nil
			case in.Err() != nil:
				err := fmt.Errorf("cannot read %s: %w", s.name, in.Err())
				s.ended(err.Error())
				return err
			}
			if f.tool == "" && len(f.last) > 0 {
				f.failed = fmt.Sprintf("%s is no output of iperf3 or iperf: %q", s.name, f.last[0])
				f.note(last, iperf.Tool(s.name), f.failed, true)
			}
			s.ended(f.failed)
			return io.EOF
		}
	}
}
