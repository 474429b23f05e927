package ping

import (
	"fmt"
	"math"
	"slices"
	"time"

	"netwatch/sources"
)

// minGrace is the shortest time after which a probe counts as lost.
const minGrace = time.Second

// maxGap bounds how many probes one gap in the numbers may hold. A larger one is
// another ping, not a loss.
const maxGap = 10000

// A tracker follows the probes to one target.
type tracker struct {
	sink      sources.Sink
	rtt, lost *sources.Series
	interval  time.Duration // 0 until known
	predict   bool          // probes go out by the clock and nobody tells of them

	any      bool
	first    probe // the oldest probe with a known time, for the mean interval
	last     probe // the newest probe known or thought to be sent
	heard    probe // the newest probe that was answered
	pending  map[int64]time.Time
	forgiven map[int64]time.Time // declared lost; an answer may still come
}

// A probe is one echo request.
type probe struct {
	seq int64
	at  time.Time
}

func newTracker(sink sources.Sink, rtt, lost *sources.Series, interval time.Duration, predict bool) *tracker {
	return &tracker{
		sink: sink, rtt: rtt, lost: lost, interval: interval, predict: predict,
		pending: map[int64]time.Time{}, forgiven: map[int64]time.Time{},
	}
}

// begin notes that the first probe goes out now.
func (t *tracker) begin(seq int64, at time.Time) {
	if t.any {
		return
	}
	t.any = true
	t.last = probe{seq, at}
	t.pending[seq] = at
}

// answered notes a reply to a probe that came at at after rtt microseconds.
func (t *tracker) answered(seq int64, at time.Time, rtt float64) {
	sent := probe{seq, at.Add(-time.Duration(rtt * 1e3))}
	if since, late := t.forgiven[seq]; late {
		delete(t.forgiven, seq)
		t.sink.Event(sources.Event{
			At: at, Kind: sources.PingLate, Source: "ping", Subject: t.rtt.Subject,
			Text: fmt.Sprintf("the answer to probe %d came after %s, when it counted as lost", seq, at.Sub(since).Round(time.Millisecond)),
		})
	}
	t.sentUpTo(sent)
	delete(t.pending, seq)
	if t.heard.at.IsZero() || seq > t.heard.seq {
		t.heard = sent
	}
	if t.first.at.IsZero() {
		t.first = sent
	}
	t.sink.Sample(sources.Reading(t.rtt, at, t.span(), rtt))
}

// silent notes that a probe has no answer although the next one goes out now.
func (t *tracker) silent(seq int64, at time.Time) {
	if _, known := t.forgiven[seq]; known {
		return
	}
	step := t.span()
	if gap := seq - t.last.seq; t.any && gap > 0 && gap < maxGap {
		step = at.Sub(t.last.at) / time.Duration(gap+1)
	}
	t.sentUpTo(probe{seq, at.Add(-step)})
}

// sentUpTo notes that a probe, and with it every one before, was sent.
func (t *tracker) sentUpTo(p probe) {
	if !t.any {
		t.any = true
		t.last = probe{p.seq - 1, p.at}
	}
	gap := p.seq - t.last.seq
	if gap > maxGap || gap < -maxGap {
		clear(t.pending)
		clear(t.forgiven)
		t.last, t.first, gap = p, probe{}, 0
		t.pending[p.seq] = p.at
	}
	step := p.at.Sub(t.last.at) / time.Duration(max(gap, 1))
	for i := int64(1); i <= gap; i++ {
		t.pending[t.last.seq+i] = t.last.at.Add(time.Duration(i) * step)
	}
	if gap > 0 {
		t.last = p
		return
	}
	// The clock ran ahead of ping: what it thought to be sent later was not.
	if t.predict && p.seq > t.heard.seq && p.at.After(t.pending[p.seq]) {
		for seq := range t.pending {
			if seq > p.seq {
				delete(t.pending, seq)
			}
		}
		t.last = p
	}
}

// span is the time one probe stands for.
func (t *tracker) span() time.Duration {
	mean := time.Duration(0)
	if n := t.heard.seq - t.first.seq; n >= 5 {
		mean = t.heard.at.Sub(t.first.at) / time.Duration(n)
	}
	switch {
	case t.interval > 0:
		return max(t.interval, mean)
	case mean > 0:
		return mean
	}
	return time.Second
}

func (t *tracker) grace() time.Duration { return max(minGrace, 3*t.span()) }

// tick calls probes lost whose grace time is over at now.
func (t *tracker) tick(now time.Time) {
	if t.predict && t.any {
		// A little slower than the clock: a probe that was never sent must not be lost.
		step := t.span() + t.span()/50
		for next := t.last.at.Add(step); next.Before(now); next = next.Add(step) {
			t.last = probe{t.last.seq + 1, next}
			t.pending[t.last.seq] = next
		}
	}
	var over []int64
	for seq, at := range t.pending {
		if now.Sub(at) >= t.grace() {
			over = append(over, seq)
		}
	}
	slices.Sort(over)
	for _, seq := range over {
		at := t.pending[seq]
		delete(t.pending, seq)
		t.forgiven[seq] = at
		t.sink.Sample(sources.Amount(t.lost, at, t.span(), 1))
	}
	for seq := range t.forgiven {
		if t.last.seq-seq > maxGap {
			delete(t.forgiven, seq)
		}
	}
}

// end takes back what the clock thought to be sent and ping's own count denies,
// and calls the rest of the grown old lost. first is the number of the first probe.
func (t *tracker) end(now time.Time, first, transmitted int64) {
	t.predict = false
	for seq := range t.pending {
		if transmitted < math.MaxInt64 && seq >= first+transmitted {
			delete(t.pending, seq)
		}
	}
	t.tick(now)
}
