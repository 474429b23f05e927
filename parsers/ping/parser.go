package ping

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"netwatch/parsers/lines"
)

// maxLine bounds one line; no ping writes lines of a kilobyte.
const maxLine = 64 << 10

// A Parser reads the output of ping and hands out Records in the order of the
// lines. It is not safe for use from several goroutines.
type Parser struct {
	emit     func(Record)
	out, err lines.Splitter
	line     int
	last     map[string]int64 // highest sequence number so far, by fping target ("" for ping)
	fpings   map[string]bool  // targets of fping that were announced
}

// NewParser returns a Parser that hands its records to emit.
func NewParser(emit func(Record)) *Parser {
	return &Parser{emit: emit, out: lines.Splitter{Max: maxLine}, err: lines.Splitter{Max: maxLine}, last: map[string]int64{}, fpings: map[string]bool{}}
}

// Write takes the next piece of standard output, cut anywhere. It never fails.
func (p *Parser) Write(chunk []byte) (int, error) {
	p.out.Push(chunk, p.next)
	return len(chunk), nil
}

// WriteErr takes the next piece of standard error.
func (p *Parser) WriteErr(chunk []byte) { p.err.Push(chunk, p.next) }

// Close says that nothing more comes. A reply without the end of its line may
// have lost digits and is not believed.
func (p *Parser) Close() {
	for _, s := range []*lines.Splitter{&p.out, &p.err} {
		last, long := s.Last()
		if last == "" {
			continue
		}
		if c := last[len(last)-1]; c >= '0' && c <= '9' {
			p.line++
			p.bad("the last line is cut", lines.Clean(last))
			continue
		}
		p.next(last, long)
	}
}

func (p *Parser) bad(reason, text string) {
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "")
	}
	p.emit(Bad{Line: p.line, Reason: reason, Text: text})
}

func (p *Parser) next(raw string, tooLong bool) {
	p.line++
	s := strings.TrimSpace(strings.TrimLeft(lines.Clean(raw), ".")) // ping -f draws dots
	if tooLong {
		p.bad(fmt.Sprintf("a line longer than %d bytes", maxLine), s)
		return
	}
	if s == "" || strings.HasPrefix(s, "pipe ") {
		return
	}
	stamp, body := stamped(s)
	switch {
	case p.head(body), p.reply(body, stamp), p.noAnswer(body, stamp), p.unreachable(body, stamp),
		p.fping(body, stamp), p.counts(body), p.rtts(body), p.message(body):
	default:
		p.emit(Other{Line: p.line, Text: s})
	}
}

// stamped cuts "[1796036202.126113] " off the front.
func stamped(s string) (Num, string) {
	if !strings.HasPrefix(s, "[") {
		return Num{}, s
	}
	at, rest, ok := strings.Cut(s[1:], "] ")
	v, ok2 := float(at)
	if !ok || !ok2 || v <= 0 {
		return Num{}, s
	}
	return num(v), rest
}

// head reads "PING r1 (10.1.1.3): 56 data bytes" (BSD), "PING r1 (10.1.1.3) 56(84)
// bytes of data." and "PING fd77::2(fd77::2) 56 data bytes" (iputils), "PING6(56=40+8+8
// bytes) s --> d" and "PING(56=..." (FreeBSD).
func (p *Parser) head(s string) bool {
	rest, ok := strings.CutPrefix(s, "PING")
	if !ok {
		return false
	}
	st := Start{Line: p.line, Flavour: BSD}
	rest = strings.TrimPrefix(rest, "6")
	switch {
	case strings.HasPrefix(rest, "(") && strings.Contains(rest, " --> "):
		_, st.Target, _ = strings.Cut(rest, " --> ")
		st.Addr = st.Target
	case strings.HasPrefix(rest, " ") && strings.Contains(rest, "data"):
		name, after, ok := strings.Cut(rest[1:], "(")
		addr, after, ok2 := strings.Cut(after, ")")
		if !ok || !ok2 {
			return false
		}
		st.Target, st.Addr = strings.TrimSpace(name), addr[strings.LastIndexByte(addr, '(')+1:]
		if !strings.HasPrefix(after, ":") {
			st.Flavour = Iputils
		}
	default:
		return false
	}
	clear(p.last)
	p.emit(st)
	return true
}

// reply reads "64 bytes from a: icmp_seq=1 ttl=64 time=0.117 ms (DUP!)" and its
// relatives. The same words without a sequence number are FreeBSD's ICMP error.
func (p *Parser) reply(s string, stamp Num) bool {
	size, rest, ok := strings.Cut(s, " bytes from ")
	if !ok || size == "" || strings.Trim(size, "0123456789") != "" {
		return false
	}
	f := strings.Fields(rest)
	if len(f) < 2 {
		p.bad("a reply without its end", s)
		return true
	}
	r := Reply{Line: p.line, From: strings.TrimRight(f[0], ":,"), Stamp: stamp, Dup: strings.Contains(rest, "(DUP!)")}
	for i, w := range f[1:] {
		key, v, ok := strings.Cut(w, "=")
		switch {
		case !ok:
		case key == "icmp_seq", key == "seq":
			r.Seq = p.unwrap("", strings.TrimRight(v, ":,"))
		case key == "time":
			ms, ok := float(v)
			if !ok || ms < 0 || i+2 >= len(f) || !strings.HasPrefix(f[i+2], "ms") {
				p.bad("the time of the reply is no number of ms", s)
				return true
			}
			r.RTT = num(math.Round(ms*1e6) / 1e3)
		}
	}
	if !r.Seq.OK {
		_, text, _ := strings.Cut(rest, ": ")
		p.emit(Unreachable{Line: p.line, From: r.From, Stamp: stamp, Text: text})
		return true
	}
	p.emit(r)
	return true
}

// unwrap counts on past the 16 bits of the ICMP field, starting from the highest
// number so far.
func (p *Parser) unwrap(target, s string) Num {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return Num{}
	}
	seq := int64(v)
	last, seen := p.last[target]
	if seen && seq <= 0xffff {
		seq += last &^ 0xffff
		switch {
		case seq < last-0x8000:
			seq += 0x10000
		case seq > last+0x8000 && seq >= 0x10000:
			seq -= 0x10000
		}
	}
	if !seen || seq > last {
		p.last[target] = seq
	}
	return num(float64(seq))
}

// noAnswer reads "no answer yet for icmp_seq=6" (iputils -O) and "Request timeout
// for icmp_seq 1" (macOS).
func (p *Parser) noAnswer(s string, stamp Num) bool {
	n := NoAnswer{Line: p.line, Stamp: stamp}
	seq, ok := strings.CutPrefix(s, "no answer yet for icmp_seq=")
	if !ok {
		if seq, ok = strings.CutPrefix(s, "Request timeout for icmp_seq "); !ok {
			return false
		}
		n.Timeout = true
	}
	if n.Seq = p.unwrap("", strings.TrimSpace(seq)); !n.Seq.OK {
		p.bad("a probe without its number", s)
		return true
	}
	p.emit(n)
	return true
}

// unreachable reads "From 10.77.0.1 icmp_seq=1 Destination Host Unreachable".
func (p *Parser) unreachable(s string, stamp Num) bool {
	rest, ok := strings.CutPrefix(s, "From ")
	from, after, ok2 := strings.Cut(rest, "icmp_seq=")
	if !ok || !ok2 {
		return false
	}
	seq, text, _ := strings.Cut(after, " ")
	if strings.Contains(text, "Redirect") {
		return false // the probe goes on by another way
	}
	p.emit(Unreachable{Line: p.line, From: strings.TrimRight(from, ": "), Seq: p.unwrap("", seq), Stamp: stamp, Text: text})
	return true
}

// counts reads "10 packets transmitted, 10 packets received, 0.0% packet loss" with
// the additions of each system.
func (p *Parser) counts(s string) bool {
	sent, _, ok := strings.Cut(s, " packets transmitted, ")
	if !ok {
		return false
	}
	c := Counts{Line: p.line}
	var err error
	if c.Transmitted, err = strconv.ParseInt(sent, 10, 64); err != nil {
		p.bad("counts without a number of probes", s)
		return true
	}
	heard := false
	for _, part := range strings.Split(s, ", ")[1:] {
		n, what, _ := strings.Cut(strings.TrimLeft(part, "+"), " ")
		v, ok := float(strings.TrimSuffix(n, "%"))
		switch {
		case strings.HasSuffix(what, "received") && ok:
			c.Received, heard = int64(v), true
		case what == "packet loss" && ok:
			c.LossPct = num(v)
		case what == "duplicates" && ok:
			c.Duplicates = num(v)
		case what == "errors" && ok:
			c.Errors = num(v)
		case n == "time":
			if ms, ok := float(strings.TrimSuffix(what, "ms")); ok {
				c.TimeMS = num(ms)
			}
		}
	}
	if !heard {
		p.bad("counts without a number of replies", s)
		return true
	}
	p.emit(c)
	return true
}

// rtts reads "rtt min/avg/max/mdev = a/b/c/d ms, pipe 3" and "round-trip min/avg/max/
// stddev = a/b/c/d ms" (std-dev for IPv6; busybox has three numbers).
func (p *Parser) rtts(s string) bool {
	_, after, ok := strings.Cut(s, "min/avg/max")
	_, values, ok2 := strings.Cut(after, " = ")
	if !ok || !ok2 {
		return false
	}
	r := RTTs{Line: p.line}
	first, more, _ := strings.Cut(values, " ms")
	fields := strings.Split(first, "/")
	for i, to := range []*Num{&r.Min, &r.Avg, &r.Max, &r.Dev} {
		if i >= len(fields) {
			break
		}
		v, ok := float(fields[i])
		if !ok {
			p.bad("a round trip that is no number", s)
			return true
		}
		*to = num(v)
	}
	for part := range strings.SplitSeq(more, ", ") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch name {
		case "pipe":
			if v, ok := float(v); ok {
				r.Pipe = num(v)
			}
		case "ipg/ewma":
			a, b, _ := strings.Cut(strings.TrimSuffix(v, " ms"), "/")
			ipg, ok1 := float(a)
			ewma, ok2 := float(b)
			r.IPG, r.EWMA = Num{ipg, ok1}, Num{ewma, ok2}
		}
	}
	p.emit(r)
	return true
}

// float reads a finite number, with a decimal point or, from a strange locale, a comma.
func float(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
