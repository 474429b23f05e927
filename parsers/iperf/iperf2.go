package iperf

import (
	"fmt"
	"strings"
)

// connectedWith notes a connection of iperf2. The end with the well-known port
// is the server; who sends follows from that and from --reverse, which iperf2
// marks on the rows instead ("[ *1]").
func (p *Parser) connectedWith(id, rest string, s Stream) {
	if p.run == nil || p.run.ended || p.run.Tool != Iperf2 {
		st := Start{Tool: Iperf2, Server: p.server}
		old := p.run
		p.endRun()
		p.tool = Iperf2
		p.run = p.newRun(st)
		if old != nil && old.Tool == Iperf2 {
			p.run.Server, p.run.Protocol, p.run.port, p.run.Peer = old.Server, old.Protocol, old.port, old.Peer
		}
	}
	r := p.run
	if r.Peer == "" && s.Remote.IsValid() {
		r.Peer = fmt.Sprintf("%s port %d", s.Remote.Addr(), s.Remote.Port())
	}
	p.announce()
	switch {
	case s.Local.Port() == 0 && s.Local.IsValid():
		return // "local 0.0.0.0 port 0": the connection was refused
	case r.port != 0 && s.Local.Port() == r.port && s.Remote.Port() != r.port:
		s.Dir = In
	case r.port != 0 && s.Remote.Port() == r.port:
		s.Dir = Out
	case r.Server:
		s.Dir = In
	default:
		s.Dir = Out
	}
	if strings.Contains(rest, "(reverse)") {
		s.Dir = s.Dir.other()
		r.Reverse = true
	}
	s.MSS = iperf2MSS(rest)
	r.streams[id] = &stream{dir: s.Dir, connected: true}
	p.emit(s)
}

func (d Dir) other() Dir {
	switch d {
	case In:
		return Out
	case Out:
		return In
	}
	return Unknown
}

// iperf2MSS reads "(icwnd/mss/irtt=14/1448/18590)" and "(MSS=1448)".
func iperf2MSS(s string) (mss int) {
	var icwnd int
	if _, after, ok := strings.Cut(s, "(icwnd/mss/irtt="); ok {
		fmt.Sscanf(after, "%d/%d", &icwnd, &mss)
	} else if _, after, ok := strings.Cut(s, "(MSS="); ok {
		fmt.Sscanf(after, "%d", &mss)
	}
	return mss
}

// iperf2Mark reads the lines between the rows of iperf2 that change their meaning.
// -Z says "TCP congestion control set to reno", from 2.2 "using".
func (p *Parser) iperf2Mark(s string) bool {
	if cc, ok := strings.CutPrefix(s, "TCP congestion control "); ok {
		p.run.cc = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(cc), "set to "), "using ")
		return true
	}
	id, _, rest, ok := bracket(s)
	if ok && strings.Contains(rest, "Server Report:") {
		p.run.reported[id] = true
		return true
	}
	return ok && (strings.Contains(rest, "Sent ") && strings.Contains(rest, " datagrams") ||
		strings.Contains(rest, "PDF:") || strings.Contains(rest, "received out-of-order"))
}

// iperf2Row finishes and places a row of iperf2. A total carries no mark: it is
// a row that starts at 0 for an id that had rows before.
func (p *Parser) iperf2Row(r Row, tail []string) {
	run := p.run
	p.announce()
	st := run.stream(r.ID)
	r.Dir = st.dir
	if base, star := strings.CutPrefix(r.ID, "*"); star && r.Dir == Unknown {
		r.Dir = In
		if s := run.streams[base]; s != nil && s.dir != Unknown {
			r.Dir = s.dir.other()
		}
	}
	p.iperf2Tail(&r, tail)
	if r.Dir == Unknown && !r.IsSum() {
		r.Dir = Out
		if run.Server {
			r.Dir = In
		}
	}
	st.dir = r.Dir
	switch {
	case run.reported[r.ID] || st.total:
		delete(run.reported, r.ID)
		r.Scope = Foreign
	case r.Start == 0 && st.rows > 0:
		r.Scope = Total
		st.total = true
		run.totals = append(run.totals, r)
	case st.repeats(r):
		p.bad(fmt.Sprintf("the row of %.4f-%.4f came again or went back in time", r.Start, r.End), "")
		return
	default:
		st.rows, st.from, st.to = st.rows+1, r.Start, r.End
	}
	p.emit(r)
	if r.Scope == Total && run.allTotals() {
		p.finish()
	}
}

// allTotals tells that every id of the run has its final row, the sum too when
// there is one.
func (r *run) allTotals() bool {
	for _, s := range r.streams {
		if (s.rows > 0 || s.connected) && !s.total {
			return false
		}
	}
	return true
}

// iperf2Tail reads what stands behind the rate of a row of iperf2. The fields are
// found by their shape, because every version has its own set of them.
func (p *Parser) iperf2Tail(r *Row, tail []string) {
	for i := 0; i < len(tail); i++ {
		next := ""
		if i+1 < len(tail) {
			next = tail[i+1]
		}
		w := tail[i]
		slashes := strings.Count(w, "/")
		switch {
		case strings.ContainsAny(w, "=:"): // reads by size, bounceback
		case slashes == 3 && next == "ms":
			if !r.App.Latency.Avg.OK && r.App.NetPower == (Num{}) {
				r.App.Latency = p.latency(w)
			}
			i++
		case slashes == 0 && next == "ms":
			p.iperf2Jitter(r, w)
			i++
		case slashes >= 1 && next == "us":
			iperf2Window(r, w)
			i++
		case slashes == 1 && i == 0:
			w, e, _ := strings.Cut(w, "/")
			r.App.Writes, r.App.WriteErrs = count(w), count(e)
			r.Dir = Out
		case slashes == 1 && next != "pkts" && !r.UDP.Datagrams.OK && r.UDP.Jitter.OK:
			lost, total, _ := strings.Cut(w, "/")
			r.UDP.Lost, r.UDP.Datagrams = count(lost), count(total)
		case slashes > 0 || next == "pps" || next == "rps" || strings.HasPrefix(w, "("):
			if next == "pps" || next == "rps" || next == "pkts" {
				i++
			}
		case strings.HasPrefix(next, "KByte"), strings.HasPrefix(next, "MByte"), strings.HasPrefix(next, "GByte"), next == "Byte", next == "Bytes":
			if v, _, ok := amount(w, next, "Byte"); ok {
				r.App.InP = num(v)
			}
			i++
		case i == 1 && r.App.Writes.OK:
			r.TCP.Retrans = count(w)
		case !r.App.NetPower.OK && (r.TCP.RTT.OK || r.App.Latency.Avg.OK):
			if v, ok := float(w); ok && v >= 0 {
				r.App.NetPower = num(v)
			}
		}
	}
}

func (p *Parser) iperf2Jitter(r *Row, s string) {
	if v, ok := float(s); ok && v >= 0 {
		r.UDP.Jitter = num(v * 1000)
		return
	}
	p.bad(fmt.Sprintf("the jitter %q is no number", s), "")
}

// latency reads "153.903/37.347/222.015/41.618", milliseconds.
func (p *Parser) latency(s string) (l Latency) {
	f := strings.Split(s, "/")
	for i, to := range []*Num{&l.Avg, &l.Min, &l.Max, &l.SD} {
		v, ok := float(f[i])
		if !ok || v < 0 {
			p.bad(fmt.Sprintf("the latency %q is no number", s), "")
			return Latency{}
		}
		*to = num(v * 1000)
	}
	return l
}

// iperf2Window reads "567K/2566" (2.0), "412K/16929(410)" (2.1) and
// "231K(164)/333K(236)/19500(413)" (2.2: in flight, window, RTT). K is 1024 bytes.
func iperf2Window(r *Row, s string) {
	f := strings.Split(s, "/")
	window, _, _ := strings.Cut(f[len(f)-2], "(")
	rtt, variance, _ := strings.Cut(f[len(f)-1], "(")
	if k, ok := strings.CutSuffix(window, "K"); ok {
		r.TCP.Cwnd = count(k).scaled(1024)
	} else {
		r.TCP.Cwnd = count(window)
	}
	r.TCP.RTT = count(rtt)
	r.TCP.RTTVar = count(strings.TrimSuffix(variance, ")"))
	if r.TCP.RTT.V == 0 {
		r.TCP.RTT, r.TCP.RTTVar = Num{}, Num{} // the kernel has no RTT yet
	}
}
