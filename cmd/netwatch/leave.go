package main

import (
	"fmt"
	"io"
	"slices"

	"netwatch/sources/ends"
	"netwatch/sources/knobs"
	"netwatch/tui"
)

// pending tells the screen what leaving would put back, on every end.
type pending struct {
	here  hand
	peers []*peer
	both  *ends.Ends // has heard what the knobs are now
}

// Pending implements tui.Restorer.
func (p pending) Pending() []tui.Turned {
	out := p.of("", p.here.Changed())
	for _, peer := range p.peers {
		out = append(out, p.of(peer.host, peer.Changed())...)
	}
	return out
}

// of leaves out what somebody else has turned since: that is not put back.
func (p pending) of(host string, list []knobs.Change) []tui.Turned {
	var out []tui.Turned
	for _, c := range list {
		if now := p.both.Value(host, c.Knob); now == "" || now == c.Value {
			out = append(out, tui.Turned{Host: host, Knob: c.Knob, Value: c.Value, Start: c.Start})
		}
	}
	return out
}

// decide takes what a person answered on the screen: it outweighs --keep.
func (p *plan) decide(r tui.Result) {
	if r.Answered {
		p.keep, p.kept = r.Keep, r.Kept
	}
}

// split parts what was turned on a host into what shall stay and what is put back.
func (p *plan) split(host string, changed []knobs.Change) (kept, back []knobs.Change) {
	for _, c := range changed {
		chosen := func(t tui.Turned) bool { return t.Host == host && t.Knob == c.Knob }
		if p.keep || slices.ContainsFunc(p.kept, chosen) {
			kept = append(kept, c)
		} else {
			back = append(back, c)
		}
	}
	return kept, back
}

func names(list []knobs.Change) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Knob)
	}
	return out
}

// sayKept says what stays; whose is "r1: " on a peer.
func sayKept(w io.Writer, whose string, kept []knobs.Change) {
	for _, c := range kept {
		fmt.Fprintf(w, "netwatch: %skept %s=%s (was %s)\n", whose, c.Knob, c.Value, c.Start)
	}
}

var _ tui.Restorer = pending{}
