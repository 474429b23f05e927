package experiment

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"netwatch/sources"
)

// maxFlows bounds the flow table: the quietest ended flows go first.
const maxFlows = 64

// A FlowState is one connection as all sources together know it. Figures are the
// newest Sample of each Metric, from the best source that has it.
type FlowState struct {
	Host, Source  string
	ID            string // siftr's id where a log has one, else the 4-tuple
	Local, Remote netip.AddrPort
	Stack, CC     string
	MSS           int
	Mixed         bool      // connections that share one id: figures of both
	TSO           string    // "on" or "off": whether the connection itself may use segmentation offload
	NoPayload     bool      // its log's format carries no payload: nothing tells throughput and segment
	Ended         time.Time // zero while it lives
	Last          map[Origin]sources.Sample
	goodput       time.Time // newest goodput Sample
	out, in       float64   // octets/s over about a second
}

type flowKey struct{ host, source, id string }

type flowTable struct {
	byID    map[flowKey]*FlowState
	byLogID map[hostName]sources.Flow // addresses of ids that a log may come to name
	all     []*FlowState
	busiest map[hostName]*FlowState // by host and source
	sender  map[hostName]*FlowState // the one that sends most
}

// of returns the state of a flow by its source's own id.
func (t *flowTable) of(host, source, id string) *FlowState {
	k := flowKey{host, source, id}
	f := t.byID[k]
	if f == nil {
		f = &FlowState{Host: host, Source: source, ID: id, Last: map[Origin]sources.Sample{}}
		f.learn(t.byLogID[hostName{host, f.LogID()}])
		t.byID[k] = f
		t.add(f)
	}
	return f
}

// learn takes what another source or a later event knows of the flow.
func (f *FlowState) learn(w sources.Flow) {
	if w.Local.IsValid() {
		f.Local, f.Remote = w.Local, w.Remote
	}
	f.MSS = cmp.Or(w.MSS, f.MSS)
	f.Stack, f.CC = cmp.Or(w.Stack, f.Stack), cmp.Or(w.CC, f.CC)
	f.TSO = cmp.Or(w.TSO, f.TSO)
	f.Mixed = f.Mixed || w.Mixed
	f.NoPayload = f.NoPayload || w.NoPayload
}

// LogID is the id as it stands in the log: ID without the name of the log, which
// it carries where two logs of one module are followed.
func (f *FlowState) LogID() string {
	id, _, _ := strings.Cut(f.ID, "@")
	return id
}

func (t *flowTable) add(f *FlowState) {
	t.all = append(t.all, f)
	if len(t.all) <= maxFlows {
		return
	}
	quiet := slices.MinFunc(t.all, func(a, b *FlowState) int {
		if a.Ended.IsZero() != b.Ended.IsZero() {
			if b.Ended.IsZero() {
				return -1
			}
			return 1
		}
		return a.goodput.Compare(b.goodput)
	})
	t.all = slices.DeleteFunc(t.all, func(x *FlowState) bool { return x == quiet })
	for k, v := range t.byID {
		if v == quiet {
			delete(t.byID, k)
		}
	}
}

// seen learns who a flow is. A load generator's streams are no rows of their
// own: they only tell the addresses, which give the id in a log. mixed is an id
// that turns out to be shared.
func (t *flowTable) seen(e sources.Event) (mixed string) {
	if e.Flow == nil {
		return ""
	}
	mixed = t.remember(e.Host, *e.Flow)
	if flowSources[e.Source] {
		f := t.of(e.Host, e.Source, e.Flow.ID)
		f.Ended = time.Time{}
		f.learn(*e.Flow)
	}
	return mixed
}

// flowSources are the sources whose subjects are connections.
var flowSources = map[string]bool{"tcp": true, "siftr": true, "siftr2": true}

// remember keeps the addresses behind an id. Two connections that would be logged
// under one id are mixed in the log; the id is returned when that shows.
func (t *flowTable) remember(host string, w sources.Flow) (mixed string) {
	if w.LogID == "" || !w.Local.IsValid() {
		return ""
	}
	if t.byLogID == nil || len(t.byLogID) >= 16*maxFlows {
		t.byLogID = map[hostName]sources.Flow{}
	}
	k := hostName{host, w.LogID}
	known, have := t.byLogID[k]
	w.Mixed = w.Mixed || have && (known.Local != w.Local || known.Remote != w.Remote)
	t.byLogID[k] = w
	for _, f := range t.all {
		if f.Host == host && f.ofLog() && f.LogID() == w.LogID {
			f.learn(w)
		}
	}
	if w.Mixed && !known.Mixed {
		return w.LogID
	}
	return ""
}

func (f *FlowState) ofLog() bool { return f.Source == "siftr2" || f.Source == "siftr" }

// ended notes the end of a connection. Its id is free for the next one.
func (t *flowTable) ended(e sources.Event) {
	if f := t.byID[flowKey{e.Host, e.Source, e.Subject}]; f != nil {
		f.Ended = e.At
	}
	for k, w := range t.byLogID {
		if k.host == e.Host && w.ID == e.Subject {
			delete(t.byLogID, k)
		}
	}
}

// sample keeps the newest figure of a flow and says whether it is charted: what
// comes in by the busiest of its host, the rest by the one that sends most. The
// window and RTT of a connection that sends nothing (a control connection, a
// receiver's end) are not the load's.
func (t *flowTable) sample(f *FlowState, v sources.Sample) bool {
	m := v.Series.Metric
	f.Last[Origin{v.Series.Source, m}] = v
	k := hostName{f.Host, f.Source}
	b := t.sender[k]
	switch m {
	case sources.Goodput, sources.Sampled:
		f.busy(&f.out, v)
	case sources.RxGood, sources.RxSampled:
		f.busy(&f.in, v)
		b = t.busiest[k]
	case sources.RxSegment, sources.Records:
		b = t.busiest[k]
	case sources.Inflight:
		if f.goodput.IsZero() { // no payload in this log: it orders flows, it is never shown as a rate
			f.busy(&f.out, v)
		}
		if !f.sends() {
			return false
		}
	case sources.Cwnd, sources.Ssthresh, sources.SRTT, sources.RTTVar, sources.Retrans:
		if !f.sends() {
			return false
		}
	}
	return b == nil || b == f
}

// busy follows a rate with a time constant of about a second.
func (f *FlowState) busy(rate *float64, v sources.Sample) {
	r, _ := v.Mean()
	*rate += (r - *rate) * min(1, max(v.Span.Seconds(), 0.05))
	if v.At.After(f.goodput) && v.Series.Metric != sources.Inflight {
		f.goodput = v.At
	}
}

// leastSent is the rate, octets/s, from which on a connection counts as sending.
const leastSent = 12_500

// sends says whether the flow sends data, as far as anybody tells.
func (f *FlowState) sends() bool {
	return f.goodput.IsZero() || f.out > leastSent && f.out > f.in/10
}

func (f *FlowState) rate() float64 { return f.out + f.in }

func same(a, b *FlowState) bool {
	return a.Local.IsValid() && a.Local == b.Local && a.Remote == b.Remote
}

// choose settles which flow is the busiest as each source sees it, and which sends
// most. The one that is stays until it is silent or another moves half as much again.
func (t *flowTable) choose(now time.Time) {
	if t.busiest == nil {
		t.busiest, t.sender = map[hostName]*FlowState{}, map[hostName]*FlowState{}
	}
	for _, f := range t.all {
		k := hostName{f.Host, f.Source}
		better := func(b *FlowState, is, was float64) bool {
			return f != b && f.alive(now) && (!b.alive(now) || is > 1.5*was)
		}
		if b := t.busiest[k]; b == nil || better(b, f.rate(), b.rate()) {
			t.busiest[k] = f
		}
		if b := t.sender[k]; b == nil || better(b, f.out, b.out) {
			t.sender[k] = f
		}
	}
}

// alive says whether the flow was heard of in the last two seconds.
func (f *FlowState) alive(now time.Time) bool {
	return f.Ended.IsZero() && now.Sub(f.newest()) < 2*time.Second
}

func (f *FlowState) newest() time.Time {
	var n time.Time
	for _, v := range f.Last {
		if v.At.After(n) {
			n = v.At
		}
	}
	return n
}

// Busiest returns the flow that is charted for a host, as the best source knows
// it, or nil.
func (s *Session) Busiest(host string) *FlowState {
	var any *FlowState
	for _, source := range []string{"siftr2", "siftr", "tcp"} {
		f := s.flows.busiest[hostName{host, source}]
		if f != nil && f.alive(s.now) {
			return f
		}
		if any == nil {
			any = f
		}
	}
	return any
}

// Flows returns the connections, the busiest first. Flows that ended more than
// half a minute ago are left out. A connection that two sources follow is one row;
// in two logs of one module it is two.
func (s *Session) Flows() []*FlowState {
	var out []*FlowState
	for _, f := range s.flows.all {
		if !f.Ended.IsZero() && s.now.Sub(f.Ended) > 30*time.Second {
			continue
		}
		if i := slices.IndexFunc(out, func(o *FlowState) bool { return o.Host == f.Host && o.Source != f.Source && same(o, f) }); i >= 0 {
			out[i] = join(out[i], f)
			continue
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b *FlowState) int {
		return cmp.Compare(b.rate(), a.rate())
	})
	return out
}

// join makes one row of two views of a connection. The log's id wins.
func join(a, b *FlowState) *FlowState {
	if len(b.LogID()) == 8 && len(a.LogID()) != 8 {
		a, b = b, a
	}
	j := *a
	j.Last = map[Origin]sources.Sample{}
	for k, v := range b.Last {
		j.Last[k] = v
	}
	for k, v := range a.Last {
		j.Last[k] = v
	}
	j.TSO, j.Mixed = cmp.Or(a.TSO, b.TSO), a.Mixed || b.Mixed
	j.NoPayload = a.NoPayload || b.NoPayload
	j.Stack, j.CC, j.MSS = cmp.Or(a.Stack, b.Stack), cmp.Or(a.CC, b.CC), cmp.Or(a.MSS, b.MSS)
	if !b.Ended.IsZero() && j.Ended.IsZero() && b.newest().After(a.newest()) {
		j.Ended = b.Ended
	}
	j.out, j.in = max(a.out, b.out), max(a.in, b.in)
	return &j
}

// Figure returns the newest Sample of a Quantity for this flow, from its best
// origin that spoke within the last five seconds.
func (f *FlowState) Figure(q *Quantity, now time.Time) (v float64, ok bool) {
	for _, o := range q.From {
		if s, has := f.Last[o]; has && now.Sub(s.At) < 5*time.Second {
			return s.Mean()
		}
	}
	return 0, false
}
