package tcp

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"netwatch/sources"
)

const (
	maxFollowed = 8 // connections that are sampled; the rest is only looked at
	stayFor     = 10 * time.Second
)

// A flow is a connection that was seen in a dump.
type flow struct {
	socket
	name     string // the Flow's ID
	told     socket // where the next sample starts
	toldAt   time.Time
	born     bool // it was not there in the dump before: its totals are all new
	dumpAt   time.Time
	dumpSum  uint64 // acked + received at that dump
	rate     float64
	moved    time.Time // when it last moved payload
	followed bool
	said     sources.Flow
	series   flowSeries
	bulk     bool // it is part of a noticed run
}

// moves is the payload moved in the life of the connection.
func (f *flow) moves() uint64 { return f.acked + f.received }

// flowSeries are the series of one followed connection.
type flowSeries struct {
	cwnd, ssthresh, inflight, srtt, rttvar, retrans, goodput, rxgood *sources.Series
}

// A tracker keeps the connections from dump to dump and says what they do.
type tracker struct {
	k     kernel
	sink  sources.Sink
	every time.Duration
	scope scope
	run   *runs

	flows   map[key]*flow
	scratch []socket
	ranked  []*flow
	dumps   int
	coarse  bool // this system has nothing cheaper than a dump
}

func newTracker(k kernel, sink sources.Sink, every time.Duration, notice bool) *tracker {
	t := &tracker{k: k, sink: sink, every: every, flows: map[key]*flow{}}
	if notice {
		t.run = &runs{sink: sink}
	}
	return t
}

// dump reads the whole table: new connections appear, gone ones end, and the
// busiest are chosen.
func (t *tracker) dump(now time.Time) error {
	var err error
	if t.scratch, err = t.k.dump(t.scratch[:0]); err != nil {
		return err
	}
	t.dumps++
	for _, s := range t.scratch {
		if t.scope.has(s.local, s.remote) {
			t.meet(now, s)
		}
	}
	t.ranked = t.ranked[:0]
	for key, f := range t.flows {
		if f.dumpAt != now {
			t.end(now, key, f)
			continue
		}
		t.ranked = append(t.ranked, f)
	}
	t.choose(now)
	if t.run != nil {
		t.run.look(now, t.ranked)
	}
	return nil
}

// meet takes a socket of a dump in.
func (t *tracker) meet(now time.Time, s socket) {
	f := t.flows[s.key]
	if f == nil {
		f = &flow{socket: s, name: s.id(), told: s, toldAt: now, moved: now, born: t.dumps > 1}
		if f.born && s.knows&knowsBytes != 0 {
			// All it moved, it moved since the dump before.
			f.rate = float64(f.moves()) * 8 / dumpEvery.Seconds()
		}
		t.flows[s.key] = f
	} else {
		t.take(now, f, s)
		if span := now.Sub(f.dumpAt).Seconds(); span > 0 && f.moves() >= f.dumpSum {
			f.rate = float64(f.moves()-f.dumpSum) * 8 / span
		}
	}
	f.dumpAt, f.dumpSum = now, f.moves()
}

// choose follows the busiest connections. One that is followed stays for a while
// when it falls silent, so that a pause is seen as a pause, and gives way only to
// one that is clearly busier, so that equal ones do not take turns.
func (t *tracker) choose(now time.Time) {
	slices.SortFunc(t.ranked, func(a, b *flow) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
	for _, f := range t.ranked {
		f.followed = f.followed && (busy(f) || now.Sub(f.moved) <= stayFor)
	}
	free := maxFollowed - t.followed()
	for _, f := range t.ranked {
		if f.followed || !busy(f) {
			continue
		}
		if free > 0 {
			free--
		} else if last := t.lastFollowed(); rank(f) > 2*rank(last) {
			last.followed = false
		} else {
			break // those that follow are less busy still
		}
		f.followed = true
	}
	for _, f := range t.ranked {
		if f.followed {
			t.say(now, f)
		}
	}
}

// busy is true for a connection worth following.
func busy(f *flow) bool {
	return f.rate > 0 || f.queue > 0 || (f.knows&knowsBytes == 0 && isLoadPort(f))
}

// followed counts the connections that are followed and not ended.
func (t *tracker) followed() int {
	n := 0
	for _, f := range t.ranked {
		if f.followed && t.flows[f.key] == f {
			n++
		}
	}
	return n
}

// lastFollowed is the least busy of the followed connections.
func (t *tracker) lastFollowed() *flow {
	for _, f := range slices.Backward(t.ranked) {
		if f.followed {
			return f
		}
	}
	return nil
}

// rank orders by payload rate; where the kernel does not count payload, by the
// load generators' ports and by what waits in the send buffer.
func rank(f *flow) float64 {
	r := f.rate
	if f.knows&knowsBytes == 0 {
		r = float64(f.queue)
	}
	if isLoadPort(f) {
		r += 1
	}
	return r
}

// say tells of a connection when it is first followed, and when more is known of it.
func (t *tracker) say(now time.Time, f *flow) {
	flow := f.flow()
	if flow == f.said {
		return
	}
	f.said = flow
	t.sink.Event(sources.Event{At: now, Kind: sources.FlowSeen, Source: "tcp", Subject: f.name, Flow: &flow})
}

// end tells what is not told yet of a connection that is no more.
func (t *tracker) end(now time.Time, key key, f *flow) {
	delete(t.flows, key)
	if t.run != nil {
		t.run.ended(f)
	}
	if f.followed && f.dumpAt.After(f.toldAt) {
		t.sample(f.dumpAt, f.dumpAt.Sub(f.toldAt), f)
	}
	if f.said.ID != "" {
		t.sink.Event(sources.Event{At: now, Kind: sources.FlowEnded, Source: "tcp", Subject: f.name})
	}
}

// follow reads the followed connections one by one.
func (t *tracker) follow(now time.Time) {
	for _, f := range t.ranked {
		if !f.followed || t.flows[f.key] != f {
			continue
		}
		s := f.socket
		switch err := t.k.one(&s); {
		case errors.Is(err, errors.ErrUnsupported):
			t.coarse = true
			return
		case errors.Is(err, errEnded):
			t.end(now, f.key, f)
		case err == nil:
			t.take(now, f, s)
		}
	}
}

// take makes s the reading of f. Only a followed connection is told of, and not more
// often than is wanted: the table is looked at each second at least, so that a load
// is noticed in time.
func (t *tracker) take(now time.Time, f *flow, s socket) {
	before := f.socket
	f.socket = s
	if s.acked+s.received != before.acked+before.received || s.queue != before.queue {
		f.moved = now
	}
	span := now.Sub(f.toldAt)
	if f.followed {
		if span < t.every-followEvery/2 { // a tick may come a little early
			return
		}
		t.sample(now, span, f)
	}
	f.told, f.toldAt = s, now
}

// sample tells what changed since the sample before.
func (t *tracker) sample(now time.Time, span time.Duration, f *flow) {
	before, s := f.told, f.socket
	reading := func(at **sources.Series, m sources.Metric, v float64) {
		t.sink.Sample(sources.Reading(f.intern(at, m), now, span, v))
	}
	if s.knows&knowsCwnd != 0 {
		reading(&f.series.cwnd, sources.Cwnd, s.cwnd)
		if s.ssthresh > 0 {
			reading(&f.series.ssthresh, sources.Ssthresh, s.ssthresh)
		}
	}
	if s.knows&knowsInflight != 0 {
		reading(&f.series.inflight, sources.Inflight, s.inflight)
	}
	if s.knows&knowsRTT != 0 && s.srtt > 0 {
		reading(&f.series.srtt, sources.SRTT, s.srtt)
		reading(&f.series.rttvar, sources.RTTVar, s.rttvar)
	}
	amount := func(at **sources.Series, m sources.Metric, before, after uint64) {
		if after >= before {
			t.sink.Sample(sources.Amount(f.intern(at, m), now, span, float64(after-before)))
		}
	}
	amount(&f.series.retrans, sources.Retrans, before.retrans, s.retrans)
	if s.knows&knowsBytes != 0 && before.knows&knowsBytes != 0 {
		amount(&f.series.goodput, sources.Goodput, before.acked, s.acked)
		amount(&f.series.rxgood, sources.RxGood, before.received, s.received)
	}
}

// intern makes a series the first time it is needed.
func (f *flow) intern(at **sources.Series, m sources.Metric) *sources.Series {
	if *at == nil {
		*at = &sources.Series{Source: "tcp", Subject: f.name, Metric: m}
	}
	return *at
}
