package experiment

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// maxFlows bounds the flow table: the quietest ended flows go first.
const maxFlows = 64

// A FlowState is one connection as all sources together know it. Each Metric of each
// source has a Track of its own, which Now and At read.
type FlowState struct {
	Host, Source  string
	ID            string // siftr's id where a log has one, else the 4-tuple
	Local, Remote netip.AddrPort
	Stack, CC     string
	MSS           int
	Mixed         bool      // connections that share one id: figures of both
	TSO           string    // "on" or "off": whether the connection itself may use segmentation offload
	NoPayload     bool      // its log's format carries no payload: nothing tells throughput and segment
	Began         time.Time // when it was first heard of
	Ended         time.Time // zero while it lives
	told          map[Origin]*Track
	goodput       time.Time // newest goodput Sample
	out, in       float64   // octets/s over about a second
	held          float64   // in which share of about a second data was on its way
	sent, got     bool      // it once sent, or received, at a rate that only data has
}

type flowKey struct{ host, source, id string }

type flowTable struct {
	byID    map[flowKey]*FlowState
	byLogID map[hostName]sources.Flow // addresses of ids that a log may come to name
	all     []*FlowState
	busiest map[hostName]*FlowState // by host and source
	sender  map[hostName]*FlowState // the one that sends most
	reigns  []reign
}

// of returns the state of a flow by its source's own id.
func (t *flowTable) of(host, source, id string) *FlowState {
	k := flowKey{host, source, id}
	f := t.byID[k]
	if f == nil {
		f = &FlowState{Host: host, Source: source, ID: id, told: map[Origin]*Track{}}
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

// heard notes that there was news of the flow at a time.
func (f *FlowState) heard(at time.Time) {
	if f.Began.IsZero() || at.Before(f.Began) {
		f.Began = at
	}
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
		f.heard(e.At)
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

// lose notes that a host is gone: no figure of its flows is current.
func (t *flowTable) lose(host string, at time.Time) {
	for _, f := range t.all {
		if f.Host != host {
			continue
		}
		for _, tr := range f.told {
			tr.lost = at
		}
	}
}

// sample takes a figure of a flow and says whether it is charted: what comes in by
// the busiest of its host, the rest by the one that sends most. The window and RTT of
// a connection that sends nothing (a control connection, a receiver's end) say
// nothing of the load: neither chart nor table has them.
func (t *flowTable) sample(f *FlowState, v sources.Sample) bool {
	m := v.Series.Metric
	k := hostName{f.Host, f.Source}
	b := t.sender[k]
	if ofBusiest[m] {
		b = t.busiest[k]
	}
	switch m {
	case sources.Goodput, sources.Sampled:
		f.busy(&f.out, v)
	case sources.RxGood, sources.RxSampled:
		f.busy(&f.in, v)
	case sources.Inflight:
		f.holds(v)
		if f.goodput.IsZero() { // no payload in this log: it orders flows, it is never shown as a rate
			f.busy(&f.out, v)
		}
	}
	if ofSender[m] && !f.sends() {
		f.heard(v.At)
		return false
	}
	f.keep(v)
	return b == nil || b == f
}

// ofMoved are the metrics, by name, that say whether a connection sends.
var ofMoved = map[string]bool{
	sources.Goodput.Name: true, sources.RxGood.Name: true, sources.Sampled.Name: true, sources.RxSampled.Name: true,
}

// ofBusiest are the metrics that are charted of the busiest connection, not of the one
// that sends most.
var ofBusiest = map[sources.Metric]bool{
	sources.RxGood: true, sources.RxSampled: true, sources.RxSegment: true, sources.Records: true,
}

// ofSender are the metrics that mean something only where data is sent.
var ofSender = map[sources.Metric]bool{
	sources.Cwnd: true, sources.Ssthresh: true, sources.SRTT: true, sources.RTTVar: true, sources.Inflight: true,
	sources.Retrans: true, sources.Recovery: true, sources.SndLimited: true,
}

// keep adds a figure to the flow's own Track of it. Its Ring is a small one, for there
// are many of them.
func (f *FlowState) keep(v sources.Sample) {
	f.heard(v.At.Add(-v.Span))
	o := Origin{v.Series.Source, v.Series.Metric}
	tr := f.told[o]
	if tr == nil {
		tr = &Track{Origin: o, Host: f.Host, Ring: series.NewSmall(o.Metric.Agg)}
		f.told[o] = tr
	}
	tr.add(v)
}

// busy follows a rate with a time constant of about a second.
func (f *FlowState) busy(rate *float64, v sources.Sample) {
	r, _ := v.Mean()
	*rate += (r - *rate) * min(1, max(v.Span.Seconds(), 0.05))
	if v.Series.Metric == sources.Inflight {
		return
	}
	if v.At.After(f.goodput) {
		f.goodput = v.At
	}
	f.sent = f.sent || f.out > leastSent && f.out > f.in/10
	f.got = f.got || f.in > leastSent
}

// holds follows whether data is on its way, with the same time constant.
func (f *FlowState) holds(v sources.Sample) {
	now := 0.0
	if v.Last > 0 {
		now = 1
	}
	f.held += (now - f.held) * min(1, max(v.Span.Seconds(), 0.05))
}

// leastSent is the rate, octets/s, from which on a connection counts as sending; starved
// is what is enough for one that did before.
const (
	leastSent = 12_500
	starved   = leastSent / 10
)

// sends says whether the flow sends data, as far as anybody tells. One that did, and has
// data on its way that the other end does not get, still sends: there the window and the
// RTT tell most. The acknowledgements of a receiver carry no data, and what a control
// connection says is on its way for a moment only.
func (f *FlowState) sends() bool {
	if f.goodput.IsZero() {
		return true
	}
	if f.out < f.in/10 {
		return false
	}
	return f.out > leastSent || f.sent && (f.out > starved || f.held > 0.5)
}

func (f *FlowState) isLoad() bool     { return f.sent || f.got }
func (f *FlowState) rate() float64    { return f.out + f.in }
func (f *FlowState) outRate() float64 { return f.out }

func same(a, b *FlowState) bool {
	return a.Local.IsValid() && a.Local == b.Local && a.Remote == b.Remote
}

// choose settles which flow is the busiest as each source sees it, and which sends
// most. The one that is stays until it is silent or another moves half as much again; a
// load that is starved goes before what never was one.
func (t *flowTable) choose(now time.Time) {
	if t.busiest == nil {
		t.busiest, t.sender = map[hostName]*FlowState{}, map[hostName]*FlowState{}
	}
	for _, f := range t.all {
		k := hostName{f.Host, f.Source}
		if f.ahead(t.busiest[k], (*FlowState).isLoad, (*FlowState).rate, now) {
			t.busiest[k] = f
			t.reign(k, false, now, f)
		}
		if f.ahead(t.sender[k], (*FlowState).sends, (*FlowState).outRate, now) {
			t.sender[k] = f
			t.reign(k, true, now, f)
		}
	}
}

// ahead says whether f takes the place of b.
func (f *FlowState) ahead(b *FlowState, able func(*FlowState) bool, rate func(*FlowState) float64, now time.Time) bool {
	switch {
	case b == nil:
		return true
	case f == b || !f.alive(now):
		return false
	case !b.alive(now):
		return true
	case able(f) != able(b):
		return able(f)
	}
	return rate(f) > 1.5*rate(b)
}

// alive says whether the flow was heard of in the last two seconds.
func (f *FlowState) alive(now time.Time) bool {
	return f.Ended.IsZero() && now.Sub(f.newest()) < 2*time.Second
}

func (f *FlowState) newest() time.Time {
	var n time.Time
	for _, tr := range f.told {
		if tr.Last.At.After(n) {
			n = tr.Last.At
		}
	}
	return n
}
