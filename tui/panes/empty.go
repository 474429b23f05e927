package panes

import (
	"slices"
	"strings"

	"netwatch/experiment"
)

// whyNone says why nobody tells a quantity, in the words of the source that should.
func (f *Frame) whyNone(q *experiment.Quantity) string {
	var names []string
	for _, o := range q.From {
		if !slices.Contains(names, o.Source) {
			names = append(names, o.Source)
		}
	}
	if q.Scope == experiment.OfInterface {
		names = names[:1] // the others tell what this one cannot
	}
	if p := f.Session.Peer(f.View.Host); p != nil && !p.Gone.IsZero() {
		return p.Host + " is gone"
	}
	if ofSender[q] && f.Session.OnlyReceives(f.View.Host) {
		return f.whyEmpty(q)
	}
	if f.noPayload(q) {
		return "not in this format: siftr logs no payload"
	}
	silent := ""
	for _, st := range f.Session.Sources() {
		if st.Host != f.View.Host || !slices.Contains(names, st.Name) {
			continue
		}
		switch {
		case st.Gone != "":
			return "no " + st.Name + ": " + st.Gone
		case st.NoteError:
			return "no " + st.Name + ": " + st.Note
		case q == experiment.PingRTT && f.Session.Find(experiment.PingLost, f.View.Host) != nil:
			silent = "no reply"
		case silent == "" && st.Last.IsZero():
			silent = st.Name + " has told nothing yet"
		case silent == "":
			silent = st.Name + " does not tell " + q.Name
		}
	}
	if silent != "" {
		return silent
	}
	if q == experiment.Retrans && f.find(experiment.FlowPkts) != nil {
		return "a siftr log does not count retransmits"
	}
	return "no source: " + strings.Join(names, ", ")
}

// whyEmpty says why there is nothing in the window of a quantity that was told before.
func (f *Frame) whyEmpty(q *experiment.Quantity) string {
	if ofSender[q] && f.live() && f.Session.OnlyReceives(f.View.Host) {
		return "no connection sends here"
	}
	return "no reading in this window"
}

// ofSender are the quantities that are told of connections that send.
var ofSender = map[*experiment.Quantity]bool{
	experiment.SRTT: true, experiment.Cwnd: true, experiment.Inflight: true, experiment.Recovery: true, experiment.SndLimited: true,
}

// noPayload says whether a quantity is missing because a log that speaks carries
// no payload.
func (f *Frame) noPayload(q *experiment.Quantity) bool {
	if q != experiment.Segment {
		return false
	}
	return slices.ContainsFunc(f.Session.Sources(), func(st *experiment.SourceState) bool {
		return st.Host == f.View.Host && st.NoPayload && st.Gone == ""
	})
}
