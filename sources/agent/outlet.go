package agent

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

// waiting is how many Batches may wait for a slow reader. Answers have places of
// their own: each is waited for, so there are no more than requests.
const waiting = 256

var errWriter = errors.New("the asker does not read")

// A message is a Batch or an answer.
type message struct {
	batch  sources.Batch
	answer *recording.Answer
}

// An outlet writes messages from a goroutine of its own: an asker that does not
// read any more must not keep a knob from being put back. As a Sink it sends each
// event at once.
type outlet struct {
	out    *recording.Writer
	queue  chan message
	room   chan struct{} // holds one for each Batch in the queue
	owed   chan struct{} // holds one for each answer in the queue
	last   chan struct{} // closed: write what waits and end
	done   chan struct{} // closed: the writer has ended
	lost   atomic.Int64  // events that found the queue full since the last Batch
	broken func()        // called when a write fails
}

// newOutlet writes the header. broken is called when the pipe is.
func newOutlet(w io.Writer, h recording.Header, broken func()) (*outlet, error) {
	out, err := recording.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	o := &outlet{
		out: out, queue: make(chan message, waiting+asked), room: make(chan struct{}, waiting), owed: make(chan struct{}, asked),
		last: make(chan struct{}), done: make(chan struct{}), broken: broken,
	}
	go o.write()
	return o, nil
}

func (o *outlet) write() {
	defer close(o.done)
	for {
		select {
		case m := <-o.queue:
			if !o.send(m) {
				return
			}
		case <-o.last:
			for {
				select {
				case m := <-o.queue:
					if !o.send(m) {
						return
					}
				default:
					return
				}
			}
		}
	}
}

func (o *outlet) send(m message) bool {
	var err error
	if m.answer != nil {
		<-o.owed
		err = o.out.WriteAnswer(*m.answer)
	} else {
		<-o.room
		m.batch.Shed += int(o.lost.Swap(0))
		err = o.out.WriteBatch(m.batch)
	}
	if err != nil {
		o.broken()
	}
	return err == nil
}

// Event implements sources.Sink.
func (o *outlet) Event(e sources.Event) {
	if !o.offer(message{batch: sources.Batch{At: time.Now(), Events: []sources.Event{e}}}) {
		o.lost.Add(1)
	}
}

// Sample implements sources.Sink. A board has no samples; those of sources come by the hub.
func (o *outlet) Sample(s sources.Sample) {
	if !o.offer(message{batch: sources.Batch{At: time.Now(), Samples: []sources.Sample{s}}}) {
		o.lost.Add(1)
	}
}

// offer sends a Batch if there is room.
func (o *outlet) offer(m message) bool {
	select {
	case o.room <- struct{}{}:
		o.queue <- m
		return true
	default:
		return false
	}
}

// put waits for room for a Batch; false: the writer has ended or end did.
func (o *outlet) put(end <-chan struct{}, m message) bool {
	select {
	case o.room <- struct{}{}:
		o.queue <- m
		return true
	case <-o.done:
	case <-end:
	}
	return false
}

// answer sends an answer. One that finds no place was not waited for.
func (o *outlet) answer(a recording.Answer) {
	select {
	case o.owed <- struct{}{}:
		o.queue <- message{answer: &a}
	default:
	}
}

// close writes what waits, for as long as limit.
func (o *outlet) close(limit time.Duration) error {
	close(o.last)
	select {
	case <-o.done:
		return nil
	case <-time.After(limit):
		return errWriter
	}
}
