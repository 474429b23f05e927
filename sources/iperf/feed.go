package iperf

import (
	"fmt"
	"strings"
	"time"

	"netwatch/parsers/iperf"
	"netwatch/parsers/siftr"
	"netwatch/sources"
)

// A book is what outlives one run of the source: a Series is made once, and runs
// are numbered.
type book struct {
	series map[sources.Series]*sources.Series
	runs   map[iperf.Tool]int
}

func newBook() book {
	return book{series: map[sources.Series]*sources.Series{}, runs: map[iperf.Tool]int{}}
}

func (b book) get(tool iperf.Tool, subject string, m sources.Metric) *sources.Series {
	key := sources.Series{Source: string(tool), Subject: subject, Metric: m}
	s := b.series[key]
	if s == nil {
		s = new(sources.Series)
		*s = key
		b.series[key] = s
	}
	return s
}

// A feed turns the records of one parser into samples and events.
type feed struct {
	book    book
	sink    sources.Sink
	command string    // what netwatch started, "" for output of others
	began   time.Time // when the source began to listen; zero: a child's output is never older
	exit    string    // how the child ended, once it has
	broken  bool      // … and that was no good end
	told    bool      // … and it was told with the end of a run

	parser  *iperf.Parser
	pending []iperf.Record // of the piece under way
	run     *run
	tool    iperf.Tool // who spoke last
	up      bool
	failed  string // the last error the tool reported
	bad     int
	again   bool     // a row that came again was told
	last    []string // the last lines that said nothing of a run
}

// maxBad is how many unreadable lines are told one by one; all are counted.
const maxBad = 3

// cameAgain is the parser's reason for a row of an interval that it had already.
const cameAgain = "came again or went back in time"

func newFeed(b book, sink sources.Sink, command string, began time.Time) *feed {
	f := &feed{book: b, sink: sink, command: command, began: began}
	f.parser = iperf.NewParser(func(r iperf.Record) { f.pending = append(f.pending, r) })
	return f
}

// read parses a piece and leaves its records pending.
func (f *feed) read(data []byte, stderr bool) {
	if stderr {
		f.parser.WriteErr(data)
	} else {
		_, _ = f.parser.Write(data)
	}
}

// flush says what the pending records mean, as of at.
func (f *feed) flush(at time.Time) {
	for i, rec := range f.pending {
		f.record(rec, f.pending[i+1:], at)
	}
	clear(f.pending)
	f.pending = f.pending[:0]
}

// end says what is left when nothing more comes. how is the child's exit status
// in words, or "".
func (f *feed) end(at time.Time, how string) {
	f.exit = how
	f.parser.Close()
	f.flush(at)
	if f.bad > maxBad {
		f.note(at, f.tool, fmt.Sprintf("%d lines could not be read", f.bad), true)
	}
}

func (f *feed) note(at time.Time, source iperf.Tool, text string, isError bool) {
	f.sink.Event(sources.Event{At: at, Kind: sources.SourceNote, Source: string(source), Text: text, Error: isError})
}

// record says what one record means; rest are the records that came with it.
func (f *feed) record(rec iperf.Record, rest []iperf.Record, at time.Time) {
	switch r := rec.(type) {
	case iperf.Start:
		f.startRun(r, rest, at)
	case iperf.Stream:
		f.stream(r, at)
	case iperf.Row:
		if f.run != nil && !f.run.past {
			f.row(r, rest, at)
		}
	case iperf.End:
		f.endRun(r, at)
	case iperf.Message:
		f.message(r, at)
	case iperf.Bad:
		f.unread(r, at)
	case iperf.Other:
		if f.last = append(f.last, strings.TrimSpace(r.Text)); len(f.last) > 3 {
			f.last = f.last[1:]
		}
	}
}

// unread tells a line that is left out. A row that came again is no damage: iperf3
// prints its last one once more when its server is gone.
func (f *feed) unread(b iperf.Bad, at time.Time) {
	text := fmt.Sprintf("line %d: %s", b.Line, b.Reason)
	if b.Text != "" {
		text += ": " + b.Text
	}
	if strings.HasSuffix(b.Reason, cameAgain) {
		if !f.again {
			f.note(at, f.tool, text, false)
		}
		f.again = true
		return
	}
	if f.bad++; f.bad <= maxBad {
		f.note(at, f.tool, text, true)
	}
}

func (f *feed) message(m iperf.Message, at time.Time) {
	text := m.Text
	if m.Hint != "" {
		text += "; " + m.Hint
	}
	f.tool = m.Tool
	if m.Error {
		f.failed = m.Text
	}
	f.note(at, m.Tool, text, m.Error)
}

func (f *feed) startRun(st iperf.Start, rest []iperf.Record, at time.Time) {
	f.run, f.tool = newRun(st), st.Tool
	length, complete := span(rest)
	if complete && at.Add(-length).Before(f.began.Add(-time.Second)) {
		f.run.past = true
		return
	}
	if !f.up {
		f.up = true
		f.sink.Event(sources.Event{At: at, Kind: sources.SourceUp, Source: string(st.Tool), Text: strings.TrimSpace(string(st.Tool) + " " + st.Version)})
	}
	f.book.runs[st.Tool]++
	f.run.name = fmt.Sprintf("%s #%d", st.Tool, f.book.runs[st.Tool])
	text := f.command
	switch {
	case st.Server && st.Peer != "":
		text = strings.TrimSpace(text + " from " + st.Peer)
	case text == "" && st.Peer != "":
		text = "to " + st.Peer
	}
	f.sink.Event(sources.Event{At: at.Add(-length), Kind: sources.RunStarted, Source: string(st.Tool), Subject: f.run.name, Text: text})
}

// span is how long the rows of a run are that came together with its start, and
// whether its end came with them.
func span(rest []iperf.Record) (length time.Duration, complete bool) {
	last := 0.0
	for _, rec := range rest {
		switch r := rec.(type) {
		case iperf.Start:
			return seconds(last), true
		case iperf.End:
			return seconds(last), true
		case iperf.Row:
			if r.Scope == iperf.Interval || r.Scope == iperf.Total {
				last = max(last, r.End)
			}
		}
	}
	return seconds(last), false
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (f *feed) stream(s iperf.Stream, at time.Time) {
	if f.run == nil {
		return
	}
	f.run.know(s.ID, s.Dir)
	if f.run.past || !s.Local.IsValid() || !s.Remote.IsValid() {
		return
	}
	f.sink.Event(sources.Event{
		At: at, Kind: sources.FlowSeen, Source: string(f.run.Tool), Subject: s.ID,
		Flow: &sources.Flow{
			ID: s.ID, LogID: fmt.Sprintf("%08x", siftr.FlowID(s.Local, s.Remote)),
			Local: s.Local, Remote: s.Remote, MSS: s.MSS,
		},
	})
}

func (f *feed) endRun(e iperf.End, at time.Time) {
	run := f.run
	if run == nil {
		return
	}
	f.run = nil
	text := summary(e.Totals)
	if e.CC != "" {
		text += ", " + e.CC
	}
	if run.past {
		f.note(at, run.Tool, "a run that ended before netwatch began to look ("+text+"): use netwatch review", false)
		return
	}
	if f.exit != "" {
		f.told = true
		text += ", " + f.exit
		if f.broken {
			text += f.lastWords()
		}
	}
	f.sink.Event(sources.Event{At: at, Kind: sources.RunEnded, Source: string(run.Tool), Subject: run.name, Text: text, Error: f.exit != "" && f.broken})
}

// lastWords are the last lines that said nothing of a run, where no error was reported.
func (f *feed) lastWords() string {
	if len(f.last) == 0 || f.failed != "" {
		return ""
	}
	return ": " + strings.Join(f.last, " | ")
}

// row samples one row of the table.
func (f *feed) row(r iperf.Row, rest []iperf.Record, at time.Time) {
	if r.Scope == iperf.Total {
		f.run.streamEnded(r)
		return
	}
	if r.Scope != iperf.Interval || r.IsSum() {
		return
	}
	if f.run.place(r, rest, at) {
		f.note(at, r.Tool, "the rows came late, in a block: start the load with --forceflush", false)
	}
	end := f.run.epoch.Add(seconds(r.End))
	f.amounts(r, r.ID, end)
	f.readings(r, end)
	if sum, ok := f.run.add(r); ok {
		f.amounts(sum, "SUM", f.run.epoch.Add(seconds(sum.End)))
	}
}

// amounts samples what came over the interval.
func (f *feed) amounts(r iperf.Row, subject string, at time.Time) {
	long := seconds(r.End - r.Start)
	amount := func(m sources.Metric, v float64) {
		f.sink.Sample(sources.Amount(f.book.get(r.Tool, subject, m), at, long, v))
	}
	switch r.Dir {
	case iperf.Out:
		amount(sources.Goodput, r.Octets())
	case iperf.In:
		amount(sources.RxGood, r.Octets())
	}
	for _, v := range []struct {
		metric sources.Metric
		num    iperf.Num
	}{{sources.Retrans, r.TCP.Retrans}, {sources.Datagrams, r.UDP.Datagrams}, {sources.Lost, r.UDP.Lost}} {
		if v.num.OK {
			amount(v.metric, v.num.V)
		}
	}
}

// readings samples what was read at the end of the interval.
func (f *feed) readings(r iperf.Row, at time.Time) {
	long := seconds(r.End - r.Start)
	for _, v := range []struct {
		metric sources.Metric
		num    iperf.Num
	}{
		{sources.Cwnd, r.TCP.Cwnd}, {sources.IperfRTT, r.TCP.RTT}, {sources.RTTVar, r.TCP.RTTVar},
		{sources.Jitter, r.UDP.Jitter}, {sources.NetPower, r.App.NetPower},
	} {
		if v.num.OK {
			f.sink.Sample(sources.Reading(f.book.get(r.Tool, r.ID, v.metric), at, long, v.num.V))
		}
	}
	if l := r.App.Latency; l.Avg.OK {
		s := sources.Reading(f.book.get(r.Tool, r.ID, sources.Latency), at, long, l.Avg.V)
		s.Min, s.Max = l.Min.V, l.Max.V
		f.sink.Sample(s)
	}
}

// hasStart tells that a run of a known tool begins among the pending records.
func (f *feed) hasStart() bool {
	for _, rec := range f.pending {
		if _, ok := rec.(iperf.Start); ok {
			return true
		}
	}
	return false
}
