package experiment

import (
	"slices"
	"time"

	"netwatch/sources"
)

// flowSeen learns of a connection, and lists it when an id turns out to be shared.
func (s *Session) flowSeen(e sources.Event) {
	if e.Flow != nil && e.Flow.NoPayload {
		s.source(e.Host, e.Source).NoPayload = true
	}
	if id := s.flows.seen(e); id != "" {
		s.log(sources.Event{At: e.At, Kind: sources.SourceNote, Host: e.Host, Source: e.Source, Subject: id,
			Text: "several connections share the id " + id + " (net.route.hash_outbound): a log mixes their records", Error: true})
	}
}

// UnusedTSO says whether TSO is on, for the interface and for the stack, and this
// connection does not use it all the same: it began before, or lost it by a turn.
func (s *Session) UnusedTSO(f *FlowState) bool {
	if f == nil || f.TSO != "off" || !f.Ended.IsZero() {
		return false
	}
	card, stack := s.Knob(f.Host, "tso"), s.Knob(f.Host, "tcp.tso")
	return card != nil && card.Value != "off" && card.Value != "" && card.Turning == "" &&
		(stack == nil || stack.Value != "0")
}

// sampled takes the news that a log holds only some of the packets: from now on,
// or in a stretch that was already told as if it held all.
func (s *Session) sampled(e sources.Event) {
	if e.Span == 0 {
		s.source(e.Host, e.Source).Sampled = e.Text
		return
	}
	begin := e.At.Add(-e.Span)
	within := func(p *Phase) bool { return p.Start.Before(e.At) && (p.End.IsZero() || p.End.After(begin)) }
	s.forget(s.tracks[trackKey{e.Host, FlowPkts, Origin{e.Source, sources.Records}}], within)
	for _, m := range [][2]sources.Metric{{sources.Goodput, sources.Sampled}, {sources.RxGood, sources.RxSampled}} {
		whole := s.tracks[trackKey{e.Host, Goodput, Origin{e.Source, m[0]}}]
		if whole == nil {
			continue
		}
		part := s.track(e.Host, Sampled, Origin{e.Source, m[1]})
		for _, p := range s.phases {
			if within(p) {
				p.move(whole, part)
			}
		}
		for i, w := range s.pending {
			if w.track == whole && w.sample.At.After(begin) && !w.sample.At.After(e.At.Add(time.Second)) {
				s.pending[i].track = part
			}
		}
	}
}

// forget drops what some phases counted of a Track: records of a log that lacked
// packets are no count of packets.
func (s *Session) forget(t *Track, within func(*Phase) bool) {
	for _, p := range s.phases {
		if within(p) {
			delete(p.sums, t)
		}
	}
	s.pending = slices.DeleteFunc(s.pending, func(w pending) bool { return t != nil && w.track == t })
}

// move counts the figures of one Track as those of another.
func (p *Phase) move(from, to *Track) {
	a := p.sums[from]
	if a == nil {
		return
	}
	delete(p.sums, from)
	b := p.sums[to]
	if b == nil {
		b = &sums{}
		p.sums[to] = b
	}
	b.settled.merge(a.settled)
	b.whole.merge(a.whole)
}
