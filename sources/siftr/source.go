// Package siftr is the live source for the logs of siftr(4) and siftr2: it
// follows a log, or the one that a module is told to write, or reads one from a pipe,
// and says per connection and tenth of a second what the records say. What a format
// does not carry is not said; the throughput of a log that lacks packets is said as
// sampled, never as goodput. A Logger switches a module on for a run.
package siftr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"netwatch/sources"
	"netwatch/sources/tail"
)

// A Source reads one siftr log. It implements sources.Source.
type Source struct {
	label  string // for messages: a short name of the file, or what the reader is
	path   string
	r      io.Reader
	kernel Kernel // nil: nothing is known of how the log is written
	module string // whose log is followed wherever it goes; "" for a path
	peers  *set   // the logs followed together; nil for one alone
	name   atomic.Pointer[string]
	found  atomic.Bool // there was something at the path
}

// A set is logs that are followed together. The first log of a module to begin has
// plain flow ids; those of the others carry the log's label, so that the same id in
// two logs is not one connection.
type set struct {
	mu    sync.Mutex
	first map[string]*Source
}

// tag is what the ids of a log carry.
func (s *set) tag(module string, src *Source) string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first[module] == nil {
		s.first[module] = src
	}
	if s.first[module] == src {
		return ""
	}
	return "@" + src.label
}

// New returns a Source that follows the log at path, which need not exist yet.
func New(path string) *Source { return &Source{label: filepath.Base(path), path: path} }

// Logs returns Sources that follow several logs. k tells how this host's kernel
// writes those that are its own; nil when that cannot be known.
func Logs(k Kernel, paths ...string) []*Source {
	peers := &set{first: map[string]*Source{}}
	same := map[string]int{}
	for _, p := range paths {
		same[filepath.Base(p)]++
	}
	var all []*Source
	for _, p := range paths {
		s := New(p)
		s.kernel, s.peers = k, peers
		if same[s.label] > 1 {
			s.label = p
		}
		all = append(all, s)
	}
	return all
}

// Modules returns Sources that follow what siftr2 and siftr are told to write, now
// and after another log file was set. A module that is not loaded is waited for.
func Modules(k Kernel) []*Source {
	var all []*Source
	for _, m := range modules {
		s := &Source{kernel: k, module: m}
		s.name.Store(&m)
		all = append(all, s)
	}
	return all
}

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

// Missing is the path of a log that was named and was never there, else "".
func (s *Source) Missing() string {
	if s.r != nil || s.module != "" || s.found.Load() {
		return ""
	}
	return s.path
}

// whole is the name by which a person finds the log.
func (s *Source) whole() string { return cmp.Or(s.path, s.label) }

// Run implements sources.Source.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	l := newLive(s, sink)
	defer l.bins.flush()
	switch {
	case s.r != nil:
		return s.read(ctx, l)
	case s.module == "":
		t := tail.Tail{Path: s.path}
		return t.Run(ctx, l)
	}
	for first := true; ctx.Err() == nil; first = false {
		if !s.find(ctx, l, first) {
			return nil
		}
		follow, leave := context.WithCancel(ctx)
		l.leave = leave
		t := tail.Tail{Path: s.path}
		err := t.Run(follow, l)
		leave()
		if err != nil {
			return err
		}
		l.end()
	}
	return nil
}

// find waits until the module writes a log; the first one may be finished. It
// returns false when ctx ended.
func (s *Source) find(ctx context.Context, l *live, first bool) bool {
	tick := time.NewTicker(switchesEvery)
	defer tick.Stop()
	for {
		sw, err := ReadSwitches(s.kernel, s.module)
		if err == nil && sw.LogFile != "" && (first || sw.Enabled) {
			s.path, s.label = sw.LogFile, filepath.Base(sw.LogFile)
			l.moved()
			return true
		}
		if errors.Is(err, errors.ErrUnsupported) {
			<-ctx.Done()
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
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
