package main

import (
	"context"
	"io"

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
