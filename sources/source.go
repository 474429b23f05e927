package sources

import "context"

// A Sink takes what a source says. It never blocks; its methods may be called
// from any goroutine.
type Sink interface {
	Sample(Sample)
	Event(Event)
}

// A Source measures something until its context ends.
type Source interface {
	// Name is the word on the status line: "nic", "siftr2", "iperf3".
	Name() string
	// Run says what it measures to the sink. It returns nil when ctx ended, io.EOF
	// when its input ended (a child that exited, a file read to its end), and any
	// other error in words fit for the screen when it cannot go on.
	Run(ctx context.Context, sink Sink) error
}

// A Recorder keeps batches. Record must not block for long: it has its own
// buffer and goroutine.
type Recorder interface {
	Record(Batch) error
}
