package ping

import "strings"

// The hints, by a part of the error's text. The first that fits counts.
var hints = []struct{ about, do string }{
	{"Name or service not known", "check the host's name"},
	{"Name does not resolve", "check the host's name"},
	{"nknown host", "check the host's name"},
	{"cannot resolve", "check the host's name and the name server"},
	{"bad address", "check the host's name"},
	{"Temporary failure in name resolution", "check the name server"},
	{"interval too short", "an ordinary user may not ping that fast: use a longer interval or root"},
	{"cannot flood; minimal interval", "an ordinary user may not ping that fast: use a longer interval or root"},
	{"Operation not permitted", "ping needs its set-user-id bit, CAP_NET_RAW or root"},
	{"Permission denied", "ping needs its set-user-id bit, CAP_NET_RAW or root"},
	{"Network is unreachable", "check the route"},
	{"No route to host", "check the route"},
	{"Host is down", "nobody answers ARP for that address"},
	{"No buffer space available", "the interface's queue is full"},
	{"nvalid option", "this ping does not know the option"},
	{"llegal option", "this ping does not know the option"},
	{"nrecognized option", "this ping does not know the option"},
}

// message reads "ping: r9: Name or service not known" and "connect: Network is
// unreachable" (old iputils).
func (p *Parser) message(s string) bool {
	name, _, ok := strings.Cut(s, ": ")
	if !ok || name != "ping" && name != "ping6" && name != "ping4" && name != "fping" && name != "connect" {
		return false
	}
	m := Message{Line: p.line, Text: s}
	for _, h := range hints {
		if strings.Contains(s, h.about) {
			m.Hint = h.do
			break
		}
	}
	p.emit(m)
	return true
}
