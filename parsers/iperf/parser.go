package iperf

import (
	"fmt"
	"strings"

	"netwatch/parsers/lines"
)

// maxLine bounds one line. A json-stream interval of 128 streams takes 50 kB.
const maxLine = 8 << 20

// A Parser reads the output of iperf3 or iperf2 and hands out Records in the
// order of the lines. It is not safe for use from several goroutines.
type Parser struct {
	emit     func(Record)
	out, err lines.Splitter
	line     int

	tool    Tool   // who speaks, "" while unknown
	version string // from a line before the run's banner
	server  bool   // a "Server listening" banner was seen
	run     *run   // the run under way, nil between runs
	doc     document
	columns map[string]int // of the CSV, by the names of its header line
	cookie  string         // of the last json-stream run: --json-stream-full-output says it all again
}

// A run is what the parser must remember of the run under way.
type run struct {
	Start
	ended    bool // its End was handed out; what still comes is an afterthought
	streams  map[string]*stream
	columns  columns
	ruled    bool            // the last line was "- - -": a header now begins the summary
	summary  bool            // iperf3: the summary began
	others   bool            // iperf3: "Server output:" was seen, what follows is the other side's
	port     uint16          // iperf2: the server's
	banner   bool            // iperf2: the client's banner was seen
	reported map[string]bool // iperf2: ids with a "Server Report:" to come
	totals   []Row
	cc       string
}

// A stream is what the parser must remember of one id of a run.
type stream struct {
	dir       Dir
	connected bool
	rows      int
	from, to  float64 // of the last interval
	omitted   bool    // the last interval was one
	total     bool
	ports     string // CSV: which connection it is
}

// columns tells which header stood above the rows of iperf3.
type columns uint8

const (
	noHeader  columns = iota
	plain             // transfer and rate only
	retr              // TCP sender
	datagrams         // UDP sender
	jitter            // UDP receiver
)

// NewParser returns a Parser that hands its records to emit.
func NewParser(emit func(Record)) *Parser {
	return &Parser{emit: emit, out: lines.Splitter{Max: maxLine}, err: lines.Splitter{Max: maxLine}}
}

// Expect says who will speak, when that is known before the first line. Some error
// lines of iperf2 do not name it.
func (p *Parser) Expect(t Tool) { p.tool = t }

// Write takes the next piece of the tool's standard output, cut anywhere. It
// never fails.
func (p *Parser) Write(chunk []byte) (int, error) {
	p.out.Push(chunk, func(s string, long bool) { p.next(s, long, false) })
	return len(chunk), nil
}

// WriteErr takes the next piece of what the tool wrote to its standard error,
// so that an error never glues itself to half a row.
func (p *Parser) WriteErr(chunk []byte) {
	p.err.Push(chunk, func(s string, long bool) { p.next(s, long, true) })
}

// Close says that nothing more comes. A last line without its end is read if it
// cannot have lost digits.
func (p *Parser) Close() {
	for _, s := range []*lines.Splitter{&p.out, &p.err} {
		last, long := s.Last()
		if last == "" {
			continue
		}
		if c := last[len(last)-1]; c >= '0' && c <= '9' && strings.Contains(last, "sec") {
			p.line++
			p.bad("the last line is cut", lines.Clean(last))
			continue
		}
		p.next(last, long, s == &p.err)
	}
	if p.doc.open() {
		p.bad("a JSON document without its end", "")
		p.doc = document{}
	}
	p.endRun()
}

func (p *Parser) bad(reason, text string) {
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "")
	}
	p.emit(Bad{Line: p.line, Reason: reason, Text: text})
}

// next reads one line; aside tells that it came from standard error.
func (p *Parser) next(raw string, tooLong, aside bool) {
	p.line++
	s := lines.Clean(raw)
	if tooLong {
		p.bad(fmt.Sprintf("a line longer than %d bytes", maxLine), s)
		return
	}
	if !aside && p.json(s) {
		return
	}
	// An error line may be glued behind a row, a stamp or a title.
	i := strings.Index(s, "iperf3: ")
	if i < 0 && p.row(s) {
		return
	}
	if p.others(s) || p.csv(s) || p.banner(s) {
		return
	}
	if i >= 0 && p.message(s[i:]) {
		if i > 0 {
			p.row(s[:i])
		}
		return
	}
	if p.message(s) || p.connected(s) || p.header(s) || p.mark(s) {
		return
	}
	if strings.TrimSpace(s) != "" {
		p.emit(Other{Line: p.line, Text: s})
	}
}

// others takes the lines behind "Server output:" (--get-server-output), which are
// the other side's whole text with the same grammar. Only the client's last words,
// its errors and the next client's first ones end them.
func (p *Parser) others(s string) bool {
	if p.run == nil || !p.run.others || strings.Contains(s, "iperf Done.") || strings.Contains(s, "iperf3: ") ||
		strings.Contains(s, "Connecting to host ") || strings.Contains(s, "Client connecting to ") {
		return false
	}
	if strings.TrimSpace(s) != "" {
		p.emit(Other{Line: p.line, Text: s})
	}
	return true
}

// banner reads the lines that begin a run, or a server's wait for one.
func (p *Parser) banner(s string) bool {
	if v, ok := strings.CutPrefix(strings.TrimSpace(s), "iperf 3."); ok && !strings.ContainsAny(v, " :") {
		p.endRun()
		p.tool, p.version = Iperf3, "3."+v
		return true
	}
	if _, peer, ok := strings.Cut(s, "Connecting to host "); ok {
		p.startRun(Start{Tool: Iperf3, Peer: strings.Replace(peer, ",", "", 1)})
		return true
	}
	if _, peer, ok := strings.Cut(s, "Accepted connection from "); ok {
		p.startRun(Start{Tool: Iperf3, Server: true, Peer: strings.Replace(peer, ",", "", 1)})
		return true
	}
	if _, peer, ok := strings.Cut(s, "Client connecting to "); ok {
		p.clientBanner(peer)
		return true
	}
	if _, where, ok := strings.Cut(s, "Server listening on "); ok {
		p.endRun()
		p.server, p.tool = true, Iperf3
		if strings.HasPrefix(where, "TCP") || strings.HasPrefix(where, "UDP") {
			p.tool = Iperf2
			p.run = p.newRun(Start{Tool: Iperf2, Server: true, Protocol: where[:3]})
			p.run.port = portOf(where)
		}
		return true
	}
	return false
}

// clientBanner reads "r1, TCP port 5001 with pid 12140 (1 flows)". With -d and -r
// one program is server and client, and both banners belong to one run. With -P
// some connections may be told before the banner.
func (p *Parser) clientBanner(peer string) {
	host, how, _ := strings.Cut(peer, ", ")
	st := Start{Tool: Iperf2, Peer: host}
	if len(how) > 3 {
		st.Protocol = how[:3]
	}
	port := portOf(how)
	if port > 0 {
		st.Peer = fmt.Sprintf("%s port %d", host, port)
	}
	r := p.run
	switch {
	case r == nil, r.Tool != Iperf2, r.Server, r.banner, r.ended, r.hasRows():
		p.startRun(st)
	default:
		r.Peer, r.Protocol = st.Peer, st.Protocol
	}
	p.run.port, p.run.banner = port, true
}

func (r *run) hasRows() bool {
	for _, s := range r.streams {
		if s.rows > 0 {
			return true
		}
	}
	return false
}

// portOf reads the number behind "port".
func portOf(s string) uint16 {
	var n uint16
	_, s, _ = strings.Cut(s, "port ")
	fmt.Sscanf(s, "%d", &n)
	return n
}

// newRun makes a run that nobody has heard of yet: its Line is 0 until announce.
func (p *Parser) newRun(st Start) *run {
	return &run{Start: st, streams: map[string]*stream{}, reported: map[string]bool{}}
}

// startRun ends the run under way and announces the next one.
func (p *Parser) startRun(st Start) {
	p.endRun()
	p.tool, p.server = st.Tool, st.Server
	p.run = p.newRun(st)
	p.announce()
}

func (p *Parser) announce() {
	if p.run.Line != 0 {
		return
	}
	p.run.Line = p.line
	if p.run.Version == "" && p.run.Tool == Iperf3 {
		p.run.Version, p.version = p.version, ""
	}
	p.emit(p.run.Start)
}

// endRun hands out the End of the run under way, once. A server that nobody came to
// had no run.
func (p *Parser) endRun() {
	p.finish()
	p.run = nil
}

// finish hands out the End but keeps the run for what the tool adds afterwards.
func (p *Parser) finish() {
	if p.run == nil || p.run.ended || p.run.Line == 0 {
		return
	}
	p.run.ended = true
	p.emit(End{Line: p.line, Run: p.run.Start, CC: p.run.cc, Totals: p.run.totals})
}

// stream returns what is remembered of an id, a new one for a new id.
func (r *run) stream(key string) *stream {
	s := r.streams[key]
	if s == nil {
		s = &stream{}
		r.streams[key] = s
	}
	return s
}

// connected reads "[  5] local A port p connected to B port q".
func (p *Parser) connected(s string) bool {
	id, _, rest, ok := bracket(s)
	if !ok || !strings.HasPrefix(strings.TrimLeft(rest, " "), "local ") {
		return false
	}
	if local, remote, ok := parseConnected(rest, "connected to"); ok {
		if p.run == nil || p.run.Tool != Iperf3 || p.run.summary {
			p.startRun(Start{Tool: Iperf3, Server: p.server, Peer: rest[strings.Index(rest, " to ")+4:]})
		}
		st := p.run.stream(id)
		st.connected = true
		st.dir = p.iperf3Dir("")
		p.emit(Stream{Line: p.line, ID: id, Dir: st.dir, Local: local, Remote: remote})
		return true
	}
	local, remote, ok := parseConnected(rest, "connected with")
	if !ok {
		return false
	}
	p.connectedWith(id, rest, Stream{Line: p.line, ID: id, Local: local, Remote: remote})
	return true
}

// message reads the lines in which a tool talks to its user.
func (p *Parser) message(s string) bool {
	m, ok := readMessage(s, p.tool)
	if !ok {
		return false
	}
	m.Line = p.line
	if m.Tool == "" {
		m.Tool = p.tool
	}
	if p.tool == "" {
		p.tool = m.Tool
	}
	p.emit(m)
	return true
}

// row reads a row of either tool.
func (p *Parser) row(s string) bool {
	t, ok, err := parseRow(s)
	if !ok {
		return false
	}
	if err != nil {
		p.bad(err.Error(), s)
		return true
	}
	if p.run == nil {
		p.startRun(Start{Tool: guessTool(s, t), Server: p.server})
	}
	r := Row{Line: p.line, Tool: p.run.Tool, ID: t.id, Role: t.role, Start: t.start, End: t.end, Bytes: t.bytes, Bits: t.bits}
	if r.Tool == Iperf2 {
		p.iperf2Row(r, t.tail)
	} else {
		p.iperf3Row(r, t.tail)
	}
	return true
}

// guessTool names the tool of a row that no banner and no header came before.
func guessTool(s string, t textRow) Tool {
	tail := strings.Join(t.tail, " ")
	switch {
	case t.decimals != 2:
		return Iperf2
	case t.role != "" || strings.Contains(s, "   sec  ") || strings.Contains(tail, "Bytes") ||
		strings.Contains(tail, "sender") || strings.Contains(tail, "receiver") || strings.Contains(tail, "(omitted)"):
		return Iperf3
	}
	return Iperf2
}
