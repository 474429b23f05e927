//go:build linux || freebsd

package nic

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// listen reads what the kernel announces on a non-blocking socket, which it closes,
// until ctx ends. next takes the first message off b and says whether it tells the
// state of our link.
func listen(ctx context.Context, f *os.File, changes chan<- linkChange, next func(b []byte) (up, ours bool, rest []byte, err error)) error {
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()

	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS):
			continue // more was announced than fits; the next poll tells the state
		case err != nil:
			return err
		}
		now := time.Now()
		for rest := buf[:n]; len(rest) > 0; {
			var up, ours bool
			if up, ours, rest, err = next(rest); err != nil {
				return err
			}
			if !ours {
				continue
			}
			select {
			case changes <- linkChange{now, up}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}
