// Package nic is the source of what one network interface counts: octets,
// packets, drops and errors as the network stack sees them, the MAC's own
// counters where the driver shows them, and the state of the link.
//
// It is about one interface, by name. When the interface vanishes it waits for
// the same name to come back and never takes another one.
package nic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"netwatch/sources"
)

const (
	pollEvery  = 100 * time.Millisecond // at most so often
	wholeEvery = time.Second            // what is dear or slow to move
	failsInRow = 10                     // readings that may fail before the source gives up
	// hurryFor is how long a link that went down is polled each pollEvery, however
	// seldom polls are wanted: after a turn it is back within seconds.
	hurryFor = 10 * time.Second
)

// errGone is what a kernel says when it has no interface of the name.
var errGone = errors.New("no such interface")

// renamed is errGone with the name that the interface has now.
type renamed struct{ to string }

func (e renamed) Error() string        { return "renamed to " + e.to }
func (e renamed) Is(target error) bool { return target == errGone }

// stack are the counters every interface has, in the order of reading.stack.
// An operating system may leave out the last ones.
var stack = []sources.Metric{
	sources.RxOctets, sources.TxOctets, sources.RxPackets, sources.TxPackets,
	sources.RxDrops, sources.TxDrops, sources.RxErrors, sources.TxErrors, sources.MissedPkts,
}

// Places in the table stack.
const (
	rxOctets = iota
	txOctets
	rxPackets
	txPackets
)

// A group are counters of the card that are read together, as far as the driver
// has them.
type group struct {
	metrics []sources.Metric
	values  []uint64
}

// A reading is what the kernel says of the interface at one moment. The slices
// are reused from poll to poll.
type reading struct {
	epoch   int    // another number is another interface under the same name
	up      bool   // has a link
	speed   uint64 // bit/s of the wire that bounds what can be true; 0 without one
	stepped bool   // the driver refreshes the stack counters now and then
	lazy    bool   // mac is refreshed by the driver now and then, not by reading it
	handed  bool   // stack packets are as handed over, a super-packet counted once
	stack   []uint64
	mac     group // refreshed together, now and then
	queues  group // counted at once; empty unless the whole was asked for
}

// A linkChange is said by the kernel at the moment it happens; polls would miss
// a flap of 0.15 s.
type linkChange struct {
	at time.Time
	up bool
}

// A kernel answers for one interface.
type kernel interface {
	// read fills r; whole asks also for what is read each second only. It returns
	// errGone when there is no interface of the name.
	read(r *reading, whole bool) error
	// watch sends link changes until ctx ends. An error says in words why it cannot.
	watch(ctx context.Context, changes chan<- linkChange) error
	close() error
}

// Source is the source "nic" of one interface.
type Source struct {
	iface string
	every time.Duration
	open  func(iface string) (kernel, error)
	wall  func(time.Time) time.Time // the wall clock's part of a time; a test shifts it
}

// New makes the source for the interface of that name, with a sample of its
// counters each so often.
func New(iface string, every time.Duration) *Source {
	return &Source{iface, max(every, pollEvery), openKernel, wallClock}
}

// watch is the kernel's, and survives its panic as the hub does that of a source: here
// is a goroutine that the hub does not know, and the terminal would be left as it is.
func watch(ctx context.Context, k kernel, changes chan<- linkChange) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug in netwatch: %v", p)
		}
	}()
	return k.watch(ctx, changes)
}

// Name is "nic".
func (s *Source) Name() string { return "nic" }

// Run polls the interface until ctx ends. It fails when there is no such
// interface at the start, or when the kernel refuses several readings in a row.
func (s *Source) Run(ctx context.Context, sink sources.Sink) error {
	k, err := s.open(s.iface)
	if err != nil {
		return fmt.Errorf("%s: %w", s.iface, err)
	}
	defer k.close()

	w := newWatcher(s, k, sink)
	if err := w.first(time.Now()); err != nil {
		return fmt.Errorf("%s: %w", s.iface, err)
	}

	watchCtx, stop := context.WithCancel(ctx)
	changes, watched := make(chan linkChange, 16), make(chan error, 1)
	go func() { watched <- watch(watchCtx, k, changes) }()
	defer func() {
		stop()
		if watched != nil {
			<-watched
		}
	}()

	every := s.every
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if next := w.pace(time.Now(), watched == nil); next != every {
			every = next
			tick.Reset(every)
		}
		select {
		case <-ctx.Done():
			return nil
		case c := <-changes:
			w.link(c.at, c.up)
		case err := <-watched:
			watched = nil
			if err != nil && ctx.Err() == nil {
				w.note(time.Now(), fmt.Sprintf("link changes shorter than %v may be missed: %v", pollEvery, err))
			}
		case <-tick.C:
			// A change that waits is older than the reading that follows.
			for len(changes) > 0 {
				c := <-changes
				w.link(c.at, c.up)
			}
			if err := w.poll(time.Now()); err != nil {
				return fmt.Errorf("%s: %w", s.iface, err)
			}
		}
	}
}

// Interfaces are the names of this host's interfaces, sorted, for a message
// about a name that is not among them.
func Interfaces() ([]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(all))
	for _, i := range all {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names, nil
}
