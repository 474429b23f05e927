package siftr

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// RecordSize is the size of a binary record: 18 numbers of 4 bytes, host order
// (little endian on amd64 and arm64). Only the footer says so, too late for a
// live reader; no other size has existed.
const RecordSize = 72

// anchor is how many bytes are needed to know what a unit is.
const anchor = 19

type unitKind uint8

const (
	unitShort  unitKind = iota // more bytes are needed
	unitText                   // surely a line
	unitBinary                 // has the head of a binary record
	unitOther
)

// mayBeBinary tells whether binary records can follow.
func (d *Decoder) mayBeBinary() bool {
	c := d.cycle
	if c == nil {
		return len(d.held.lines) == 0
	}
	return c.Refused == "" && d.lay == siftr2Hex && (!c.HasHeader || c.Header.mayBeBinary())
}

// binaryHead tells whether b begins with a flow id that is not zero and a
// direction. Text cannot: its fifth byte would be a control character.
func binaryHead(b []byte) bool {
	return len(b) >= 8 && binary.LittleEndian.Uint32(b[4:]) <= 1 && binary.LittleEndian.Uint32(b) != 0
}

func classify(b []byte, final bool) unitKind {
	switch {
	case binaryHead(b):
		return unitBinary
	case len(b) < anchor && !final:
		return unitShort
	case b[0] == '\n', b[0] == '\r', hexRecordStart(b),
		bytes.HasPrefix(b, headerKey), bytes.HasPrefix(b, footerKey):
		return unitText
	}
	return unitOther
}

// runBinary reads binary records as long as another one, of a known flow, follows
// each.
func (d *Decoder) runBinary(b []byte) int {
	i := 0
	for len(b)-i >= RecordSize+8 && binaryHead(b[i:]) && binaryHead(b[i+RecordSize:]) &&
		d.flows.known(binary.LittleEndian.Uint32(b[i+RecordSize:])) != nil {
		if !d.binaryRecord(b[i : i+RecordSize]) {
			break
		}
		i += RecordSize
	}
	return i
}

// follows tells what is behind a binary record of flow id: unitText or unitBinary when
// the record ends where another unit surely begins, unitOther when it is doubtful.
func (d *Decoder) follows(id uint32, rest []byte, final bool) unitKind {
	if len(rest) == 0 && final {
		return unitText
	}
	kind := classify(rest, final)
	if kind != unitBinary || d.flows.known(binary.LittleEndian.Uint32(rest)) != nil {
		return kind
	}
	// A flow that was not seen yet, or bytes that happen to look like a head.
	short := unitShort
	if final {
		short = unitOther
	}
	if len(rest) < RecordSize {
		return short
	}
	if next, v := binaryNumbers(rest); d.credible(next, &v) {
		return unitBinary
	}
	if !d.inStep || d.shifted(id, rest) {
		return unitOther
	}
	// Nothing speaks for this flow, as for one without the options of RFC 1323, but
	// records have begun where they should up to here: so does the one behind it.
	switch behind := rest[RecordSize:]; {
	case len(behind) == 0 && final:
		return unitBinary
	default:
		switch kind := classify(behind, final); kind {
		case unitShort:
			return short
		case unitOther:
			return unitOther
		}
		return unitBinary
	}
}

// shifted looks for the head of flow id, or of a known one, where none should be: bytes
// were lost or added before it.
func (d *Decoder) shifted(id uint32, rest []byte) bool {
	for q := 1; q < RecordSize && q+8 <= len(rest); q++ {
		there := binary.LittleEndian.Uint32(rest[q:])
		if binaryHead(rest[q:]) && (there == id || d.flows.known(there) != nil) {
			return true
		}
	}
	return false
}

// binaryUnit reads one binary record. It is doubtful when nothing sensible follows
// it: bytes lost or added within a record show only there.
func (d *Decoder) binaryUnit(b []byte, final bool) int {
	if len(b) < RecordSize {
		if !final {
			return 0
		}
		d.h.Bad(Bad{Offset: d.pos, Reason: ReasonCut})
		return len(b)
	}
	id, v := binaryNumbers(b)
	next := d.follows(id, b[RecordSize:], final)
	if next == unitShort {
		return 0
	}
	if (next == unitOther && !d.confirmed(id, &v)) || (d.cycle == nil && !d.credible(id, &v)) {
		if d.cycle != nil {
			return d.loseSync()
		}
		return d.textUnit(b, final)
	}
	if d.cycle == nil {
		d.begin(&Cycle{}, siftr2Hex)
	}
	if !d.binaryRecord(b[:RecordSize]) {
		d.bad(0, d.pos, "more flows than netwatch keeps", nil)
	}
	d.binary, d.cycle.Binary, d.inStep = true, true, true
	return RecordSize
}

func binaryNumbers(b []byte) (id uint32, v [hexNumbers]uint32) {
	_ = b[RecordSize-1]
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[8+4*i:])
	}
	return binary.LittleEndian.Uint32(b), v
}

func (d *Decoder) binaryRecord(b []byte) bool {
	id, v := binaryNumbers(b)
	f := d.flows.byNumber(id)
	if f == nil {
		return false
	}
	f.flags, f.rcvLimit = v[7], v[12]
	d.emitHex(f, Dir(b[4]), &v)
	return true
}

// credible tells whether a record found among doubtful bytes can be real: its
// numbers are plausible, it is near the last one in time, and its flow is known
// or looks like a connection.
func (d *Decoder) credible(id uint32, v *[hexNumbers]uint32) bool {
	const before, after = 1000, 3600e3 // ms
	if !plausible(v) || v[1] == 0 {
		return false
	}
	last, tval := int64(d.clock.tval), int64(v[0])
	if d.clock.seen && (tval < last-before || tval > last+after) {
		return false
	}
	return d.flows.known(id) != nil || windowScaled(v[7])
}

// confirmed tells whether a doubtful record is whole, by what does not change, or
// only grows, in a connection: the options it agreed on and the limit of the receive
// buffer. They stand before and behind the middle of the record.
func (d *Decoder) confirmed(id uint32, v *[hexNumbers]uint32) bool {
	const options = 0x3e0 // TF_REQ_SCALE to TF_SACK_PERMIT
	f := d.flows.known(id)
	return f != nil && d.credible(id, v) && (f.flags^v[7])&options == 0 &&
		v[12] >= f.rcvLimit && uint64(v[12]) <= 2*uint64(f.rcvLimit)+1<<16
}

func (d *Decoder) loseSync() int {
	d.lost, d.inStep = skipped{1, d.pos}, false
	return 1
}

// resync skips to the next record, header or footer that is certain.
func (d *Decoder) resync(b []byte, final bool) int {
	for q := range b {
		switch d.certain(b[q:], final) {
		case unitShort:
			d.lost.bytes += int64(q)
			return q
		case unitOther:
			continue
		}
		d.lost.bytes += int64(q)
		d.flushLost()
		if q == 0 {
			return d.unit(b, final)
		}
		return q
	}
	d.lost.bytes += int64(len(b))
	return len(b)
}

// certain tells whether a unit surely begins at b.
func (d *Decoder) certain(b []byte, final bool) unitKind {
	if b[0] == '\n' && len(b) >= anchor && !bytes.HasPrefix(b[1:], footerKey) && !hexRecordStart(b[1:]) {
		return unitOther
	}
	kind := classify(b, final)
	if kind != unitBinary {
		return kind
	}
	if len(b) < RecordSize {
		if final {
			return unitOther
		}
		return unitShort
	}
	id, v := binaryNumbers(b)
	if !d.credible(id, &v) {
		return unitOther
	}
	if next := d.follows(id, b[RecordSize:], final); next == unitOther || next == unitShort {
		return next
	}
	return unitBinary
}

// flushLost reports the bytes that resync skipped.
func (d *Decoder) flushLost() {
	if d.lost.bytes > 0 {
		d.bad(0, d.lost.at, strconv.FormatInt(d.lost.bytes, 10)+" bytes that are no record", nil)
		d.lost = skipped{}
	}
}
