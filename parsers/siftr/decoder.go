package siftr

import (
	"bytes"
	"strconv"
)

const (
	maxLine   = 4096     // longer lines are no records (the longest known has 250 bytes)
	maxFooter = 16 << 20 // a footer lists all flows: this is for 200,000 of them
	maxHeld   = 8 << 10  // records kept back while a header may still follow
	maxFlows  = 1 << 16  // flows in one cycle
)

var (
	headerKey = []byte("enable_time_secs=")
	footerKey = []byte("disable_time_secs=")
)

// A Decoder reads a siftr log from bytes that come in pieces. The pieces may be
// cut anywhere: what it reads does not depend on the cuts. Its memory is bounded
// by the longest footer and the flows of one cycle.
type Decoder struct {
	h   Handler
	pos int64 // offset of the next unread byte

	part    []byte  // the begun line or record at the end of the last Write
	scanned int     // bytes of part known to hold no newline
	discard bool    // inside a line that is too long
	lost    skipped // since binary records went out of step
	hole    skipped // NUL bytes between lines

	line    int64 // text lines read
	binary  bool  // the last unit was a binary record
	inStep  bool  // the next binary record begins where the header or the last one ended
	cycle   *Cycle
	lay     layout   // of cycle, once known
	allowed []layout // by cycle's header, while lay is not known
	held    heldLines

	rec      Record
	clock    clock
	flows    flowTable
	vector   bool               // vectorHex works here
	numbers  [hexNumbers]uint32 // of a record
	decimals [decNumbers]uint32 // of a record that is not like the one before
}

// A skipped is a run of bytes that is skipped until something is sure again.
type skipped struct{ bytes, at int64 }

// heldLines are the records that came before a header.
type heldLines struct {
	text  []byte
	lines []heldLine
}

type heldLine struct {
	line, pos int64
	end       int // in heldLines.text
}

// NewDecoder returns a Decoder that tells h what it reads.
func NewDecoder(h Handler) *Decoder { return &Decoder{h: h, vector: hasVector()} }

// Write reads p. It is an io.Writer that never fails: what cannot be read goes to
// Handler.Bad.
func (d *Decoder) Write(p []byte) (int, error) {
	total := len(p)
	for len(d.part) > 0 && len(p) > 0 {
		old := len(d.part)
		grow := min(len(p), max(512, old))
		d.part = append(d.part, p[:grow]...)
		n := d.consume(d.part, false)
		if n >= old {
			p = p[n-old:]
			d.part = d.part[:0]
			break
		}
		d.part = d.part[:copy(d.part, d.part[n:])]
		p = p[grow:]
	}
	if len(d.part) == 0 && len(p) > 0 {
		n := d.consume(p, false)
		d.part = append(d.part, p[n:]...)
	}
	return total, nil
}

// Close reads what was held back and ends the cycle. The Decoder can be used
// again, for another input.
func (d *Decoder) Close() {
	d.consume(d.part, true)
	d.flushLost()
	d.flushHole()
	d.replayHeld()
	d.endCycle()
	*d = Decoder{h: d.h, vector: d.vector, part: d.part[:0]}
}

// Idle tells the Decoder that the log is not growing for now: what it holds back for
// a header that may follow is read without one.
func (d *Decoder) Idle() { d.replayHeld() }

// Newest is the time of the newest record of the cycle that runs, in microseconds
// since 1970; false before its first record.
func (d *Decoder) Newest() (micros int64, ok bool) { return d.clock.newest, d.clock.seen }

// Line is the number of text lines read, Offset the number of bytes, since the
// start of the input.
func (d *Decoder) Line() int64   { return d.line }
func (d *Decoder) Offset() int64 { return d.pos } // see Line

// consume reads the whole units at the start of b and returns their length. With
// final set b is the end of the input and all of it is read.
func (d *Decoder) consume(b []byte, final bool) int {
	i := 0
	for i < len(b) {
		if d.hole.bytes > 0 {
			if b[i] == 0 { // the rest of a hole that a Write cut in two
				n := d.skipHole(b[i:])
				i += n
				d.pos += int64(n)
				continue
			}
			d.flushHole()
		}
		if n := d.run(b[i:]); n > 0 {
			i += n
			d.pos += int64(n)
			d.scanned = 0
			continue
		}
		n := d.unit(b[i:], final)
		if n == 0 {
			break
		}
		i += n
		d.pos += int64(n)
		d.scanned = 0
	}
	return i
}

// run reads flawless records, and nothing else, as fast as it can.
func (d *Decoder) run(b []byte) int {
	if d.cycle == nil || d.cycle.Refused != "" || d.discard || d.lost.bytes > 0 {
		return 0
	}
	switch {
	case d.lay == layoutUnknown:
		return 0
	case d.lay != siftr2Hex:
		return d.runDec(b)
	case d.binary:
		n := d.runBinary(b)
		d.inStep = d.inStep || n > 0
		return n
	}
	n := d.runHex(b)
	d.inStep = d.inStep && n == 0
	return n
}

// unit reads one line or binary record at the start of b, whatever it is. Zero
// means that more bytes are needed.
func (d *Decoder) unit(b []byte, final bool) int {
	if d.discard {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			return len(b)
		}
		d.discard = false
		return n
	}
	if d.lost.bytes > 0 {
		return d.resync(b, final)
	}
	if d.mayBeBinary() {
		switch kind := classify(b, final); {
		case kind == unitShort:
			return 0
		case kind == unitBinary:
			return d.binaryUnit(b, final)
		case kind == unitOther && d.binary:
			return d.loseSync()
		}
	}
	return d.textUnit(b, final)
}

// textUnit reads a line, or the NUL bytes that a second writer's truncation left
// in the file and the piece of a line before them.
func (d *Decoder) textUnit(b []byte, final bool) int {
	if b[0] == 0 {
		return d.skipHole(b)
	}
	limit := maxLine
	if bytes.HasPrefix(b, footerKey) {
		limit = maxFooter
	}
	d.scanned = min(d.scanned, len(b))
	end := bytes.IndexAny(b[d.scanned:], "\n\x00")
	if end < 0 {
		end = len(b)
	} else {
		end += d.scanned
	}
	switch {
	case end > limit:
		d.line++
		d.bad(d.line, d.pos, "line too long", b)
		d.discard = true
		return limit + 1
	case end < len(b) && b[end] == 0:
		d.bad(d.line+1, d.pos, reasonUnfinished, b[:end])
		return end
	case end < len(b):
		d.line++
		d.binary, d.inStep = false, false
		d.textLine(b[:end])
		return end + 1
	case final:
		d.lastLine(b)
		return len(b)
	}
	d.scanned = len(b)
	return 0
}

func (d *Decoder) skipHole(b []byte) int {
	d.inStep = false
	if d.hole.bytes == 0 {
		d.hole.at = d.pos
	}
	n := 0
	for n < len(b) && b[n] == 0 {
		n++
	}
	d.hole.bytes += int64(n)
	return n
}

func (d *Decoder) flushHole() {
	if d.hole.bytes > 0 {
		d.bad(d.line+1, d.hole.at, strconv.FormatInt(d.hole.bytes, 10)+" NUL bytes (a hole in the file)", nil)
		d.hole = skipped{}
	}
}

// lastLine judges text that the input's end cut off. A footer is taken when its
// flow list is whole; a record is not, for its last number may lack digits.
func (d *Decoder) lastLine(b []byte) {
	d.line++
	whole := bytes.HasPrefix(b, footerKey) && bytes.Contains(b, []byte("flow_list=")) &&
		bytes.IndexByte([]byte(",;="), b[len(b)-1]) >= 0
	if whole {
		d.textLine(b)
		return
	}
	d.h.Bad(Bad{Line: d.line, Offset: d.pos, Reason: ReasonCut, Text: printable(b)})
}

// textLine judges a line: header, footer, record or none of them.
func (d *Decoder) textLine(b []byte) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return
	}
	for _, key := range [][]byte{headerKey, footerKey} {
		if k := bytes.Index(b, key); k > 0 && !bytes.Contains(b[:k], []byte("able_time")) {
			d.bad(d.line, d.pos, reasonUnfinished, b[:k])
			b = b[k:]
		}
	}
	switch {
	case bytes.HasPrefix(b, headerKey):
		d.header(b)
	case bytes.HasPrefix(b, footerKey):
		d.footer(b)
	case d.cycle == nil:
		d.hold(b)
	default:
		d.recordLine(b)
	}
}

// recordLine reads a line as a record of the current cycle.
func (d *Decoder) recordLine(b []byte) {
	if d.cycle.Refused != "" {
		return
	}
	raw := b
	b = withoutBlanks(b)
	if d.lay == layoutUnknown {
		l, refused := pick(d.allowed, d.cycle.Header.Version, b)
		if refused != "" {
			d.refuse(refused)
			return
		}
		if l != layoutUnknown {
			d.setLayout(l)
			defer d.unsetIfEmpty()
		}
	}
	line := append(bytes.Clone(b), '\n')
	n := 0
	switch d.lay {
	case layoutUnknown:
	case siftr2Hex:
		n = d.runHex(line)
	default:
		n = d.runDec(line)
	}
	if n != len(line) {
		d.bad(d.line, d.pos, d.whyNot(b), raw)
	} else {
		d.line-- // textUnit has counted it already
	}
}

// unsetIfEmpty forgets a layout that its first record did not bear out.
func (d *Decoder) unsetIfEmpty() {
	if d.cycle != nil && !d.clock.seen && len(d.allowed) > 1 {
		d.lay = layoutUnknown
	}
}

// whyNot says in words what is wrong with a line that is no record.
func (d *Decoder) whyNot(b []byte) string {
	n := columns(b)
	switch {
	case d.lay == layoutUnknown:
		return "not a record of siftr " + printable([]byte(d.cycle.Header.Version))
	case n != shapes[d.lay].columns:
		return strconv.Itoa(n) + " fields where " + shapes[d.lay].name + " has " + strconv.Itoa(shapes[d.lay].columns)
	case len(d.flows.list) >= maxFlows:
		return "more flows than netwatch keeps"
	}
	return "a field is not what " + shapes[d.lay].name + " writes"
}

// withoutBlanks takes blanks out of a line that an editor or a spreadsheet put in.
func withoutBlanks(b []byte) []byte {
	if bytes.IndexByte(b, ' ') < 0 && bytes.IndexByte(b, '\t') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != ' ' && c != '\t' {
			out = append(out, c)
		}
	}
	return out
}

// ReasonCut is the Reason of a Bad for a last line or record that the end of the
// input cut short, which is normal for a log that is still written.
const ReasonCut = "cut short by the end of the input"

const reasonUnfinished = "the start of a line that was never finished"

func (d *Decoder) bad(line, pos int64, reason string, text []byte) {
	d.h.Bad(Bad{Line: line, Offset: pos, Reason: reason, Text: printable(text)})
}
