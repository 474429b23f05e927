package proc

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	r, w := io.Pipe()
	in := Read(t.Context(), r)
	go func() {
		io.WriteString(w, "one")
		io.WriteString(w, "two")
		w.Close()
	}()
	said := ""
	for o := range in.Output() {
		said += string(o.Data) + "|"
	}
	if said != "one|two|" || in.Err() != nil {
		t.Errorf("got %q, %v", said, in.Err())
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	in := Read(t.Context(), iotest.ErrReader(broken))
	for range in.Output() {
	}
	if !errors.Is(in.Err(), broken) {
		t.Errorf("got %v", in.Err())
	}
}

// TestReaderIsCancelled: nobody writes, and ctx ends.
func TestReaderIsCancelled(t *testing.T) {
	r, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	in := Read(ctx, r)
	cancel()
	for range in.Output() {
	}
}
