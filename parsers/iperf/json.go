package iperf

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"netwatch/parsers/lines"
)

// json reads a line of --json-stream, or takes it into a -J document.
func (p *Parser) json(s string) bool {
	if p.doc.open() && (s == "{" || strings.HasPrefix(s, `{"event":`) || strings.HasPrefix(s, "Connecting to host ")) {
		p.bad("a JSON document without its end", "") // its program was killed; the next one speaks
		p.doc = document{}
	}
	if p.doc.open() {
		if p.doc.add(s) {
			p.document()
		}
		return true
	}
	i := strings.IndexByte(s, '{')
	if i < 0 {
		return false
	}
	s = strings.TrimSpace(s[i:])
	if strings.HasPrefix(s, `{"event":`) {
		p.event(s)
		return true
	}
	if s != "{" && !strings.HasPrefix(s, `{"start"`) && !strings.HasPrefix(s, `{"error"`) {
		return false
	}
	if p.doc.add(s) {
		p.document()
	}
	return true
}

// splitEvent takes {"event":E,"data":D} apart. iperf3 writes it without blanks; then
// the data, 50 kB for 128 streams, need not be read twice.
func splitEvent(s string) (name, data string, err error) {
	if rest, ok := strings.CutPrefix(s, `{"event":"`); ok {
		name, data, ok1 := strings.Cut(rest, `","data":`)
		data, ok2 := strings.CutSuffix(data, "}")
		if ok1 && ok2 {
			return name, data, nil
		}
	}
	var e struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	err = unmarshal(s, &e)
	return e.Event, string(e.Data), err
}

// unmarshal decodes JSON. Old versions print 0/0 as the bare word nan, which no JSON
// knows: such numbers become null.
func unmarshal(s string, v any) error {
	err := json.Unmarshal([]byte(s), v)
	if err == nil {
		return nil
	}
	bare := regexp.MustCompile(`([:,\[]\s*)-?(?:nan|inf|NaN|Infinity)\b`)
	if !bare.MatchString(s) {
		return err
	}
	return json.Unmarshal([]byte(bare.ReplaceAllString(s, "${1}null")), v)
}

type jsonStart struct {
	Connected []struct {
		Socket     int    `json:"socket"`
		LocalHost  string `json:"local_host"`
		LocalPort  uint16 `json:"local_port"`
		RemoteHost string `json:"remote_host"`
		RemotePort uint16 `json:"remote_port"`
	} `json:"connected"`
	Version   string `json:"version"`
	Cookie    string `json:"cookie"`
	MSS       int    `json:"tcp_mss_default"`
	Timestamp struct {
		Secs   float64 `json:"timesecs"`
		Millis float64 `json:"timemillisecs"`
	} `json:"timestamp"`
	ConnectingTo *struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	} `json:"connecting_to"`
	Accepted *struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	} `json:"accepted_connection"`
	Test *struct {
		Protocol string `json:"protocol"`
		Reverse  int    `json:"reverse"`
		Bidir    int    `json:"bidir"`
	} `json:"test_start"`
}

// jsonSums are the fields of one stream of an interval, and of the sums at the end.
// A pointer is nil where the version or the system does not know the number.
type jsonSums struct {
	Socket     int      `json:"socket"`
	Start      *float64 `json:"start"`
	End        *float64 `json:"end"`
	Seconds    *float64 `json:"seconds"`
	Bytes      *float64 `json:"bytes"`
	Bits       *float64 `json:"bits_per_second"`
	Retrans    *float64 `json:"retransmits"`
	Cwnd       *float64 `json:"snd_cwnd"`
	SndWnd     *float64 `json:"snd_wnd"`
	RTT        *float64 `json:"rtt"`
	RTTVar     *float64 `json:"rttvar"`
	Omitted    bool     `json:"omitted"`
	Sender     *bool    `json:"sender"`
	jsonUDPSum          // the fields of UDP
}

type jsonUDPSum struct {
	JitterMs *float64 `json:"jitter_ms"`
	Lost     *float64 `json:"lost_packets"`
	Packets  *float64 `json:"packets"`
}

type jsonInterval struct {
	Streams []jsonSums `json:"streams"`
}

type jsonEnd struct {
	Sent     *jsonSums `json:"sum_sent"`
	Received *jsonSums `json:"sum_received"`
	Sum      *jsonSums `json:"sum"`
	SentBack *jsonSums `json:"sum_sent_bidir_reverse"`
	RecvBack *jsonSums `json:"sum_received_bidir_reverse"`
	CC       string    `json:"sender_tcp_congestion"`
}

// event reads one line of --json-stream (iperf3 3.17 and newer).
func (p *Parser) event(s string) {
	name, data, err := splitEvent(s)
	if err != nil {
		p.bad("a json-stream line that is no JSON: "+err.Error(), s)
		return
	}
	switch name {
	case "start":
		var d jsonStart
		if err = unmarshal(data, &d); err == nil {
			p.cookie = d.Cookie
			p.jsonStart(d)
		}
	case "interval":
		var d jsonInterval
		if err = unmarshal(data, &d); err == nil {
			p.jsonInterval(d)
		}
	case "end":
		var d jsonEnd
		if err = unmarshal(data, &d); err == nil {
			p.jsonEnd(d)
		}
	case "error":
		var text string
		if err = unmarshal(data, &text); err == nil {
			p.jsonError(text)
		}
	}
	if err != nil {
		p.bad("a json-stream "+lines.Clean(name)+" that cannot be read: "+err.Error(), s)
	}
}

func (p *Parser) jsonError(text string) {
	p.tool = Iperf3
	text = lines.Clean(strings.ReplaceAll(text, "\n", " "))
	m := Message{Line: p.line, Tool: Iperf3, Version: p.version, Text: "iperf3: error - " + text, Error: isError(text)}
	m.Hint = m.hint()
	p.emit(m)
}

func (p *Parser) jsonStart(d jsonStart) {
	st := Start{Tool: Iperf3, Version: lines.Clean(strings.TrimPrefix(d.Version, "iperf ")), Server: d.Accepted != nil}
	at := d.ConnectingTo
	if at == nil {
		at = d.Accepted
	}
	if at != nil {
		st.Peer = fmt.Sprintf("%s port %d", lines.Clean(at.Host), at.Port)
	}
	if t := d.Test; t != nil {
		st.Protocol, st.Reverse, st.Bidir = lines.Clean(t.Protocol), t.Reverse != 0, t.Bidir != 0
	}
	switch {
	case d.Timestamp.Millis > 0:
		st.Began = num(d.Timestamp.Millis / 1000)
	case d.Timestamp.Secs > 0:
		st.Began = num(d.Timestamp.Secs)
	}
	p.startRun(st)
	for _, c := range d.Connected {
		s := Stream{Line: p.line, ID: strconv.Itoa(c.Socket), Dir: p.iperf3Dir(""), MSS: d.MSS}
		s.Local, s.Remote = jsonAddr(c.LocalHost, c.LocalPort), jsonAddr(c.RemoteHost, c.RemotePort)
		p.run.stream(s.ID).connected = true
		p.emit(s)
	}
}

func jsonAddr(host string, port uint16) netip.AddrPort {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Unmap(), port)
}

// jsonInterval hands out the rows of one interval and, where text would have a
// [SUM], their sum per direction: made here, because versions before 3.11 write
// the key twice with --bidir.
func (p *Parser) jsonInterval(d jsonInterval) {
	if p.run == nil {
		p.startRun(Start{Tool: Iperf3})
	}
	var rows []Row
	for _, s := range d.Streams {
		r, err := p.jsonRow(s)
		if err != nil {
			p.bad(err.Error(), "")
			continue
		}
		r.ID = strconv.Itoa(s.Socket)
		st := p.run.stream(r.ID)
		if s.Omitted {
			r.Scope = Omitted
		}
		if st.repeats(r) {
			p.bad(fmt.Sprintf("the interval %.3f-%.3f came again or went back in time", r.Start, r.End), "")
			continue
		}
		st.rows, st.from, st.omitted = st.rows+1, r.Start, s.Omitted
		rows = append(rows, r)
		p.emit(r)
	}
	for _, dir := range []Dir{Out, In} {
		if sum, n := sumRows(rows, dir); n > 1 {
			p.emit(sum)
		}
	}
}

// sumRows adds the rows of one direction up.
func sumRows(rows []Row, dir Dir) (sum Row, n int) {
	for _, r := range rows {
		if r.Dir != dir {
			continue
		}
		if n++; n == 1 {
			sum = Row{Line: r.Line, Tool: r.Tool, ID: "SUM", Role: r.Role, Scope: r.Scope, Dir: dir, Start: r.Start, End: r.End, Exact: true}
			sum.TCP.Retrans.OK = true
		}
		sum.Bytes += r.Bytes
		sum.TCP.Retrans = Num{V: sum.TCP.Retrans.V + r.TCP.Retrans.V, OK: sum.TCP.Retrans.OK && r.TCP.Retrans.OK}
	}
	if n > 0 {
		sum.Bits = sum.Bytes * 8 / (sum.End - sum.Start)
	}
	return sum, n
}

// jsonRow makes a row of a stream object or of a sum.
func (p *Parser) jsonRow(s jsonSums) (r Row, err error) {
	if s.Start == nil || s.End == nil || s.Bytes == nil {
		return r, rowError("an interval without start, end or bytes")
	}
	r = Row{Line: p.line, Tool: Iperf3, Start: *s.Start, End: *s.End, Bytes: *s.Bytes, Exact: true}
	if r.End <= r.Start || r.Bytes < 0 {
		return r, rowError("an interval without length or with a negative amount")
	}
	dt := r.End - r.Start
	if s.Seconds != nil && *s.Seconds > 0 {
		dt = *s.Seconds
	}
	r.Bits = r.Bytes * 8 / dt
	if s.Bits != nil {
		r.Bits = *s.Bits
	}
	r.Dir = p.iperf3Dir("")
	if s.Sender != nil {
		r.Dir = In
		if *s.Sender {
			r.Dir = Out
		}
	}
	if p.run.Bidir && r.Dir != Unknown {
		r.Role = map[Dir]string{Out: "TX", In: "RX"}[r.Dir] + map[bool]string{true: "-S", false: "-C"}[p.run.Server]
	}
	r.TCP.Retrans = atLeast(s.Retrans, 0)
	r.TCP.Cwnd, r.TCP.SndWnd = atLeast(s.Cwnd, 1), atLeast(s.SndWnd, 1)
	r.TCP.RTT, r.TCP.RTTVar = atLeast(s.RTT, 1), atLeast(s.RTTVar, 1)
	if s.JitterMs != nil && *s.JitterMs >= 0 {
		r.UDP.Jitter = num(*s.JitterMs * 1000)
	}
	r.UDP.Lost, r.UDP.Datagrams = atLeast(s.Lost, 0), atLeast(s.Packets, 0)
	return r, nil
}

// atLeast is a number of the document, absent below low: systems that do not
// know a value have 0 or -1 there.
func atLeast(v *float64, low float64) Num {
	if v == nil || *v < low {
		return Num{}
	}
	return num(*v)
}

// jsonEnd reads the final sums. UDP runs of old versions have only "sum".
func (p *Parser) jsonEnd(d jsonEnd) {
	if p.run == nil {
		return
	}
	p.run.cc = lines.Clean(d.CC)
	if d.Sent == nil && d.Received == nil {
		p.jsonTotal(d.Sum, "", Unknown)
	}
	dir := Out
	if p.run.Server != (p.run.Reverse && !p.run.Bidir) {
		dir = In
	}
	p.jsonTotal(d.Sent, "sender", dir)
	p.jsonTotal(d.Received, "receiver", dir)
	p.jsonTotal(d.SentBack, "sender", dir.other())
	p.jsonTotal(d.RecvBack, "receiver", dir.other())
	p.endRun()
}

func (p *Parser) jsonTotal(s *jsonSums, side string, dir Dir) {
	if s == nil {
		return
	}
	r, err := p.jsonRow(*s)
	if err != nil {
		return // a run that was cut off has sums of no length
	}
	r.ID, r.Scope, r.Side = "SUM", Total, side
	if dir != Unknown {
		r.Dir = dir
	}
	if p.run.Bidir {
		r.Role = map[Dir]string{Out: "TX", In: "RX"}[r.Dir] + map[bool]string{true: "-S", false: "-C"}[p.run.Server]
	}
	p.run.totals = append(p.run.totals, r)
	p.emit(r)
}
