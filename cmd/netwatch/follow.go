package main

import (
	"context"
	"io"
	"os"

	"netwatch/sources/tail"
)

// follow is a growing file as a stream: what is written to it, also after it was
// truncated or replaced. It ends when ctx does.
func follow(ctx context.Context, path string) io.Reader {
	r, w := io.Pipe()
	go func() {
		t := tail.Tail{Path: path}
		w.CloseWithError(t.Run(ctx, pipeHandler{w}))
	}()
	context.AfterFunc(ctx, func() { r.CloseWithError(io.EOF) })
	return r
}

// A pipeHandler passes on what a Tail reads.
type pipeHandler struct{ w *io.PipeWriter }

func (p pipeHandler) Data(b []byte, _ int64) {
	// A reader that went away ends the Tail's context as well.
	_, _ = p.w.Write(b)
}

func (p pipeHandler) Notice(tail.Notice) {}
func (p pipeHandler) Looked()            {}

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
