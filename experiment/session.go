package experiment

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// DefaultSettle is how long after a turn, and after the start of a run, samples
// do not count: every sender's first interval is inflated.
const DefaultSettle = 2 * time.Second

// LoadSum is the Subject of a load generator's figures over all its streams.
const LoadSum = "SUM"

// maxEvents bounds the event list; the oldest go first.
const maxEvents = 1000

// Options say what a Session is about.
type Options struct {
	Start     time.Time
	Interface string        // the watched interface; on a peer the same name, unless it says otherwise
	Second    string        // another interface of this host, for what is forwarded between the two; or ""
	Settle    time.Duration // 0 means DefaultSettle
	Simulated bool          // everything shown carries the word SIMULATED
	Recorder  sources.Recorder

	// PeerInterfaces are the interfaces that are watched on other hosts, by host; ""
	// is Interface. Peers that are not listed become known when they speak.
	PeerInterfaces map[string]string
}

// A Session is one stretch of watching.
type Session struct {
	Options
	now    time.Time
	late   int // samples older than the finest bins
	shed   int // samples dropped before they came here
	recErr error
	events []sources.Event
	logged int
	routes map[*sources.Series]*route
	tracks map[trackKey]*Track
	order  []*Track // tracks in the order of the quantities' origins
	second []*Track // those of the second interface
	queues []*Track // those of single interrupt lines

	queueKeys []queueKey // which lines, in the same order
	sources   map[hostName]*SourceState
	peers     []*PeerState // in the order they became known
	flows     flowTable
	knobs     knobTable
	links     map[hostName]*linkState
	runs      runState
	revival   revival
	phases    []*Phase
	left      int // phases that the bound pushed out
	pending   []pending
}

type hostName struct{ host, name string }

type trackKey struct {
	host     string
	quantity *Quantity
	origin   Origin
}

// New returns an empty Session.
func New(o Options) *Session {
	if o.Settle == 0 {
		o.Settle = DefaultSettle
	}
	s := &Session{
		Options: o, now: o.Start,
		routes:  map[*sources.Series]*route{},
		tracks:  map[trackKey]*Track{},
		sources: map[hostName]*SourceState{},
		links:   map[hostName]*linkState{},
		flows:   flowTable{byID: map[flowKey]*FlowState{}},
	}
	for _, host := range slices.Sorted(maps.Keys(o.PeerInterfaces)) {
		s.meet(host)
	}
	s.phases = []*Phase{s.newPhase(o.Start, o.Start.Add(o.Settle))}
	return s
}

// Apply takes the next Batch: first it is recorded, then its events, then its samples.
func (s *Session) Apply(b sources.Batch) {
	if s.Recorder != nil {
		if err := s.Recorder.Record(b); err != nil && s.recErr == nil {
			s.recErr = err
			s.log(sources.Event{At: b.At, Kind: sources.SourceNote, Source: "record", Text: "recording stopped: " + err.Error(), Error: true})
		}
	}
	if b.At.After(s.now) {
		s.now = b.At
	}
	s.shed += b.Shed
	events := slices.Clone(b.Events) // the Recorder may still be reading the Batch
	slices.SortStableFunc(events, func(x, y sources.Event) int { return x.At.Compare(y.At) })
	for _, e := range events {
		s.event(e)
	}
	s.samples(b.Samples)
	s.trust()
	s.revive()
	s.flows.choose(s.now)
	s.countUntil(s.now.Add(-countDelay))
}

// Finish counts what still waits. Call it once, when the last Batch was applied.
func (s *Session) Finish() { s.countUntil(s.now.Add(time.Hour)) }

// Now is the time of the newest Batch.
func (s *Session) Now() time.Time { return s.now }

// Late and Shed count samples that came too late for the finest bins, and samples
// that were dropped on the way here.
func (s *Session) Late() int { return s.late }

// Shed counts samples that were dropped on the way here.
func (s *Session) Shed() int { return s.shed }

// Events returns the event list, oldest first. It is the Session's own slice.
func (s *Session) Events() []sources.Event { return s.events }

// Note adds an event of netwatch's own (a mark) at the present time.
func (s *Session) Note(kind sources.EventKind, text string) {
	s.Apply(sources.Batch{At: s.now, Events: []sources.Event{{At: s.now, Kind: kind, Text: text}}})
}

// Logged counts the events ever listed, also those the list no longer holds.
func (s *Session) Logged() int { return s.logged }

func (s *Session) log(e sources.Event) {
	s.logged++
	if len(s.events) == maxEvents {
		s.events = append(s.events[:0], s.events[maxEvents/4:]...)
	}
	s.events = append(s.events, e)
}

// event lets every part of the Session see an Event, then lists it. What only
// refines knowledge (a flow seen, a knob's first value) is not listed.
func (s *Session) event(e sources.Event) {
	s.meet(e.Host)
	switch e.Kind {
	case sources.KnobSeen:
		s.knobSeen(e)
		return
	case sources.FlowSeen:
		s.flowSeen(e)
		return
	case sources.FlowEnded:
		s.flows.ended(e)
		return
	case sources.KnobTurning:
		if s.knobs.aside(e) {
			return
		}
		if k := s.knobs.turning(e); k != nil && k.Spec.Disruption == sources.LinkReset {
			s.link(e.Host, k.Spec.Subject).turn(e.At)
		}
		s.endPhase(e.At)
		return
	case sources.KnobTurned, sources.KnobDrifted, sources.KnobFailed:
		if s.knobs.aside(e) {
			s.knobs.turned(e)
			break
		}
		if k := s.knobs.turned(e); k != nil && k.Spec.Disruption == sources.LinkReset {
			s.link(e.Host, k.Spec.Subject).turned(e.At)
		}
		if e.Kind == sources.KnobDrifted { // some time within Span, so that is of neither setting
			s.endPhase(e.At.Add(-e.Span))
		}
		s.rekey(e.At)
	case sources.LinkDown, sources.LinkUp:
		s.link(e.Host, e.Subject).event(e)
		s.resettle(e)
		if e.Kind == sources.LinkUp {
			s.await(e)
		}
	case sources.RunStarted, sources.RunEnded:
		if loadSources[e.Source] {
			s.source(e.Host, e.Source).Ran = true
		}
		if quiet := s.runs.event(e); quiet {
			return
		}
		s.rekey(e.At)
		e = s.older(e)
	case sources.SourceUp, sources.SourceGone, sources.SourceNote:
		never := s.neverSpoke(e)
		if quiet := s.sourceEvent(e); quiet {
			return
		}
		if never {
			e.Kind = sources.SourceNone
		}
	case sources.LogSampled:
		s.sampled(e)
	case sources.KnobBoth:
		if n := len(s.Hosts()); n > 2 && !e.Error && e.Text == "" {
			e.Text = "all " + strconv.Itoa(n)
		}
	}
	s.log(e)
}

// loadSources are the sources whose input ends with a run.
var loadSources = map[string]bool{"iperf3": true, "iperf2": true, "iperf": true, "load": true}

// sourceEvent takes what is said of a source, or of the connection to a peer. It
// returns true for what need not be listed.
func (s *Session) sourceEvent(e sources.Event) (quiet bool) {
	if p := s.Peer(e.Host); p != nil && e.Source == PeerSource {
		return s.peerEvent(p, e)
	}
	if leftTurned(e) {
		s.knobs.leave(e)
		return false
	}
	st := s.source(e.Host, e.Source)
	if e.Kind == sources.SourceGone && !e.Error && !st.Up && flowSources[e.Source] { // a log was waited for, and is another module's
		delete(s.sources, hostName{e.Host, e.Source})
		return true
	}
	st.event(e)
	ended := e.Kind == sources.SourceGone && !e.Error && loadSources[e.Source] // the end of the run tells more
	return e.Kind == sources.SourceUp || ended
}

// A route is where the samples of one Series go.
type route struct {
	source *SourceState
	flow   *FlowState // nil unless the Series belongs to a connection
	iface  *linkState // nil unless it belongs to an interface
	tracks []*Track   // the quantities it can feed
	aside  bool       // they are in no table
}

// samples takes what was moved first: whether a connection sends decides what else of
// the same moment is the load's.
func (s *Session) samples(all []sources.Sample) {
	for _, moved := range []bool{true, false} {
		for _, v := range all {
			if v.Series != nil && v.N != 0 && ofMoved[v.Series.Metric.Name] == moved {
				s.sample(v)
			}
		}
	}
}

func (s *Session) sample(v sources.Sample) {
	r := s.routes[v.Series]
	if r == nil {
		r = s.newRoute(v.Series)
		s.routes[v.Series] = r
	}
	r.source.saw(v)
	if r.iface != nil && r.iface.blank(v) {
		return
	}
	if r.flow != nil && (!s.flows.sample(r.flow, v) || r.source.partly(v)) {
		return
	}
	counts, late := !r.aside && !s.unsettled(v), false
	for _, t := range r.tracks {
		if t.Quantity == Goodput {
			s.moved(v)
		}
		late = !t.add(v) || late
		if counts {
			s.pending = append(s.pending, pending{t, v})
		}
	}
	if late {
		s.late++
	}
}

// newRoute decides which quantities a Series feeds: an interface's own total, a
// connection when it is the busiest (asked at each sample), the load's sum.
func (s *Session) newRoute(sr *sources.Series) *route {
	s.meet(sr.Host)
	r := &route{source: s.source(sr.Host, sr.Source)}
	if sr.Metric == sources.Lag { // of the log, not of a connection
		return r
	}
	switch sr.Source {
	case "tcp", "siftr", "siftr2":
		r.flow = s.flows.of(sr.Host, sr.Source, sr.Subject)
	case "nic", "irq":
		r.iface = s.link(sr.Host, ifaceOf(sr.Subject))
		if sr.Metric == sources.IrqCap {
			r.aside = true
		}
		if sr.Source == "irq" && strings.HasPrefix(sr.Subject, s.InterfaceOf(sr.Host)+":") {
			r.aside, r.tracks = true, []*Track{s.queue(sr)}
			return r
		}
		if sr.Subject != s.InterfaceOf(sr.Host) {
			r.tracks = s.secondTracks(sr)
			return r
		}
	case "cpu":
		if sr.Subject != "all" {
			return r
		}
	case "iperf3", "iperf2":
		if summed := sr.Metric.Agg == sources.PerTime; summed && sr.Subject != LoadSum {
			return r
		}
	}
	o := Origin{sr.Source, sr.Metric}
	for _, q := range append(Quantities(), IrqCap) {
		if q.rank(o) < 0 {
			continue
		}
		r.tracks = append(r.tracks, s.track(sr.Host, q, o))
	}
	return r
}

func (s *Session) track(host string, q *Quantity, o Origin) *Track {
	k := trackKey{host, q, o}
	t := s.tracks[k]
	if t == nil {
		t = &Track{Quantity: q, Origin: o, Host: host, Ring: series.New(o.Metric.Agg), since: s.Start}
		s.tracks[k] = t
		s.order = append(s.order, t)
		slices.SortStableFunc(s.order, func(a, b *Track) int { return a.Quantity.rank(a.Origin) - b.Quantity.rank(b.Origin) })
	}
	return t
}

// Find returns the Track to show for a Quantity on a host: the best origin that
// is alive or whose run is on, else the one that spoke last. It is nil when
// nobody ever told it.
func (s *Session) Find(q *Quantity, host string) *Track {
	var last *Track
	for _, t := range s.order {
		if t.Quantity != q || t.Host != host {
			continue
		}
		if _, stale := t.Stale(s.now); !stale || s.runs.by(t.Host, t.Origin.Source) {
			return s.direction(t)
		}
		if last == nil || t.Last.At.Sub(last.Last.At) > asGood {
			last = t
		}
	}
	if last == nil {
		return nil
	}
	return s.direction(last)
}

// asGood is how much longer a lesser origin must have gone on speaking before a
// silent better one gives way to it.
const asGood = 5 * time.Second
