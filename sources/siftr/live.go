package siftr

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	parser "netwatch/parsers/siftr"
	"netwatch/sources"
	"netwatch/sources/tail"
)

const (
	badEvery = 5 * time.Second // between words about bad lines
	farAway  = time.Second     // of lag that is worth a word
	tick     = 100 * time.Millisecond
	idle     = 2 // looks without data after which the open bin is said

)

// live turns what the Tail reads and the Decoder finds into Samples and Events.
type live struct {
	src     *Source
	sink    sources.Sink
	start   time.Time
	decoder *parser.Decoder
	bins    bins

	cycle    *parser.Cycle
	cycles   int
	quiet    int64 // what lies before this offset was written before the start: not drawn
	oldest   int64 // records before this time, in microseconds, are not drawn
	timeless bool  // records without a time were mentioned
	old      bool  // records that are not drawn came, and it was not said

	bad     badLines
	late    lateness
	silence int // looks without data

	written writing
	leave   func() // ends the following of this file
}

// A lateness is what was said of records that are read long after they were written.
type lateness struct {
	behind bool
	said   time.Time // the newest Sample
	series *sources.Series
}

// badLines holds words about bad lines back.
type badLines struct {
	count int64
	first parser.Bad // of those not yet said
	said  time.Time
}

func newLive(s *Source, sink sources.Sink) *live {
	l := &live{src: s, sink: sink, start: time.Now(), bins: bins{sink: &paced{sink: sink}}}
	l.decoder = parser.NewDecoder(l)
	if s.r == nil {
		l.oldest = l.start.Add(-backlog).UnixMicro()
	}
	return l
}

// Data implements tail.Handler.
func (l *live) Data(p []byte, behind int64) {
	l.silence = 0
	l.decoder.Write(p)
	l.lag(behind)
}

// lag says when the records read are far behind those being written, and while
// that lasts how far.
func (l *live) lag(behind int64) {
	newest, ok := l.decoder.Newest()
	if l.cycle == nil || l.muted() || !ok {
		return
	}
	now := time.Now()
	late := now.Sub(time.UnixMicro(newest))
	switch {
	case newest < l.oldest:
	case behind == 0 && l.late.behind:
		l.late.behind = false
		l.sayLag(now, 0)
		l.note(now, l.src.label+": caught up", false)
	case behind > 0 && l.late.behind && now.Sub(l.late.said) >= tick:
		l.sayLag(now, late)
	case behind > 0 && late > farAway && !l.late.behind:
		l.late.behind = true
		l.sayLag(now, late)
		l.note(now, fmt.Sprintf("%s: %s behind (%.1f MB to read)", l.src.label, late.Round(100*time.Millisecond), float64(behind)/1e6), false)
	}
}

func (l *live) sayLag(now time.Time, late time.Duration) {
	l.late.said = now
	if l.late.series == nil || l.late.series.Source != l.src.Name() {
		l.late.series = &sources.Series{Source: l.src.Name(), Subject: l.src.label, Metric: sources.Lag}
	}
	l.sink.Sample(sources.Reading(l.late.series, now, tick, float64(late.Microseconds())))
}

// Looked implements tail.Handler.
func (l *live) Looked() {
	l.silence++
	if l.silence >= idle {
		l.decoder.Idle()
		l.bins.flush()
		l.sayOld()
	}
	l.sayBad(false)
	l.askKernel()
}

// Notice implements tail.Handler.
func (l *live) Notice(n tail.Notice) {
	switch n.Kind {
	case tail.Opened:
		l.src.found.Store(true)
		l.written.absent = false
		l.opened(n)
	case tail.Absent:
		l.written.absent = true
		if l.src.module == "" {
			l.note(time.Now(), l.src.label+": not there yet, waiting for it", false)
		}
	case tail.Unreadable:
		l.note(time.Now(), "cannot read "+l.src.path+": "+reason(n.Err), true)
	case tail.Truncated:
		l.end()
		l.quiet = 0
		l.note(time.Now(), l.src.label+": began anew", false)
	case tail.Replaced:
		l.end()
		l.note(time.Now(), l.src.label+": replaced by another file", false)
	case tail.MovedAway:
		l.note(time.Now(), l.src.label+": moved away or removed, still following it", false)
	}
}

// reason is an error without the path, which the message has already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// end closes a log that will not go on.
func (l *live) end() {
	l.decoder.Close()
	l.bins.flush()
	l.sayBad(true)
	l.cycle = nil
}

// Begin implements parser.Handler.
func (l *live) Begin(c *parser.Cycle) {
	l.cycle = c
	l.cycles++
	l.timeless, l.late.behind, l.old = false, false, false
	name := c.Module
	if before := l.src.Name(); before != name && l.src.r == nil { // it was waited for in that name
		l.event(sources.Event{At: l.at(c.Header.Time), Kind: sources.SourceGone, Text: l.src.label + " is a log of " + name})
	}
	l.src.name.Store(&name)
	l.bins.reset(name, l.src.peers.tag(name, l.src))
	if l.muted() || c.Refused != "" {
		return
	}
	text := l.src.label + ": " + c.Variant
	if c.Binary {
		text += " binary"
	}
	if !c.HasHeader {
		text += ", without its header"
	}
	l.event(sources.Event{At: l.at(c.Header.Time), Kind: sources.SourceUp, Text: text})
}

// Record implements parser.Handler.
func (l *live) Record(r *parser.Record) {
	if l.muted() {
		l.old = true
		return
	}
	if !r.Has(parser.FieldTime) {
		if !l.timeless {
			l.timeless = true
			l.note(time.Now(), l.src.label+": the header is lost, so the times of the records are not known: not drawn", true)
		}
		return
	}
	if r.Time < l.oldest {
		l.old = true
		return
	}
	l.old = false
	t, fresh := l.bins.add(r)
	if t == nil {
		return
	}
	if fresh != nil {
		l.flowSeen(t, l.at(r.Time))
	}
	if tso := r.Flags&parser.FlagTSO != 0; tso != t.tso && r.Has(parser.FieldInflight) {
		t.tso = tso
		l.flowSeen(t, l.at(r.Time))
		l.event(sources.Event{At: l.at(r.Time), Kind: sources.SourceNote, Subject: t.id, Text: t.id + ": " + tsoWords(tso)})
	}
}

func tsoWords(on bool) string {
	if on {
		return "the connection uses TSO"
	}
	return "the connection does not use TSO"
}

// tsoWord is "" where the log does not carry it.
func (t *track) tsoWord() string {
	switch {
	case !t.flags:
		return ""
	case t.tso:
		return "on"
	}
	return "off"
}

func (l *live) flowSeen(t *track, at time.Time) {
	f := t.flow
	l.event(sources.Event{At: at, Kind: sources.FlowSeen, Subject: t.id, Flow: &sources.Flow{
		ID: t.id, Local: f.Local, Remote: f.Remote, Stack: f.Entry.Stack, CC: f.Entry.CC, MSS: int(f.MSS),
		TSO: t.tsoWord(), NoPayload: t.goodput.series == nil,
	}})
}

// End implements parser.Handler.
func (l *live) End(c *parser.Cycle) {
	l.bins.flush()
	l.cycle = nil
	if c.Refused != "" {
		return
	}
	records := c.Records[parser.In] + c.Records[parser.Out]
	old := l.muted() || l.old
	l.old = false
	switch {
	case old && !c.HasFooter && c.Last > 0:
		l.note(time.Now(), l.unfinished(c.Last), false)
		return
	case old && c.HasFooter:
		l.note(time.Now(), fmt.Sprintf("%s: finished at %s, %d records: use netwatch review %s", l.src.label,
			clock(time.UnixMicro(c.Footer.Time), l.start), records, l.src.whole()), false)
		return
	}
	at := l.at(c.Last)
	if c.HasFooter {
		at = l.at(c.Footer.Time)
	}
	for _, f := range c.Flows {
		t := l.bins.of(f)
		if t == nil {
			continue
		}
		if f.Listed {
			l.flowSeen(t, at)
		}
		l.event(sources.Event{At: at, Kind: sources.FlowEnded, Subject: t.id, Text: t.id + " ended"})
	}
	if c.HasFooter {
		l.footer(c, at, records)
	}
	l.bins.reset(c.Module, "")
}

// footer says in words what the footer and the cycle came to.
func (l *live) footer(c *parser.Cycle, at time.Time, records int64) {
	text := fmt.Sprintf("%s: ended, %d records, %d flows", l.src.label, records, len(c.Flows))
	var written, seen int64
	for _, f := range c.Flows {
		if f.Listed && f.Entry.Records >= 0 && f.Entry.Packets >= 0 {
			written += f.Entry.Records
			seen += f.Entry.Packets
		}
	}
	if n := l.bins.others; n > 0 {
		text += fmt.Sprintf(", %d flows were too many to follow (%d records)", n, l.bins.rest)
	}
	l.note(at, text, false)
	var span time.Duration
	if c.HasHeader {
		span = at.Sub(l.at(c.Header.Time))
	}
	if c.Footer.InPackets >= 0 && c.Fields&parser.FieldPayload != 0 { // siftr
		written, seen = records, c.Footer.InPackets+c.Footer.OutPackets-max(c.Footer.Skipped, 0)
	}
	if written < seen && !l.bins.thinned && span > 0 {
		l.sampled(at, span, fmt.Sprintf("%d of %d packets are in the log", written, seen))
	}
	if n := c.Footer.RingDrops; n > 0 {
		if span > 0 {
			l.sampled(at, span, fmt.Sprintf("%d records were lost in the kernel's ring", n))
		}
		l.note(at, fmt.Sprintf("%s: %d records were lost in the kernel's ring: sums are too low", l.src.label, n), true)
	}
}

// Bad implements parser.Handler.
func (l *live) Bad(b parser.Bad) {
	if b.Reason == parser.ReasonCut {
		return
	}
	if l.cycle != nil && l.cycle.Refused != "" {
		l.note(time.Now(), l.src.label+": "+b.Reason, true)
		return
	}
	if l.bad.count == 0 {
		l.bad.first = b
	}
	l.bad.count++
	l.sayBad(false)
}

// sayBad says the bad lines that were not said yet, one sentence in a while.
func (l *live) sayBad(now bool) {
	if l.bad.count == 0 || !now && time.Since(l.bad.said) < badEvery {
		return
	}
	b := l.bad.first
	where := fmt.Sprintf("line %d", b.Line)
	if b.Line == 0 {
		where = fmt.Sprintf("offset %d", b.Offset)
	}
	text := fmt.Sprintf("%s: %s: %s", l.src.label, where, b.Reason)
	if l.cycles == 0 {
		text = fmt.Sprintf("%s is no siftr log: %s: %s", l.src.label, where, b.Reason)
	}
	if n := l.bad.count - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	if b.Text != "" {
		text += fmt.Sprintf(": %q", b.Text)
	}
	l.note(time.Now(), text, true)
	l.bad = badLines{said: time.Now()}
}

// at is a log's own time, or now for a log that has none.
func (l *live) at(micros int64) time.Time {
	if micros <= 0 {
		return time.Now()
	}
	return time.UnixMicro(micros)
}

func (l *live) note(at time.Time, text string, bad bool) {
	l.event(sources.Event{At: at, Kind: sources.SourceNote, Text: text, Error: bad})
}

func (l *live) event(e sources.Event) {
	e.Source = l.src.Name()
	l.sink.Event(e)
}
