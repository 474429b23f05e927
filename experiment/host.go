package experiment

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"netwatch/sources"
)

// PeerSource is the Source of events about the connection to a peer, which is their
// Host. SourceUp begins it, with the peer's interface as Subject and its card in
// words as Text; SourceNote tells of clock and link; SourceGone ends it.
const PeerSource = "peer"

// A PeerState is another host that is watched too.
type PeerState struct {
	Host      string
	Interface string    // the one watched there
	Facts     string    // its card in words, "" unknown
	Words     string    // of its clock and the link to it, "" unknown
	Up        bool      // it spoke, and is there
	Gone      time.Time // since when it is not there, zero while it is or never was
	Why       string    // why it is gone
	since     time.Time // when it came
	times     int       // how often it was gone
	away      time.Duration
}

// Away says in words how often a peer was gone until now, and for how long in all;
// "" when it never was. The table marks that time with "r1:?".
func (p *PeerState) Away(now time.Time) string {
	d := p.away
	if !p.Gone.IsZero() {
		d += now.Sub(p.Gone)
	}
	switch p.times {
	case 0:
		return ""
	case 1:
		return p.Host + " was gone once, for " + Took(d) + ": its knobs are not known (" + p.Host + ":?)"
	}
	return p.Host + " was gone " + strconv.Itoa(p.times) + " times, for " + Took(d) + " in all: its knobs are not known (" + p.Host + ":?)"
}

// Hosts returns the hosts in the order of screens and tables: "" is this one, then
// the peers as they became known.
func (s *Session) Hosts() []string {
	hosts := []string{""}
	for _, p := range s.peers {
		hosts = append(hosts, p.Host)
	}
	return hosts
}

// Peer returns what is known of a peer, nil for a host that is none.
func (s *Session) Peer(host string) *PeerState {
	i := slices.IndexFunc(s.peers, func(p *PeerState) bool { return p.Host == host })
	if i < 0 {
		return nil
	}
	return s.peers[i]
}

// InterfaceOf returns the interface that is watched on a host.
func (s *Session) InterfaceOf(host string) string {
	if p := s.Peer(host); p != nil {
		return p.Interface
	}
	return s.Interface
}

// meet makes a host known, if it is not.
func (s *Session) meet(host string) {
	if host != "" && s.Peer(host) == nil {
		s.peers = append(s.peers, &PeerState{Host: host, Interface: cmp.Or(s.PeerInterfaces[host], s.Interface)})
	}
}

// peerEvent takes an event of the connection to a peer. It returns true for what
// need not be listed: that it is there at first, and what is said of its clock.
func (s *Session) peerEvent(p *PeerState, e sources.Event) (quiet bool) {
	switch e.Kind {
	case sources.SourceUp:
		quiet = p.Gone.IsZero()
		if !quiet {
			p.away += e.At.Sub(p.Gone)
		}
		p.Up, p.Gone, p.Why, p.since = true, time.Time{}, "", e.At
		p.Facts = cmp.Or(e.Text, p.Facts)
		if e.Subject != "" && e.Subject != p.Interface {
			p.Interface = e.Subject
			s.reroute(p.Host)
		}
		s.rekey(e.At)
	case sources.SourceNote:
		p.Words = e.Text
		quiet = !e.Error
	case sources.SourceGone:
		s.lose(p, e)
	}
	return quiet
}

// lose takes leave of a peer. What its knobs are is not known from here on, which is
// a setting of its own; its runs are over, and what its interface does cannot be
// known.
func (s *Session) lose(p *PeerState, e sources.Event) {
	if p.Gone.IsZero() {
		p.Gone = e.At.Add(-e.Span) // it has said nothing since
		p.times++
	}
	p.Up, p.Why, p.Words = false, cmp.Or(e.Text, "gone"), ""
	s.runs.drop(p.Host, e.At)
	for k, l := range s.links {
		if k.host == p.Host {
			l.lose(e.At)
		}
	}
	for _, t := range slices.Concat(s.order, s.queues) {
		if t.Host == p.Host {
			t.lost = e.At
		}
	}
	s.flows.lose(p.Host, e.At)
	s.knobs.doubt(p.Host)
	s.rekey(e.At)
}

// knobsMove says whether the setting cannot be told just now.
func (s *Session) knobsMove() bool {
	return slices.ContainsFunc(s.knobs.order, func(k *KnobState) bool {
		return !k.Spec.Aside && (k.Turning != "" || k.Doubt && s.Peer(k.Host).Up)
	})
}

// knobSeen takes what a knob is. One that changed while its host was gone is listed:
// its column stands in the charts.
func (s *Session) knobSeen(e sources.Event) {
	var old string
	known := s.knobs.find(e.Host, e.Subject)
	if known != nil && known.Doubt {
		old = known.Value
	}
	k := s.knobs.seen(e)
	if k != nil && old != "" && k.Value != old {
		s.log(sources.Event{At: e.At, Kind: sources.KnobDrifted, Host: e.Host, Source: e.Source, Subject: e.Subject,
			Old: old, New: k.Value, Text: "found so when it was back"})
	}
	if known == nil && s.Phase().End.IsZero() { // it was so all along
		s.Phase().refine(s.knobs.setting())
		return
	}
	s.rekey(e.At)
}

// tellKnobs is how long a peer that is back may take to tell its knobs again.
const tellKnobs = 5 * time.Second

// trust ends the wait for knobs that a peer which is back does not have any more.
func (s *Session) trust() {
	for _, p := range s.peers {
		if p.Up && s.now.Sub(p.since) > tellKnobs && s.knobs.forget(p.Host) {
			s.rekey(s.now)
		}
	}
}

// reroute has the Series of a host find their quantities again.
func (s *Session) reroute(host string) {
	for sr := range s.routes {
		if sr.Host == host {
			delete(s.routes, sr)
		}
	}
}
