package ping

import (
	"strconv"
	"strings"
)

// fping reads "h : [0], 64 bytes, 21.2 ms (21.2 avg, 0% loss)", "h : [8], timed out
// (...)" and "h : xmt/rcv/%loss = 20/17/15%, min/avg/max = 17.8/20.7/24.4".
func (p *Parser) fping(s string, stamp Num) bool {
	target, rest, ok := strings.Cut(s, " : ")
	target = strings.TrimSpace(target)
	if !ok || target == "" || strings.ContainsAny(target, " ") {
		return false
	}
	if strings.HasPrefix(rest, "xmt/rcv/%loss = ") {
		p.began(target)
		p.report(s, target, rest)
		return true
	}
	n, rest, ok := strings.Cut(strings.TrimPrefix(rest, "["), "], ")
	if !ok {
		return false
	}
	if _, err := strconv.ParseUint(n, 10, 32); err != nil {
		return false
	}
	p.began(target)
	seq := p.unwrap(target, n)
	if strings.HasPrefix(rest, "timed out") {
		p.emit(NoAnswer{Line: p.line, From: target, Seq: seq, Stamp: stamp, Timeout: true})
		return true
	}
	_, after, ok := strings.Cut(rest, " bytes, ")
	ms, _, ok2 := strings.Cut(after, " ms")
	v, ok3 := float(ms)
	if !ok || !ok2 || !ok3 || v < 0 {
		return false
	}
	p.emit(Reply{Line: p.line, From: target, Seq: seq, RTT: num(v * 1000), Stamp: stamp, Dup: strings.Contains(after, "duplicate")})
	return true
}

// began announces a target of fping, which has no first line.
func (p *Parser) began(target string) {
	if !p.fpings[target] {
		p.fpings[target] = true
		p.emit(Start{Line: p.line, Flavour: Fping, Target: target})
	}
}

func (p *Parser) report(s, target, rest string) {
	counts, times, timed := strings.Cut(rest, ", min/avg/max = ")
	f := strings.Split(strings.TrimSuffix(strings.TrimPrefix(counts, "xmt/rcv/%loss = "), "%"), "/")
	r := Report{Line: p.line, Target: target}
	if len(f) != 3 {
		p.bad("a report without its three counts", s)
		return
	}
	var err1, err2 error
	r.Xmt, err1 = strconv.ParseInt(f[0], 10, 64)
	r.Rcv, err2 = strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		p.bad("a report with a count that is none", s)
		return
	}
	if v, ok := float(f[2]); ok {
		r.LossPct = num(v)
	}
	if t := strings.Split(times, "/"); timed && len(t) == 3 {
		for i, to := range []*Num{&r.Min, &r.Avg, &r.Max} {
			if v, ok := float(t[i]); ok {
				*to = num(v)
			}
		}
	}
	p.emit(r)
}
