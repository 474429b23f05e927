package experiment

import (
	"cmp"
	"slices"
	"time"

	"netwatch/sources"
)

// A SourceState is what the status line says of one source.
type SourceState struct {
	Host, Name string
	Up         bool   // it began to speak
	Ran        bool   // it told of a run
	Gone       string // why it ended, "" while it runs
	Note       string // its newest words
	NoteError  bool   // those words tell of something wrong
	Sampled    string // why its log holds only some of the packets, "" when it holds all
	NoPayload  bool   // its log's format carries no payload
	Last       time.Time
	every      time.Duration
	lag        sources.Sample
}

func (s *Session) source(host, name string) *SourceState {
	k := hostName{host, name}
	st := s.sources[k]
	if st == nil {
		st = &SourceState{Host: host, Name: name}
		s.sources[k] = st
	}
	return st
}

func (st *SourceState) event(e sources.Event) {
	switch e.Kind {
	case sources.SourceUp:
		st.Up, st.Gone = true, ""
	case sources.SourceGone:
		st.Gone = cmp.Or(e.Text, "ended")
	case sources.SourceNote:
		st.Note, st.NoteError = e.Text, e.Error
	}
}

func (st *SourceState) saw(v sources.Sample) {
	st.Up, st.Gone = true, ""
	if v.Series.Metric == sources.Lag {
		st.lag = v
		return
	}
	if v.At.After(st.Last) {
		st.Last = v.At
	}
	st.every = max(v.Span, st.every-st.every/16)
}

// partly says whether a Sample counts the records of a log that lacks some: they are
// not the packets.
func (st *SourceState) partly(v sources.Sample) bool {
	return st.Sampled != "" && v.Series.Metric == sources.Records
}

// Stale says whether a source that spoke has been silent for more than three of its intervals.
func (st *SourceState) Stale(now time.Time) (age time.Duration, stale bool) {
	if st.Last.IsZero() {
		return 0, false
	}
	age = now.Sub(st.Last)
	return age, age > max(3*st.every, 1500*time.Millisecond)
}

// Behind says how old the records are that the source reads now, while it catches
// up with its log.
func (st *SourceState) Behind(now time.Time) (age time.Duration, behind bool) {
	if st.lag.Last <= 0 || now.Sub(st.lag.At) > 2*time.Second {
		return 0, false
	}
	return time.Duration(st.lag.Last) * time.Microsecond, true
}

// Sources returns every source that was heard of, in a steady order: here before
// peers, then by name.
func (s *Session) Sources() []*SourceState {
	all := make([]*SourceState, 0, len(s.sources))
	for _, st := range s.sources {
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b *SourceState) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// neverSpoke says whether an event ends a source that did not begin. An agent tells no
// figures; it was there.
func (s *Session) neverSpoke(e sources.Event) bool {
	if e.Kind != sources.SourceGone || e.Source == PeerSource || e.Source == "agent" {
		return false
	}
	st := s.sources[hostName{e.Host, e.Source}]
	return st == nil || !st.Up && !st.Ran
}
