// Package tail follows a growing file: it hands over every byte once, in order,
// and says when the file was truncated, replaced, moved away or has appeared. It
// knows nothing of lines; a partial last line is the reader's to keep.
//
// It looks with stat and read on a timer. Being told of each write by the kernel
// costs ten times more here: the log's writer makes thousands of writes a second.
package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

const (
	poll     = 100 * time.Millisecond // between looks at an open file
	retry    = 250 * time.Millisecond // between looks for an absent one
	chunk    = 256 << 10              // bytes of a read
	identity = 128                    // first bytes of a file that tell it from its successor
	ending   = 64 << 10               // last bytes shown when a file is opened
)

// A Kind says what happened to the file.
type Kind uint8

// The kinds of notices.
const (
	Opened     Kind = iota + 1 // the file is open; Data begins at its start
	Absent                     // nothing is at the path; it is waited for
	Unreadable                 // something is there that cannot be read; Err says why; it is tried again
	Truncated                  // the file began anew; Data begins again at its start
	Replaced                   // another file is at the path; the old one was read to its end
	MovedAway                  // nothing is at the path any more; the open file is still followed
)

// A Notice says what happened to the file between two pieces of data.
type Notice struct {
	Kind    Kind
	Err     error     // Unreadable
	Size    int64     // Opened: the size then
	Written time.Time // Opened: when the file was last written
	End     []byte    // Opened: the last bytes of the file then, valid during the call
}

// A Handler takes what a Tail reads. All calls come from the goroutine of Run.
type Handler interface {
	// Data is the next piece of the file, valid during the call. behind is how
	// many bytes the file has beyond it.
	Data(p []byte, behind int64)
	// Notice comes between the pieces of data it separates.
	Notice(Notice)
	// Looked comes after each look at the file, also when there was nothing new.
	Looked()
}

// A Tail follows the file at Path.
type Tail struct {
	Path string

	file   *os.File
	opened fs.FileInfo
	offset int64
	first  []byte // the first bytes of the file as they were when read
	gone   bool   // MovedAway was said
	said   Kind   // the last of Absent, Unreadable that was said
	buf    []byte
	check  []byte
}

// Run follows the file until ctx ends and returns nil then. No state of the file
// makes it give up.
func (t *Tail) Run(ctx context.Context, h Handler) error {
	t.buf, t.check = make([]byte, chunk), make([]byte, identity)
	defer t.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := retry
		if t.file != nil || t.open(h) {
			t.look(ctx, h)
			wait = poll
		}
		h.Looked()
		timer.Reset(wait)
	}
}

// open opens what is at the path, from its start.
func (t *Tail) open(h Handler) bool {
	f, info, err := openRegular(t.Path)
	if err != nil {
		kind := Unreadable
		if errors.Is(err, fs.ErrNotExist) {
			kind = Absent
		}
		if t.said != kind {
			t.said = kind
			h.Notice(Notice{Kind: kind, Err: err})
		}
		return false
	}
	t.close()
	t.file, t.opened, t.offset, t.first = f, info, 0, t.first[:0]
	t.gone, t.said = false, 0
	h.Notice(Notice{Kind: Opened, Size: info.Size(), Written: info.ModTime(), End: t.end(info.Size())})
	return true
}

// openRegular opens a regular file. A FIFO would block, a directory cannot grow.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "follow", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (t *Tail) end(size int64) []byte {
	n := min(size, ending)
	got, _ := t.file.ReadAt(t.buf[:n], size-n)
	return t.buf[:got]
}

func (t *Tail) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// look reads what is new, then looks whether the path still names the open file.
func (t *Tail) look(ctx context.Context, h Handler) {
	t.drain(ctx, h)
	info, err := os.Stat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !t.gone {
			t.gone = true
			h.Notice(Notice{Kind: MovedAway})
		}
	case err != nil:
	case os.SameFile(info, t.opened):
		t.gone = false
	case info.Size() > 0:
		// An empty successor is left alone: after rm and touch the kernel goes
		// on writing to the removed file until it is told to open the new one.
		t.drain(ctx, h)
		h.Notice(Notice{Kind: Replaced})
		t.close()
		if t.open(h) {
			t.drain(ctx, h)
		}
	}
}

// drain reads to the end of the open file.
func (t *Tail) drain(ctx context.Context, h Handler) {
	for ctx.Err() == nil {
		n, err := t.file.ReadAt(t.buf, t.offset)
		info, statErr := t.file.Stat()
		if statErr != nil {
			return
		}
		if info.Size() < t.offset+int64(n) || !t.same() {
			t.offset, t.first = 0, t.first[:0]
			h.Notice(Notice{Kind: Truncated})
			continue
		}
		if n > 0 {
			t.remember(t.buf[:n])
			t.offset += int64(n)
			h.Data(t.buf[:n], info.Size()-t.offset)
		}
		if n < len(t.buf) || err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// remember keeps the first bytes of the file.
func (t *Tail) remember(p []byte) {
	if room := identity - len(t.first); room > 0 {
		t.first = append(t.first, p[:min(room, len(p))]...)
	}
}

// same tells whether the file still begins with the bytes it began with. It is
// asked after a read and before its bytes are handed over: a file that was
// truncated and has grown past the old offset shows only here.
func (t *Tail) same() bool {
	got, _ := t.file.ReadAt(t.check[:len(t.first)], 0)
	return bytes.Equal(t.check[:got], t.first)
}
