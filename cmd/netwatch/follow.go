package main

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	"netwatch/sources/tail"
)

// A follower is a growing file as a stream: what is written to it, also after it was
// truncated or replaced. It ends when its ctx does.
type follower struct {
	io.Reader
	path  string
	w     *io.PipeWriter
	note  func(text string)
	found atomic.Bool // there was something at the path
	since atomic.Int64
}

// follow follows a file. What is worth a word about the file itself goes to note.
func follow(ctx context.Context, path string, note func(text string)) *follower {
	r, w := io.Pipe()
	f := &follower{Reader: r, path: path, w: w, note: note}
	go func() {
		t := tail.Tail{Path: path}
		w.CloseWithError(t.Run(ctx, f))
	}()
	context.AfterFunc(ctx, func() { r.CloseWithError(io.EOF) })
	return f
}

// Missing is the path of a file that was never there, else "".
func (f *follower) Missing() string {
	if f.found.Load() {
		return ""
	}
	return f.path
}

// Since is when the file was opened, or found to begin anew: what is read was written
// later, or was there already.
func (f *follower) Since() time.Time { return time.Unix(0, f.since.Load()) }

// Data implements tail.Handler.
func (f *follower) Data(b []byte, _ int64) {
	// A reader that went away ends the Tail's context as well.
	_, _ = f.w.Write(b)
}

// Notice implements tail.Handler.
func (f *follower) Notice(n tail.Notice) {
	switch n.Kind {
	case tail.Opened:
		f.found.Store(true)
		f.since.Store(time.Now().UnixNano())
	case tail.Truncated:
		f.since.Store(time.Now().UnixNano())
	case tail.Absent:
		f.note(f.path + ": not there yet, waiting for it")
	case tail.Unreadable:
		f.note("cannot read " + n.Err.Error())
	}
}

// Looked implements tail.Handler.
func (f *follower) Looked() {}

func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// A pipe is a named one, opened at the first reading: opening waits for its writer.
type pipe struct {
	path string
	file *os.File
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) {
	if p.file == nil {
		f, err := os.Open(p.path)
		if err != nil {
			return 0, err
		}
		p.file = f
	}
	return p.file.Read(b)
}
