package recording

import (
	"bufio"
	"errors"
	"io"
	"time"

	"netwatch/sources"
)

// waiting is how many Batches may wait for a slow disk: ten seconds.
const waiting = 100

// ErrTooSlow says that the disk did not keep up and a Batch was left out.
var ErrTooSlow = errors.New("the disk is too slow: part of the recording is missing")

// A Recorder writes Batches from a goroutine of its own, so that a slow disk
// never holds up the screen. It implements sources.Recorder.
type Recorder struct {
	batches chan sources.Batch
	done    chan error
}

// NewRecorder writes the header to w at once and starts the goroutine. What was
// recorded is flushed once a second.
func NewRecorder(w io.WriteCloser, h Header) (*Recorder, error) {
	buf := bufio.NewWriterSize(w, 256<<10)
	out, err := NewWriter(buf, h)
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	r := &Recorder{batches: make(chan sources.Batch, waiting), done: make(chan error, 1)}
	go func() { r.done <- errors.Join(r.write(out, buf), w.Close()) }()
	return r, nil
}

func (r *Recorder) write(out *Writer, buf *bufio.Writer) error {
	flush := time.NewTicker(time.Second)
	defer flush.Stop()
	var failed error
	for {
		select {
		case b, open := <-r.batches:
			if !open {
				return errors.Join(failed, buf.Flush())
			}
			if failed == nil {
				failed = out.WriteBatch(b)
			}
		case <-flush.C:
			if failed == nil {
				failed = buf.Flush()
			}
		}
	}
}

// Record takes a Batch. It never blocks: ErrTooSlow says that this one is lost.
func (r *Recorder) Record(b sources.Batch) error {
	select {
	case r.batches <- b:
		return nil
	default:
		return ErrTooSlow
	}
}

// Close writes what waits and closes the file. It returns the first write error.
func (r *Recorder) Close() error {
	close(r.batches)
	return <-r.done
}
