// Package series keeps what was measured over time: for each quantity a bounded
// ring of bins in four resolutions, from 100 ms over the last two minutes to one
// minute over the last day; or, where there are many, in two over the last hour.
// Bins that nothing covers stay empty, so a gap is a gap for ever. It knows nothing
// of hosts, sources or screens.
package series

import (
	"time"
	"unsafe"

	"netwatch/sources"
)

// A Bin summarises what fell into a stretch of time. Min and Max are of readings
// (PerReading) or of the rates of the Samples (PerTime).
type Bin struct {
	Sum      float64
	N        uint32  // readings whose time is in this bin
	Span     float32 // seconds of it that some Sample covers
	Min, Max float32
}

// Covered says whether a Sample spans this bin. A covered bin without readings
// lies between two readings of a slower poll: a line may pass through it. A bin
// that is not covered is a gap.
func (b Bin) Covered() bool { return b.Span > 0 || b.N > 0 }

// Mean is the bin's mean reading or rate; ok is false where there is none.
func (b Bin) Mean(agg sources.Agg) (v float64, ok bool) {
	switch {
	case agg == sources.PerTime && b.Span > 0:
		return b.Sum / float64(b.Span), true
	case agg == sources.PerReading && b.N > 0:
		return b.Sum / float64(b.N), true
	}
	return 0, false
}

func (b *Bin) extend(lo, hi float64) {
	if b.N == 0 && b.Span == 0 || float32(lo) < b.Min {
		b.Min = float32(lo)
	}
	if b.N == 0 && b.Span == 0 || float32(hi) > b.Max {
		b.Max = float32(hi)
	}
}

func (b *Bin) merge(o Bin, agg sources.Agg) {
	if !o.Covered() {
		return
	}
	if valued := agg == sources.PerTime || o.N > 0; valued {
		if had := agg == sources.PerTime && b.Covered() || b.N > 0; !had {
			b.Min, b.Max = o.Min, o.Max
		}
		b.Min, b.Max = min(b.Min, o.Min), max(b.Max, o.Max)
	}
	b.Sum += o.Sum
	b.N += o.N
	b.Span += o.Span
}

const chunkBins = 64

// A chunk is the unit of memory: 64 neighbouring bins. index says which stretch
// of time it holds now; a chunk of another stretch counts as empty.
type chunk struct {
	index int64
	bins  [chunkBins]Bin
}

type level struct {
	width  time.Duration
	chunks []*chunk
}

// A resolution is one level of a Ring: bin width and number of chunks.
type resolution struct {
	width  time.Duration
	chunks int
}

// resolutions are the levels of a Ring that New makes.
var resolutions = []resolution{
	{100 * time.Millisecond, 19}, // 2 min
	{time.Second, 29},            // 31 min
	{10 * time.Second, 34},       // 6 h
	{time.Minute, 23},            // 24.5 h
}

// fewer are those of a Ring that NewSmall makes.
var fewer = []resolution{
	{time.Second, 6},      // 5 min
	{10 * time.Second, 7}, // 64 min
}

// MaxBytes is what a Ring can grow to.
const MaxBytes = (19 + 29 + 34 + 23) * int(unsafe.Sizeof(chunk{}))

// A Ring holds one quantity. The zero Ring is not ready; use New.
type Ring struct {
	agg    sources.Agg
	levels []level
	newest time.Time // newest At seen
}

// New returns an empty Ring for a quantity that sums up as agg says.
func New(agg sources.Agg) *Ring { return build(agg, resolutions) }

// SmallReach is how far back a small Ring tells at least.
const SmallReach = 6 * chunkBins * 10 * time.Second

// NewSmall returns an empty Ring for one of many quantities: it has whole seconds and
// tens of them only, takes an eighth of the memory, and forgets after an hour.
func NewSmall(agg sources.Agg) *Ring { return build(agg, fewer) }

func build(agg sources.Agg, resolutions []resolution) *Ring {
	r := &Ring{agg: agg, levels: make([]level, len(resolutions))}
	for i, v := range resolutions {
		r.levels[i] = level{width: v.width, chunks: make([]*chunk, v.chunks)}
	}
	return r
}

// Agg is how the Ring sums up.
func (r *Ring) Agg() sources.Agg { return r.agg }

// Add puts a Sample into the bins of its own time. It returns false when the
// Sample is older than the finest level reaches back; it then still counts in
// the coarser ones.
func (r *Ring) Add(s sources.Sample) bool {
	if s.At.After(r.newest) {
		r.newest = s.At
	}
	for i := range r.levels {
		r.levels[i].add(s, r.agg, r.newest)
	}
	return r.newest.Sub(s.At) < r.levels[0].reach()
}

func (l *level) reach() time.Duration {
	return l.width * time.Duration((len(l.chunks)-1)*chunkBins)
}

// add spreads the Sample over the bins that (At-Span, At] touches. Readings stay
// in the bin of At; the others are only marked as covered. An amount is shared
// out by overlap.
func (l *level) add(s sources.Sample, agg sources.Agg, newest time.Time) {
	w := int64(l.width)
	end := s.At.UnixNano()
	oldest := newest.UnixNano() - int64(l.reach())
	last := floorDiv(end-1, w) // (a, b] ends in the bin that holds b-1ns
	if s.Span <= 0 {
		last = floorDiv(end, w)
	}
	start := max(end-int64(s.Span), oldest)
	if end < oldest {
		return
	}
	for i := floorDiv(start, w); i <= last; i++ {
		over := min(end, (i+1)*w) - max(start, i*w)
		b := l.bin(i)
		if agg == sources.PerTime {
			if s.Span <= 0 {
				return
			}
			b.extend(s.Min, s.Max)
			b.Sum += s.Sum * float64(over) / float64(s.Span)
			if i == last {
				b.N += uint32(s.N)
			}
		} else if i == last {
			if b.N == 0 {
				b.Min, b.Max = float32(s.Min), float32(s.Max)
			}
			b.Min, b.Max = min(b.Min, float32(s.Min)), max(b.Max, float32(s.Max))
			b.Sum += s.Sum
			b.N += uint32(s.N)
		}
		if over > 0 {
			b.Span += float32(time.Duration(over).Seconds())
		}
	}
}

// bin returns bin i for writing, taking over its chunk when that holds an older stretch.
func (l *level) bin(i int64) *Bin {
	ci := floorDiv(i, chunkBins)
	slot := ci % int64(len(l.chunks))
	c := l.chunks[slot]
	if c == nil {
		c = &chunk{index: ci}
		l.chunks[slot] = c
	}
	if c.index != ci {
		*c = chunk{index: ci}
	}
	return &c.bins[i-ci*chunkBins]
}

// at returns bin i for reading.
func (l *level) at(i int64) Bin {
	ci := floorDiv(i, chunkBins)
	c := l.chunks[ci%int64(len(l.chunks))]
	if c == nil || c.index != ci {
		return Bin{}
	}
	return c.bins[i-ci*chunkBins]
}

// Window fills dst: dst[i] covers [from+i*step, from+(i+1)*step). It reads the
// coarsest level that is no coarser than step and still reaches back to from,
// else the finest that does. A bin belongs to the column that holds its middle.
func (r *Ring) Window(dst []Bin, from time.Time, step time.Duration) {
	clear(dst)
	if len(dst) == 0 || step <= 0 || r.newest.IsZero() {
		return
	}
	l := r.pick(from, step)
	w := int64(l.width)
	start, end := from.UnixNano(), from.Add(step*time.Duration(len(dst))).UnixNano()
	if step < l.width { // finer columns than bins: each bin colours the columns it covers
		for c := range dst {
			dst[c] = l.at(floorDiv(start+int64(c)*int64(step), w))
		}
		return
	}
	for i := floorDiv(start, w); i <= floorDiv(end, w); i++ {
		mid := i*w + w/2
		if mid < start || mid >= end {
			continue
		}
		dst[(mid-start)/int64(step)].merge(l.at(i), r.agg)
	}
}

func (r *Ring) pick(from time.Time, step time.Duration) *level {
	best := &r.levels[len(r.levels)-1]
	for i := len(r.levels) - 1; i >= 0; i-- {
		l := &r.levels[i]
		reaches := r.newest.Sub(from) <= l.reach()
		if !reaches {
			break
		}
		best = l
		if l.width <= step {
			break
		}
	}
	return best
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
