package siftr

import (
	"time"

	parser "netwatch/parsers/siftr"
	"netwatch/sources"
)

const (
	binMicros = 100_000 // of record time in a Sample; ten ticks of the slowest kernel clock in use
	maxTracks = 64      // connections that are followed
	silent    = 100     // bins without a record after which a connection gives its place to another
	maxLate   = 100     // bins; a record older than that means the clock was set, not that it is late
)

// bins add records up, per connection and tenth of a second of the records' own
// time, and hand Samples to the sink.
type bins struct {
	sink   sources.Sink
	source string // Series.Source
	tag    string // behind the ids of this log

	thinned bool // the log lacks packets: its throughput is sampled

	bin    int64    // the one that is open: record time / binMicros
	end    int64    // end of the newest flushed bin, microseconds; 0 before the first
	dirty  bool     // the open bin has records
	tracks []*track // the connections that are followed, at most maxTracks
	known  []*track // by Flow.Index; nil where none was made
	rest   int64    // records of connections that are not followed
	others int      // connections that were not followed when they came
}

// A track is one connection that is followed.
type track struct {
	flow     *parser.Flow
	id       string
	flags    bool // the log carries t_flags
	tso      bool
	followed bool
	newest   int64 // bin of the newest record

	cwnd, ssthresh, inflight gauge
	segment, rxSegment       gauge
	srtt                     mean
	recovery, limited        ratio
	goodput, rxGood, records amount
}

// A gauge is a PerReading series of whole numbers and what the open bin has of it.
type gauge struct {
	series         *sources.Series
	n              int64
	sum            uint64
	min, max, last uint32
}

func (g *gauge) add(v uint32) {
	if g.n == 0 {
		g.min, g.max = v, v
	}
	g.n++
	g.sum += uint64(v)
	g.min, g.max, g.last = min(g.min, v), max(g.max, v), v
}

func (g *gauge) take() sources.Sample {
	s := sources.Sample{Series: g.series, N: g.n, Sum: float64(g.sum),
		Min: float64(g.min), Max: float64(g.max), Last: float64(g.last)}
	g.n, g.sum = 0, 0
	return s
}

// A mean is the same for srtt, whose unit may be a fraction of a microsecond.
type mean struct {
	series         *sources.Series
	n              int64
	sum            float64
	min, max, last float64
}

func (m *mean) add(v float64) {
	if m.n == 0 {
		m.min, m.max = v, v
	}
	if v < m.min {
		m.min = v
	}
	if v > m.max {
		m.max = v
	}
	m.n++
	m.sum += v
	m.last = v
}

func (m *mean) take() sources.Sample {
	s := sources.Sample{Series: m.series, N: m.n, Sum: m.sum, Min: m.min, Max: m.max, Last: m.last}
	m.n, m.sum = 0, 0
	return s
}

// A ratio is the same for a property that a record has or has not.
type ratio struct {
	series *sources.Series
	n, yes int64
	last   bool
}

func (r *ratio) add(yes bool) {
	r.n++
	if yes {
		r.yes++
	}
	r.last = yes
}

func (r *ratio) take() sources.Sample {
	share := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	s := sources.Sample{Series: r.series, N: r.n, Sum: float64(r.yes),
		Min: share(r.yes == r.n), Max: share(r.yes > 0), Last: share(r.last)}
	r.n, r.yes = 0, 0
	return s
}

// An amount is a PerTime series and what the open bin has of it. A nil series is
// one that the format does not carry.
type amount struct {
	series  *sources.Series
	thinned *sources.Series // the one that tells it while the log lacks packets; nil: the same
	sum     uint64
}

// reset forgets all connections: another cycle begins.
func (b *bins) reset(source, tag string) {
	b.flush()
	*b = bins{sink: b.sink, source: source, tag: tag, thinned: b.thinned}
}

// thin says whether the log lacks packets from now on.
func (b *bins) thin(thinned bool) {
	b.flush()
	b.thinned = thinned
}

// add takes a record. It returns the track of the connection, nil if it is not
// followed, and the same again if it is new.
func (b *bins) add(r *parser.Record) (t, fresh *track) {
	bin := r.Time / binMicros
	if bin > b.bin || bin < b.bin-maxLate {
		b.flush()
		b.open(bin)
	}
	t = b.of(r.Flow)
	if t == nil || !t.followed {
		if t, fresh = b.consider(t, r); t == nil {
			b.rest++
			return nil, nil
		}
	}
	b.dirty = true
	t.newest = b.bin
	t.add(r)
	return t, fresh
}

// of is the track of a connection, followed or not; nil if it never was.
func (b *bins) of(f *parser.Flow) *track {
	if f.Index >= len(b.known) {
		return nil
	}
	return b.known[f.Index]
}

// open begins a bin. What lies between it and the last one is time without a
// packet: amounts are zero there, not unknown.
func (b *bins) open(bin int64) {
	b.bin = bin
	start := bin * binMicros
	if b.end > 0 && start > b.end {
		b.emitAmounts(start)
	}
	b.end = start
}

// flush says the open bin. Records that come for it later go into the next one, so
// that sums stay those of the log.
func (b *bins) flush() {
	if !b.dirty {
		return
	}
	b.dirty = false
	end := (b.bin + 1) * binMicros
	at, span := time.UnixMicro(end), time.Duration(end-b.end)*time.Microsecond
	for _, t := range b.tracks {
		for _, s := range t.take() {
			if s.N > 0 {
				s.At, s.Span = at, span
				b.sink.Sample(s)
			}
		}
	}
	b.emitAmounts(end)
	b.bin++
}

// emitAmounts says the amounts since the last flush, up to end.
func (b *bins) emitAmounts(end int64) {
	at, span := time.UnixMicro(end), time.Duration(end-b.end)*time.Microsecond
	for _, t := range b.tracks {
		for _, a := range []*amount{&t.goodput, &t.rxGood, &t.records} {
			series := a.series
			if b.thinned && a.thinned != nil {
				series = a.thinned
			}
			if series != nil {
				b.sink.Sample(sources.Amount(series, at, span, float64(a.sum)))
				a.sum = 0
			}
		}
	}
	b.end = end
}

// consider decides whether a connection is followed from now on. The busiest are:
// one that is not takes the place of the quietest once it has twice its records.
func (b *bins) consider(t *track, r *parser.Record) (followed, fresh *track) {
	n := r.Flow.Counts[parser.In] + r.Flow.Counts[parser.Out]
	if len(b.tracks) < maxTracks {
		t, fresh = b.follow(t, r)
		b.tracks = append(b.tracks, t)
		return t, fresh
	}
	if n == 1 {
		b.others++
	}
	if n&(n-1) != 0 { // ask at powers of two only
		return nil, nil
	}
	k, least := b.quietest()
	if n < 2*least {
		return nil, nil
	}
	b.flush()
	b.tracks[k].followed = false
	t, fresh = b.follow(t, r)
	b.tracks[k] = t
	return t, fresh
}

// quietest is the place of the followed connection with the fewest records; one
// that has been silent for long counts as having none.
func (b *bins) quietest() (k int, records int64) {
	for i, t := range b.tracks {
		n := t.flow.Counts[parser.In] + t.flow.Counts[parser.Out]
		if t.newest < b.bin-silent {
			n = 0
		}
		if i == 0 || n < records {
			k, records = i, n
		}
	}
	return k, records
}

// follow makes the track of a connection, or takes up the one it had.
func (b *bins) follow(t *track, r *parser.Record) (followed, fresh *track) {
	if t == nil {
		t = newTrack(b.source, b.tag, r)
		for len(b.known) <= r.Flow.Index {
			b.known = append(b.known, nil)
		}
		b.known[r.Flow.Index] = t
		fresh = t
	}
	t.followed = true
	return t, fresh
}

func newTrack(source, tag string, r *parser.Record) *track {
	t := &track{flow: r.Flow, id: flowID(r) + tag, flags: r.Has(parser.FieldInflight), tso: r.Flags&parser.FlagTSO != 0}
	series := func(m sources.Metric) *sources.Series {
		return &sources.Series{Source: source, Subject: t.id, Metric: m}
	}
	t.cwnd.series, t.ssthresh.series = series(sources.Cwnd), series(sources.Ssthresh)
	t.srtt.series, t.inflight.series = series(sources.SRTT), series(sources.Inflight)
	t.segment.series, t.rxSegment.series = series(sources.Segment), series(sources.RxSegment)
	t.recovery.series, t.limited.series = series(sources.Recovery), series(sources.SndLimited)
	t.records.series = series(sources.Records)
	if r.Has(parser.FieldPayload) {
		t.goodput.series, t.rxGood.series = series(sources.Goodput), series(sources.RxGood)
		t.goodput.thinned, t.rxGood.thinned = series(sources.Sampled), series(sources.RxSampled)
	}
	return t
}

// flowID is the id of the log where it names connections by one, else the
// addresses.
func flowID(r *parser.Record) string {
	if r.Has(parser.FieldAddr) {
		return r.Flow.Local.String() + ">" + r.Flow.Remote.String()
	}
	return hex8(r.Flow.ID)
}

func hex8(v uint32) string {
	const digits = "0123456789abcdef"
	var s [8]byte
	for i := range s {
		s[i] = digits[v>>(28-4*i)&15]
	}
	return string(s[:])
}

// take is what the open bin has of all PerReading series; it begins the next bin.
func (t *track) take() [8]sources.Sample {
	return [...]sources.Sample{t.cwnd.take(), t.ssthresh.take(), t.srtt.take(), t.inflight.take(),
		t.segment.take(), t.rxSegment.take(), t.recovery.take(), t.limited.take()}
}

func (t *track) add(r *parser.Record) {
	t.records.sum++
	if r.Payload > 0 && r.Has(parser.FieldPayload) {
		if r.Dir == parser.Out {
			t.segment.add(r.Payload)
			t.goodput.sum += uint64(r.Payload)
		} else {
			t.rxSegment.add(r.Payload)
			t.rxGood.sum += uint64(r.Payload)
		}
	}
	if !r.Established() {
		return
	}
	t.cwnd.add(r.Cwnd)
	if r.SsthreshSet() {
		t.ssthresh.add(r.Ssthresh)
	}
	if r.Has(parser.FieldSRTT) {
		t.srtt.add(r.SRTT)
	}
	if r.Has(parser.FieldInflight) {
		t.inflight.add(r.Inflight)
		t.recovery.add(r.Flags&parser.FlagRecovery != 0)
		t.limited.add(r.SndLimited())
	}
}
