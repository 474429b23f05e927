package ping

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netwatch/parsers/ping"
	"netwatch/sources"
)

// A book makes each Series once.
type book map[sources.Series]*sources.Series

func (b book) get(subject string, m sources.Metric) *sources.Series {
	key := sources.Series{Source: "ping", Subject: subject, Metric: m}
	s := b[key]
	if s == nil {
		s = new(sources.Series)
		*s = key
		b[key] = s
	}
	return s
}

// A feed turns the records of one parser into samples and events.
type feed struct {
	book     book
	sink     sources.Sink
	own      bool          // netwatch started it: the interval is known and kept
	interval time.Duration // 0 unknown

	parser  *ping.Parser
	pending []ping.Record // of the piece under way
	held    []block       // what came when netwatch began to look
	start   ping.Start
	targets map[string]*tracker
	up      bool
	message string               // the last error ping reported
	said    map[string]time.Time // errors, and when each was last told
	trust   bool                 // time stamps may be old
	bad     int
}

// maxBad is how many unreadable lines are told; all are counted.
const maxBad = 3

func newFeed(b book, sink sources.Sink, target string, own bool, interval time.Duration) *feed {
	f := &feed{book: b, sink: sink, own: own, interval: interval, targets: map[string]*tracker{}, said: map[string]time.Time{}}
	f.start.Target = target
	f.parser = ping.NewParser(func(r ping.Record) { f.pending = append(f.pending, r) })
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
	for _, rec := range f.pending {
		f.record(rec, at)
	}
	clear(f.pending)
	f.pending = f.pending[:0]
}

// A block is what came in one piece.
type block struct {
	at      time.Time
	records []ping.Record
}

// hold keeps the pending records for backlog.
func (f *feed) hold(at time.Time) {
	f.held = append(f.held, block{at, f.pending})
	f.pending = nil
}

// unplaced counts the replies of a block that carry no time although several came at
// once: they were there before netwatch looked, and nobody knows since when.
func (b block) unplaced() (n int) {
	for _, rec := range b.records {
		if r, ok := rec.(ping.Reply); ok && !r.Stamp.OK {
			n++
		}
	}
	if n <= 3 {
		return 0
	}
	return n
}

// backlog says what the held blocks mean, which came when netwatch began to look. A
// ping that was over then is only named.
func (f *feed) backlog(began time.Time) {
	held := f.held
	f.held = nil
	newest, unplaced, over := 0.0, 0, false
	for _, b := range held {
		unplaced += b.unplaced()
		for _, rec := range b.records {
			switch r := rec.(type) {
			case ping.Reply:
				newest = max(newest, r.Stamp.V)
			case ping.Counts:
				over = true
			}
		}
	}
	if over && (unplaced > 0 || newest > 0 && stampTime(newest).Before(began.Add(-time.Second))) {
		f.note(began, "a ping that ended before netwatch began to look: use netwatch review", false)
		return
	}
	if unplaced > 0 {
		f.note(began, fmt.Sprintf("%d earlier answers are not drawn: they carry no time (ping -D)", unplaced), false)
	}
	f.trust = true
	for _, b := range held {
		missing := b.unplaced() > 0
		for _, rec := range b.records {
			if _, reply := rec.(ping.Reply); !reply || !missing {
				f.record(rec, b.at)
			}
		}
	}
	f.trust = false
}

func (f *feed) note(at time.Time, text string, isError bool) {
	f.sink.Event(sources.Event{At: at, Kind: sources.SourceNote, Source: "ping", Subject: f.start.Target, Text: text, Error: isError})
}

// target is the tracker of a target; f.start.Target where a line names none.
func (f *feed) target(name string) *tracker {
	if f.start.Flavour != ping.Fping && f.start.Target != "" {
		name = f.start.Target
	}
	t := f.targets[name]
	if t == nil {
		predict := f.own && f.start.Flavour == ping.BSD
		t = newTracker(f.sink, f.book.get(name, sources.PingRTT), f.book.get(name, sources.PingLost), f.interval, predict)
		f.targets[name] = t
	}
	return t
}

// firstSeq is the number of the first probe.
func (f *feed) firstSeq() int64 {
	if f.start.Flavour == ping.Iputils {
		return 1
	}
	return 0
}

func (f *feed) record(rec ping.Record, at time.Time) {
	switch r := rec.(type) {
	case ping.Start:
		f.started(r, at)
	case ping.Reply:
		if r.Dup || !r.Seq.OK {
			return
		}
		t := f.target(r.From)
		if r.RTT.OK {
			t.answered(int64(r.Seq.V), f.when(r.Stamp, at), r.RTT.V)
		} else {
			t.sentUpTo(probe{int64(r.Seq.V), at})
			delete(t.pending, int64(r.Seq.V))
		}
	case ping.NoAnswer:
		f.target(r.From).silent(int64(r.Seq.V), f.when(r.Stamp, at))
	case ping.Unreachable:
		f.complain(at, r.From+" says: "+r.Text)
	case ping.Counts:
		for _, t := range f.targets {
			t.end(at, f.firstSeq(), r.Transmitted)
		}
	case ping.Message:
		text := r.Text
		if r.Hint != "" {
			text += "; " + r.Hint
		}
		f.message = text
		f.complain(at, text)
	case ping.Bad:
		if f.bad++; f.bad <= maxBad {
			f.note(at, strings.TrimSuffix(fmt.Sprintf("line %d: %s: %s", r.Line, r.Reason, r.Text), ": "), true)
		}
	}
}

// complain tells of an error, of the same one at most every ten seconds.
func (f *feed) complain(at time.Time, text string) {
	if last, told := f.said[text]; told && at.Sub(last) < 10*time.Second || len(f.said) > 100 {
		return
	}
	f.said[text] = at
	f.note(at, text, true)
}

func (f *feed) started(st ping.Start, at time.Time) {
	if f.own && f.start.Target != "" {
		st.Target = f.start.Target // as the user named it
	}
	f.start = st
	delete(f.targets, st.Target)
	if !f.up {
		f.up = true
		f.sink.Event(sources.Event{At: at, Kind: sources.SourceUp, Source: "ping", Subject: st.Target, Text: strings.TrimSpace("ping " + st.Target + " " + st.Addr)})
	}
	if t := f.target(st.Target); st.Flavour != ping.Fping {
		t.begin(f.firstSeq(), at)
	}
}

// tick lets grace times run out.
func (f *feed) tick(now time.Time) {
	for _, t := range f.targets {
		t.tick(now)
	}
}

// end says what is left when nothing more comes.
func (f *feed) end(at time.Time) {
	f.parser.Close()
	f.flush(at)
	for _, t := range f.targets {
		t.end(at, 0, math.MaxInt64)
	}
	if f.bad > maxBad {
		f.note(at, fmt.Sprintf("%d lines could not be read", f.bad), true)
	}
}

// when is the time a line carries, when that is near its arrival: else the clock is
// another host's.
func (f *feed) when(stamp ping.Num, at time.Time) time.Time {
	if !stamp.OK {
		return at
	}
	if t := stampTime(stamp.V); f.trust || t.Sub(at).Abs() < 5*time.Second {
		return t
	}
	return at
}

func stampTime(unix float64) time.Time {
	whole, part := math.Modf(unix)
	return time.Unix(int64(whole), int64(math.Round(part*1e6))*1000)
}
