// Package siftr is the live source for the logs of siftr(4) and siftr2: it
// follows one log, or reads one from a pipe, and says per connection and tenth of
// a second what the records say. What a format does not carry is not said.
package siftr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"netwatch/sources"
	"netwatch/sources/tail"
)

// A Source reads one siftr log. It implements sources.Source.
type Source struct {
	label string // for messages: the path, or what the reader is
	path  string
	r     io.Reader
	name  atomic.Pointer[string]
}

// New returns a Source that follows the log at path, which need not exist yet.
func New(path string) *Source { return &Source{label: path, path: path} }

// FromReader returns a Source that reads a log from r until it ends; name is for
// messages. All of it is said, however old. If r is an io.Closer it is closed when
// Run returns.
func FromReader(name string, r io.Reader) *Source { return &Source{label: name, r: r} }

// Name is "siftr2" or "siftr" by the log's header, "siftr" while there is none.
func (s *Source) Name() string {
	if n := s.name.Load(); n != nil {
		return *n
	}
	return "siftr"
}

// Run implements sources.Source.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	l := newLive(s, sink)
	if s.r != nil {
		return s.read(ctx, l)
	}
	t := tail.Tail{Path: s.path}
	err := t.Run(ctx, l)
	l.bins.flush()
	return err
}

// read is Run for a reader. The reading goroutine and this one hand two buffers
// to and fro.
func (s *Source) read(ctx context.Context, l *live) error {
	if c, ok := s.r.(io.Closer); ok {
		defer c.Close()
	}
	full, empty := make(chan []byte), make(chan []byte, 2)
	failed := make(chan error, 1)
	for range 2 {
		empty <- make([]byte, 64<<10)
	}
	go pump(ctx, s.r, full, empty, failed)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			l.bins.flush()
			return nil
		case b := <-full:
			l.Data(b, 0)
			empty <- b[:cap(b)]
		case <-ticker.C:
			l.Looked()
		case err := <-failed:
			l.end()
			if !errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: %w", s.label, err)
			}
			return io.EOF
		}
	}
}

// pump reads r into the buffers until it fails or ctx ends.
func pump(ctx context.Context, r io.Reader, full chan<- []byte, empty <-chan []byte, failed chan<- error) {
	for {
		var b []byte
		select {
		case <-ctx.Done():
			return
		case b = <-empty:
		}
		n, err := r.Read(b)
		if n > 0 {
			select {
			case <-ctx.Done():
				return
			case full <- b[:n]:
			}
		}
		if err != nil {
			failed <- err
			return
		}
	}
}
