package proc

import (
	"context"
	"errors"
	"io"
	"time"
)

// A Reader hands out what an io.Reader gives, with arrival times: the output of a
// program that somebody else started.
type Reader struct {
	out chan Output
	err error
}

// Read starts to read in until it ends or ctx does. When ctx ends, in is closed if
// it is an io.Closer; if it is none, the read under way is left to itself.
func Read(ctx context.Context, in io.Reader) *Reader {
	r := &Reader{out: make(chan Output)}
	go func() {
		defer close(r.out)
		if c, ok := in.(io.Closer); ok {
			defer context.AfterFunc(ctx, func() { _ = c.Close() })()
		}
		for {
			buf := make([]byte, 32<<10)
			n, err := in.Read(buf)
			if n > 0 {
				select {
				case r.out <- Output{At: time.Now(), Data: buf[:n]}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				r.err = err
				return
			}
		}
	}()
	return r
}

// Output gives the pieces; it is closed at the end.
func (r *Reader) Output() <-chan Output { return r.out }

// Err says why reading ended, nil at the end of the input or of ctx. Call it when
// Output is closed.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}
