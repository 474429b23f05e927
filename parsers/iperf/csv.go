package iperf

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// csv reads a line of iperf2 -y C: stamp, source, port, destination, port, id,
// start-end, bytes, bit/s (9 columns), with jitter_ms, lost, total, lost %, out of order
// behind them for UDP (14). 2.1.9 has 15 for TCP and does not say what the last six
// are. From 2.2 a header line names the columns, and start and end are apart.
func (p *Parser) csv(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "time,srcaddress,") {
		p.columns = map[string]int{}
		for i, name := range strings.Split(s, ",") {
			p.columns[name] = i
		}
		return true
	}
	stamp, _, ok := strings.Cut(s, ",")
	if !ok || !isCSVStamp(stamp) {
		return false
	}
	f := strings.Split(s, ",")
	r, err := p.csvRow(f)
	if err != nil {
		p.bad(err.Error(), s)
		return true
	}
	r.Line = p.line
	if p.run == nil || p.run.Tool != Iperf2 || p.run.ended && p.run.stream(r.ID).ports != portPair(f) {
		p.startRun(Start{Tool: Iperf2, Peer: f[3] + " port " + f[4]})
	}
	p.csvStream(&r, f)
	p.iperf2Row(r, nil)
	return true
}

// isCSVStamp: "20261130105636", "20261130105636.123" or "+0000:20261130105636.123".
func isCSVStamp(s string) bool {
	if len(s) > 6 && (s[0] == '+' || s[0] == '-') && s[5] == ':' {
		s = s[6:]
	}
	day, _, _ := strings.Cut(s, ".")
	return len(day) == 14 && strings.Trim(day, "0123456789") == ""
}

func (p *Parser) csvRow(f []string) (r Row, err error) {
	if len(f) < 9 {
		return r, rowError(fmt.Sprintf("a CSV row of %d columns", len(f)))
	}
	r = Row{Tool: Iperf2, ID: f[5], Exact: true}
	if r.ID == "-1" {
		r.ID = "SUM"
	} else if !isID(r.ID) {
		return r, rowError("a CSV row without an id")
	}
	from, to, joined := strings.Cut(f[6], "-")
	rest := f[7:]
	if !joined {
		if len(f) < 10 {
			return r, rowError("a CSV row without an interval")
		}
		from, to, rest = f[6], f[7], f[8:]
	}
	var ok [4]bool
	r.Start, ok[0] = float(from)
	r.End, ok[1] = float(to)
	r.Bytes, ok[2] = float(rest[0])
	r.Bits, ok[3] = float(rest[1])
	if ok != [4]bool{true, true, true, true} {
		return r, rowError("a CSV row with a number that is none")
	}
	if r.Start < 0 || r.End <= r.Start || r.Bytes < 0 || r.Bits < 0 {
		return r, rowError("a CSV row with an interval without length or a negative amount")
	}
	switch {
	case !joined && len(f) == len(p.columns):
		p.csvNamed(&r, f)
	case joined && len(f) == 14:
		r.UDP = csvUDP(rest[2], rest[3], rest[4])
	}
	return r, nil
}

func csvUDP(jitterMS, lost, total string) (u UDP) {
	if v, ok := float(jitterMS); ok && v >= 0 {
		u.Jitter = num(v * 1000)
	}
	u.Lost, u.Datagrams = count(lost), count(total)
	return u
}

// csvNamed reads the columns that a header line named. What iperf2 does not know is
// -1, or the largest number of 32 bits where the column has no sign.
func (p *Parser) csvNamed(r *Row, f []string) {
	field := func(name string) Num {
		i, ok := p.columns[name]
		if !ok || f[i] == "4294967295" {
			return Num{}
		}
		return count(f[i])
	}
	if i, ok := p.columns["jitter"]; ok && p.columns["errors"] == i+1 && p.columns["datagrams"] == i+2 {
		r.UDP = csvUDP(f[i], f[i+1], f[i+2])
	}
	r.App.Writes, r.App.WriteErrs = field("writecnt"), field("writeerr")
	r.TCP.Retrans = field("tcpretry")
	// The window is in packets, and in bytes or KBytes: a packet's size tells which.
	if cwnd, packets := field("tcpcwnd"), field("tcppcwnd"); cwnd.V > 0 && packets.V > 0 {
		if size := cwnd.V / packets.V; size >= 88 && size < 1<<16 {
			r.TCP.Cwnd = cwnd
		} else if size < 64 {
			r.TCP.Cwnd = cwnd.scaled(1024)
		}
	}
	if r.TCP.RTT = field("tcprtt"); r.TCP.RTT.V == 0 {
		r.TCP.RTT = Num{} // the kernel has no RTT yet, or none at all
	} else {
		r.TCP.RTTVar = field("tcprttvar")
	}
	if i, ok := p.columns["ttavg"]; ok && p.columns["ttsdev"] == i+3 {
		r.App.Latency = p.latency(strings.Join(f[i:i+4], "/"))
	}
}

// csvStream makes the connection known that a CSV row belongs to. A total with
// the two addresses swapped is the server's report of a UDP run.
func (p *Parser) csvStream(r *Row, f []string) {
	st := p.run.stream(r.ID)
	if r.IsSum() || st.connected {
		return
	}
	st.connected, st.dir, st.ports = true, Out, portPair(f)
	s := Stream{Line: p.line, ID: r.ID, Dir: Out, Local: csvAddr(f[1], f[2]), Remote: csvAddr(f[3], f[4])}
	if s.Local.Port() == 5001 && s.Remote.Port() != 5001 {
		s.Dir, st.dir = In, In
		p.run.Server = true
	}
	p.emit(s)
}

// portPair names the connection of a CSV row whichever side wrote it.
func portPair(f []string) string { return min(f[2], f[4]) + " " + max(f[2], f[4]) }

func csvAddr(host, port string) netip.AddrPort {
	a, err := netip.ParseAddr(host)
	n, err2 := strconv.ParseUint(port, 10, 16)
	if err != nil || err2 != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(n))
}
