package panes

import (
	"slices"
	"strconv"
	"strings"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// A flowColumn is one column of the flow table; right ones hold figures.
type flowColumn struct {
	name  string
	width int
	right bool
	text  func(*Frame, *experiment.FlowState) string
}

// figureOf is the text of a column that holds figures of one metric.
func figureOf(m sources.Metric) func(*Frame, *experiment.FlowState) string {
	return func(f *Frame, fl *experiment.FlowState) string { return f.flowFigure(fl, m) }
}

// flowColumns in the order of the table; the last ones go first where it is narrow.
// Nearest to the addresses is what a tester looks for: how much, how it is held back,
// how it is cut, what is lost.
var flowColumns = []flowColumn{
	{"flow", 8, false, func(f *Frame, fl *experiment.FlowState) string { return flowID(fl) }},
	{"remote", 21, false, func(f *Frame, fl *experiment.FlowState) string { return remote(fl) }},
	{"out", 11, true, figureOf(sources.Goodput)},
	{"cwnd", 10, true, figureOf(sources.Cwnd)},
	{"srtt", 8, true, figureOf(sources.SRTT)},
	{"in", 11, true, figureOf(sources.RxGood)},
	{"inflight", 10, true, figureOf(sources.Inflight)},
	{"seg", 10, true, figureOf(sources.Segment)},
	{"burst", 5, true, func(f *Frame, fl *experiment.FlowState) string { return f.burst(fl) }},
	{"retr/s", 7, true, figureOf(sources.Retrans)},
	{"recov", 6, true, figureOf(sources.Recovery)},
	{"sndlim", 6, true, figureOf(sources.SndLimited)},
	{"pkt/s", 7, true, func(f *Frame, fl *experiment.FlowState) string { return f.flowPackets(fl) }},
	{"mss", 6, true, func(f *Frame, fl *experiment.FlowState) string { return mss(fl) }},
	{"stack/cc", 14, false, func(f *Frame, fl *experiment.FlowState) string { return fl.Stack + after("/", fl.CC) }},
	{"source", 7, false, func(f *Frame, fl *experiment.FlowState) string { return flowSource(fl) }},
	{"local", 21, false, func(f *Frame, fl *experiment.FlowState) string { return local(fl) }},
}

// flows are the connections at the right edge of the view.
func (f *Frame) flows() []*experiment.FlowState {
	if f.live() {
		return f.Session.Flows()
	}
	return f.Session.FlowsAt(f.View.End)
}

// charted is the connection whose charts are shown, nil where that is not known.
func (f *Frame) charted(host string) *experiment.FlowState {
	if f.live() {
		return f.Session.Charted(host)
	}
	return f.Session.ChartedAt(host, f.View.End)
}

// flowsTable lists the connections, the busiest first; its charts carry a '>'.
func flowsTable(f *Frame, g theme.Grid) {
	flows := f.flows()
	x := 2
	shown := 0
	columns := f.flowColumns()
	for _, c := range columns {
		if x+c.width > g.W() {
			break
		}
		cell(g, x, 0, c, theme.Dim, c.name)
		x += c.width + 1
		shown++
	}
	if len(flows) == 0 {
		g.Text(2, 1, theme.Dim, "no connection is known")
		if f.View.Page == Flows {
			f.queuesBelow(g.Sub(0, 2, g.W(), g.H()-2))
		}
		return
	}
	from, all := 0, len(flows)
	if f.View.Page == Flows {
		from = first(f.View.Row, len(flows), g.H()-1)
	} else {
		flows = f.withCharted(flows, g.H()-1)
	}
	moreFlows(f, g, x, min(len(flows)-from, g.H()-1), all)
	for y, fl := range flows[from:] {
		flowRow(f, g, y+1, fl, f.isCharted(fl), columns[:shown])
	}
	if f.View.Page == Flows {
		y := len(flows) - from + 2
		flowNotes(f, f.queuesBelow(g.Sub(0, y, g.W(), g.H()-y)), flows)
	}
}

// moreFlows says in the row of the names, which end at x, that there are more connections
// than rows: in place of the first name where there is no room behind the last.
func moreFlows(f *Frame, g theme.Grid, x, rows, all int) {
	if rows >= all {
		return
	}
	if words := "+" + strconv.Itoa(all-rows) + " more"; x+theme.Width(words) <= g.W() {
		g.Right(g.W(), 0, theme.Dim, words)
		return
	}
	name := 2
	if f.many() { // the host stands first
		name += 7
	}
	g.Text(name, 0, theme.Dim, padded(strconv.Itoa(rows)+" of "+strconv.Itoa(all), flowColumns[0].width))
}

// padded is a text with blanks up to a width.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-theme.Width(text), 0))
}

// flowColumns are those of the table, with the host first where there are several. Where
// the load comes in, that is what has a place on a narrow screen.
func (f *Frame) flowColumns() []flowColumn {
	columns := flowColumns
	if f.goodputIn() {
		out, in := columnNamed("out"), columnNamed("in")
		columns = slices.Concat(columns[:out], columns[in:in+1], columns[out:in], columns[in+1:])
	}
	if !f.many() {
		return columns
	}
	host := flowColumn{"host", 6, false, func(f *Frame, fl *experiment.FlowState) string { return f.Called(fl.Host) }}
	return append([]flowColumn{host}, columns...)
}

func columnNamed(name string) int {
	return slices.IndexFunc(flowColumns, func(c flowColumn) bool { return c.name == name })
}

// isCharted says whether the charts of its host are those of a connection. Another
// source may know it by another id.
func (f *Frame) isCharted(fl *experiment.FlowState) bool {
	c := f.charted(fl.Host)
	return c != nil && (fl.ID == c.ID || fl.Local.IsValid() && fl.Local == c.Local && fl.Remote == c.Remote)
}

// withCharted takes the first n connections, and in place of the last of them those that
// are charted and would have no row: a chart changes to another connection later than
// the order of the rows.
func (f *Frame) withCharted(flows []*experiment.FlowState, n int) []*experiment.FlowState {
	if n <= 0 || len(flows) <= n {
		return flows
	}
	var charted, rest []*experiment.FlowState
	for _, fl := range flows {
		if f.isCharted(fl) {
			charted = append(charted, fl)
		} else {
			rest = append(rest, fl)
		}
	}
	shown := append(charted, rest[:max(n-len(charted), 0)]...)
	return slices.DeleteFunc(slices.Clone(flows), func(fl *experiment.FlowState) bool { return !slices.Contains(shown, fl) })
}

func flowRow(f *Frame, g theme.Grid, y int, fl *experiment.FlowState, charted bool, columns []flowColumn) {
	ink := theme.Plain
	if fl.Over(f.right()) {
		ink = theme.Dim
	}
	if charted {
		g.Put(0, y, '>', theme.Strong)
	}
	x := 2
	for _, c := range columns {
		cell(g, x, y, c, ink, c.text(f, fl))
		x += c.width + 1
	}
	if words := strings.Join(f.flowWords(fl), "; "); x+theme.Width(words) <= g.W() {
		g.Text(x, y, theme.Warn, words)
	}
}

// flowNotes writes below the table what a person should know of its rows.
func flowNotes(f *Frame, g theme.Grid, flows []*experiment.FlowState) {
	y := 0
	if f.Session.Now().Sub(f.right()) > series.SmallReach {
		g.Text(2, y, theme.Dim, "figures of connections are kept for an hour")
		y++
	}
	for _, fl := range flows {
		for _, words := range f.flowWords(fl) {
			g.Text(2, y, theme.Warn, flowID(fl)+": "+words)
			y++
		}
	}
}

// flowWords are what a person should know of a row's figures.
func (f *Frame) flowWords(fl *experiment.FlowState) (words []string) {
	if fl.Mixed {
		words = append(words, "several connections share this id")
	}
	if f.live() && f.Session.UnusedTSO(fl) { // of earlier it is not kept
		words = append(words, "TSO is on, but this connection does not use it")
	}
	if fl.NoPayload {
		words = append(words, "payload is not in this format")
	}
	return words
}

func cell(g theme.Grid, x, y int, c flowColumn, ink theme.Ink, s string) {
	part := g.Sub(x, y, c.width, 1)
	if c.right || theme.Width(s) > c.width { // of an address the port is what tells
		part.Right(c.width, 0, ink, s)
		return
	}
	part.Text(0, 0, ink, s)
}

// flowLine is the connection of the charts on one line.
func flowLine(f *Frame, g theme.Grid) {
	fl := f.charted(f.View.Host)
	if fl == nil {
		g.Text(0, 0, theme.Dim, "no connection is known")
		return
	}
	x := g.Text(0, 0, theme.Plain, flowID(fl)+"  "+remote(fl)) + 2
	for _, c := range []struct {
		name string
		m    sources.Metric
	}{{"out", sources.Goodput}, {"in", sources.RxGood}, {"cwnd", sources.Cwnd}, {"srtt", sources.SRTT}, {"seg", sources.Segment}, {"retr", sources.Retrans}} {
		v := f.flowFigure(fl, c.m)
		if v == "-" || v == noPayload || x+theme.Width(c.name+" "+v) > g.W() {
			continue
		}
		x = g.Text(x, 0, theme.Dim, c.name+" ")
		x = g.Text(x, 0, theme.Plain, v) + 2
	}
	if s := strings.Join(f.flowWords(fl), "; "); s != "" && x+theme.Width(s) <= g.W() {
		x = g.Text(x, 0, theme.Warn, s) + 2
	}
	if s := fl.Stack + after("/", fl.CC); x+len(s) <= g.W() {
		g.Text(x, 0, theme.Dim, s)
	}
}

// What stands in the place of a figure that a log cannot tell: its format carries no
// payload; it holds only some of the packets.
const (
	noPayload = "not in log"
	sampled   = "sampled"
)

// sampledAs is the metric that a thinned log sends instead of a throughput.
var sampledAs = map[sources.Metric]sources.Metric{sources.Goodput: sources.Sampled, sources.RxGood: sources.RxSampled}

// flowFigure is a figure of one connection, else a word why there is none, or "-".
func (f *Frame) flowFigure(fl *experiment.FlowState, m sources.Metric) string {
	if v, ok := f.flowMean(fl, m); ok {
		return short(v, m, f.View.Bytes)
	}
	if part, is := sampledAs[m]; is {
		if _, ok := f.flowMean(fl, part); ok {
			return sampled
		}
	}
	ofPayload := m == sources.Goodput || m == sources.RxGood || m == sources.Segment
	if ofPayload && fl.NoPayload {
		return noPayload
	}
	return "-"
}

// flowMean is what the charts' last column would say of one connection. There is no
// room for an age: one that is stale is not shown.
func (f *Frame) flowMean(fl *experiment.FlowState, m sources.Metric) (v float64, ok bool) {
	if f.live() {
		return fl.Now(m, f.Session.Now())
	}
	if h := f.hold(); h.edge.Equal(f.View.End) {
		return fl.Held(m, f.View.End, h.figures)
	}
	return fl.At(m, f.View.End)
}

// burst is how many segments a data packet has on its way to the card: more than one
// is what TSO is for.
func (f *Frame) burst(fl *experiment.FlowState) string {
	v, ok := f.flowMean(fl, sources.Segment)
	if !ok || fl.MSS == 0 {
		return "-"
	}
	return strconv.FormatFloat(v/float64(fl.MSS), 'f', 2, 64)
}

// flowPackets is how many packets a second a log has of a connection, unless it lacks
// some.
func (f *Frame) flowPackets(fl *experiment.FlowState) string {
	v, ok := f.flowMean(fl, sources.Records)
	if !ok {
		return "-"
	}
	for _, st := range f.Session.Sources() {
		if st.Host == fl.Host && st.Name == fl.Source && st.Sampled != "" {
			return sampled
		}
	}
	return rate(v)
}

// flowID is the log's id; a connection that no log has named is known by its
// local port, its remote address stands beside it.
func flowID(fl *experiment.FlowState) string {
	if id := fl.LogID(); len(id) == 8 || !fl.Local.IsValid() {
		return id
	}
	return ":" + strconv.Itoa(int(fl.Local.Port()))
}

// flowSource is who tells of a connection, and which log where there are two.
func flowSource(fl *experiment.FlowState) string {
	if _, log, more := strings.Cut(fl.ID, "@"); more {
		return log
	}
	return fl.Source
}

func remote(fl *experiment.FlowState) string {
	if !fl.Remote.IsValid() {
		return "-"
	}
	return fl.Remote.String()
}

func local(fl *experiment.FlowState) string {
	if !fl.Local.IsValid() {
		return "-"
	}
	return fl.Local.String()
}

func mss(fl *experiment.FlowState) string {
	if fl.MSS == 0 {
		return "-"
	}
	return strconv.Itoa(fl.MSS)
}
