package iperf

import (
	"fmt"
	"strings"
)

// header reads the line of column names. For iperf3 it tells what the rows are
// about; for both it tells the tool when no banner did.
func (p *Parser) header(s string) bool {
	_, names, ok := strings.Cut(s, "[ ID]")
	if !ok || !strings.Contains(names, "Interval") || !strings.Contains(names, "Transfer") {
		return false
	}
	if p.run == nil {
		tool := Iperf2
		if strings.Contains(names, "Bitrate") || strings.Contains(names, "Interval           Transfer") && !strings.Contains(names, "Write/Err") {
			tool = Iperf3
		}
		p.tool = tool
		p.run = p.newRun(Start{Tool: tool, Server: p.server})
	}
	if p.run.Tool != Iperf3 || p.run.others {
		return true
	}
	switch {
	case strings.Contains(names, "Lost/Total"):
		p.run.columns, p.run.Protocol = jitter, "UDP"
	case strings.Contains(names, "Total Datagrams"):
		p.run.columns, p.run.Protocol = datagrams, "UDP"
	case strings.Contains(names, "Retr"):
		p.run.columns, p.run.Protocol = retr, "TCP"
	default:
		p.run.columns = plain
	}
	p.run.Bidir = p.run.Bidir || strings.Contains(names, "[Role]")
	if p.run.ruled {
		p.run.summary = true
	}
	return true
}

// mark reads the lines between the rows of iperf3 that change their meaning.
func (p *Parser) mark(s string) bool {
	if strings.Contains(s, "iperf Done.") {
		if p.run != nil {
			p.endRun()
		}
		return true
	}
	if strings.Contains(s, "----------") {
		if p.run != nil && p.run.summary {
			p.endRun()
		}
		return true
	}
	r := p.run
	if r == nil {
		return false
	}
	if r.Tool == Iperf2 {
		return p.iperf2Mark(s)
	}
	switch {
	case strings.Contains(s, "- - - -"):
		r.ruled = true
	case strings.Contains(s, "Reverse mode, remote host"):
		r.Reverse = true
	case strings.Contains(s, "Test Complete. Summary Results:"):
		r.summary = true
	case strings.Contains(s, "Starting Test: protocol: TCP"):
		r.Protocol = "TCP"
	case strings.Contains(s, "Starting Test: protocol: UDP"):
		r.Protocol = "UDP"
	case strings.HasSuffix(strings.TrimSpace(s), "Server output:"):
		r.others = true
	case strings.Contains(s, "snd_tcp_congestion "):
		_, r.cc, _ = strings.Cut(s, "snd_tcp_congestion ")
		r.cc = strings.TrimSpace(r.cc)
	default:
		return false
	}
	return true
}

// iperf3Dir is the direction of a row: its role says it, else the columns do,
// else who connected and whether that was turned round.
func (p *Parser) iperf3Dir(role string) Dir {
	r := p.run
	switch {
	case strings.HasPrefix(role, "TX"):
		return Out
	case strings.HasPrefix(role, "RX"):
		return In
	case r.Bidir:
		return Unknown
	case r.columns == retr && !r.summary, r.columns == datagrams:
		return Out
	case r.columns == jitter && !r.summary:
		return In
	case r.Server != r.Reverse:
		return In
	}
	return Out
}

// iperf3Row finishes and places a row of iperf3.
func (p *Parser) iperf3Row(r Row, tail []string) {
	tail = iperf3Side(&r, tail)
	run := p.run
	if run.others {
		r.Scope = Foreign
		p.emit(r)
		return
	}
	if r.Side != "" || run.summary {
		r.Scope = Total
	} else if run.ended || run.stream(r.ID+r.Role).restarts(r) {
		p.startRun(Start{Tool: Iperf3, Server: run.Server, Peer: run.Peer})
		p.run.columns, p.run.Bidir, p.run.Reverse = run.columns, run.Bidir, run.Reverse
		run = p.run
	}
	p.announce()
	st := run.stream(r.ID + r.Role)
	r.Dir = st.dir
	if d := p.iperf3Dir(r.Role); st.dir == Unknown || r.Scope != Total && d != Unknown {
		r.Dir, st.dir = d, d
	}
	p.iperf3Tail(&r, tail)
	if r.Scope == Total {
		run.summary = true
		run.totals = append(run.totals, r)
		p.emit(r)
		return
	}
	run.ruled = false
	if st.repeats(r) {
		p.bad(fmt.Sprintf("the row of %.2f-%.2f came again or went back in time", r.Start, r.End), "")
		return
	}
	st.rows, st.from, st.to, st.omitted = st.rows+1, r.Start, r.End, r.Scope == Omitted
	p.emit(r)
}

// restarts tells a clock that began again without a banner (a transcript that
// kept only rows). It also begins again after omitted intervals.
func (s *stream) restarts(r Row) bool {
	return s.rows > 0 && r.Start == 0 && s.from > 0 && !s.omitted
}

// repeats tells a row that stands where one stood already: when the peer dies
// iperf3 prints the last row twice.
func (s *stream) repeats(r Row) bool {
	return s.rows > 0 && s.omitted == (r.Scope == Omitted) && r.Start <= s.from
}

// iperf3Side takes the words at the end of a row off its tail.
func iperf3Side(r *Row, tail []string) []string {
	for i, w := range tail {
		switch w {
		case "sender", "receiver":
			r.Side = w
			return tail[:i]
		case "(sender", "(receiver":
			r.Side = w[1:] // "(sender statistics not available)"
			return tail[:i]
		case "(omitted)":
			r.Scope = Omitted
			return tail[:i]
		}
	}
	return tail
}

// iperf3Tail reads what stands behind the rate: "434 447 KBytes" of a TCP sender,
// "0.248 ms 0/1710 (0%)" of a UDP receiver, "1727" of a UDP sender.
func (p *Parser) iperf3Tail(r *Row, tail []string) {
	if len(tail) >= 3 && tail[1] == "ms" {
		v, ok := float(tail[0])
		if !ok || v < 0 {
			p.bad(fmt.Sprintf("the jitter %q is no number", tail[0]), "")
		} else {
			r.UDP.Jitter = num(v * 1000)
		}
		lost, total, _ := strings.Cut(tail[2], "/")
		r.UDP.Lost, r.UDP.Datagrams = count(lost), count(total)
		return
	}
	if len(tail) == 0 {
		return
	}
	switch {
	case p.run.columns == datagrams:
		r.UDP.Datagrams = count(tail[0])
	case p.run.columns == retr || len(tail) >= 3:
		r.TCP.Retrans = count(tail[0])
	}
	if len(tail) >= 3 {
		if v, _, ok := amount(tail[1], tail[2], "Byte"); ok {
			r.TCP.Cwnd = num(v)
		}
	}
}
