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
	pollEvery  = 100 * time.Millisecond
	failsInRow = 10 // readings that may fail before the source gives up
)

// errGone is what a kernel says when it has no interface of the name.
var errGone = errors.New("no such interface")

// stack are the counters every interface has, in the order of reading.stack.
// An operating system may leave out the last ones.
var stack = []sources.Metric{
	sources.RxOctets, sources.TxOctets, sources.RxPackets, sources.TxPackets,
	sources.RxDrops, sources.TxDrops, sources.RxErrors, sources.TxErrors, sources.MissedPkts,
}

// mac are the MAC's own counters, in the order of reading.mac.
var mac = []sources.Metric{
	sources.RxWireOctets, sources.TxWireOctets, sources.RxWirePkts, sources.TxWirePkts, sources.MissedPkts,
}

// A reading is what the kernel says of the interface at one moment. The slices
// are reused from poll to poll.
type reading struct {
	epoch   int // another number is another interface under the same name
	up      bool
	stepped bool     // the driver refreshes the stack counters now and then
	stack   []uint64 // as in the table stack
	mac     []uint64 // as in the table mac, or empty
}

// A linkChange is said by the kernel at the moment it happens; polls would miss
// a flap of 0.15 s.
type linkChange struct {
	at time.Time
	up bool
}

// A kernel answers for one interface.
type kernel interface {
	// read fills r. It returns errGone when there is no interface of the name.
	read(r *reading) error
	// watch sends link changes until ctx ends. An error says in words why it cannot.
	watch(ctx context.Context, changes chan<- linkChange) error
	close() error
}

// Source is the source "nic" of one interface.
type Source struct {
	iface string
	open  func(iface string) (kernel, error)
}

// New makes the source for the interface of that name.
func New(iface string) *Source { return &Source{iface: iface, open: openKernel} }

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

	w := newWatcher(s.iface, k, sink)
	if err := w.first(time.Now()); err != nil {
		return fmt.Errorf("%s: %w", s.iface, err)
	}

	watchCtx, stop := context.WithCancel(ctx)
	changes, watched := make(chan linkChange, 16), make(chan error, 1)
	go func() { watched <- k.watch(watchCtx, changes) }()
	defer func() {
		stop()
		if watched != nil {
			<-watched
		}
	}()

	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
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

// A watcher turns readings into samples and events.
type watcher struct {
	iface string
	k     kernel
	sink  sources.Sink
	now   reading

	stack, mac meter
	epoch      int
	present    bool
	up         bool
	downSince  time.Time
	fails      int
}

func newWatcher(iface string, k kernel, sink sources.Sink) *watcher {
	return &watcher{iface: iface, k: k, sink: sink,
		stack: newMeter(iface, stack), mac: newMeter(iface, mac)}
}

// first reads the baseline.
func (w *watcher) first(now time.Time) error {
	if err := w.k.read(&w.now); err != nil {
		return err
	}
	w.present, w.up, w.epoch = true, w.now.up, w.now.epoch
	if !w.up {
		w.downSince = now
		w.event(sources.Event{At: now, Kind: sources.LinkDown, Text: w.iface + " has no link"})
	}
	w.count(now)
	return nil
}

func (w *watcher) poll(now time.Time) error {
	switch err := w.k.read(&w.now); {
	case errors.Is(err, errGone):
		if w.present {
			w.present = false
			w.baseline()
			w.lose(now, w.iface+" GONE")
		}
		return nil
	case err != nil:
		if w.fails++; w.fails == failsInRow {
			return err
		}
		w.baseline()
		return nil
	}
	w.fails = 0
	if w.now.epoch != w.epoch {
		if w.present {
			w.event(sources.Event{At: now, Kind: sources.CounterReset,
				Text: w.iface + " was replaced by a new interface of the same name"})
		}
		w.epoch = w.now.epoch
		w.baseline()
	}
	w.present = true
	w.link(now, w.now.up)
	w.count(now)
	return nil
}

// count hands the reading to the meters.
func (w *watcher) count(now time.Time) {
	step := w.stack.step
	if w.now.stepped {
		step = w.stack.stairs
	}
	for _, back := range []string{step(now, w.now.stack, w.sink), w.mac.stairs(now, w.now.mac, w.sink)} {
		if back != "" {
			w.event(sources.Event{At: now, Kind: sources.CounterReset, Text: fmt.Sprintf("%s: the counter %q went back", w.iface, back)})
		}
	}
}

// link takes in the state of the link; only a change is an event.
func (w *watcher) link(at time.Time, up bool) {
	switch {
	case up == w.up || !w.present:
	case up:
		w.up = true
		// A driver that re-initialises may lose what it had not yet added up.
		w.mac.baseline()
		w.event(sources.Event{At: at, Kind: sources.LinkUp, Span: at.Sub(w.downSince), Text: w.iface + " link up"})
	default:
		w.lose(at, w.iface+" link down")
	}
}

func (w *watcher) lose(at time.Time, text string) {
	if w.up {
		w.downSince = at
	}
	w.up = false
	w.event(sources.Event{At: at, Kind: sources.LinkDown, Text: text})
}

func (w *watcher) baseline() {
	w.stack.baseline()
	w.mac.baseline()
}

func (w *watcher) note(at time.Time, text string) {
	w.event(sources.Event{At: at, Kind: sources.SourceNote, Text: text})
}

func (w *watcher) event(e sources.Event) {
	e.Source, e.Subject = "nic", w.iface
	w.sink.Event(e)
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
