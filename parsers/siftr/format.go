package siftr

import (
	"bytes"
	"strings"
)

// A layout is an order of record fields.
type layout uint8

const (
	layoutUnknown layout = iota
	stock123             // siftr 1.2.3
	stock124             // siftr 1.2.4
	stock12Ertt          // siftr 1.2.x, patched for TEACUP to log the enhanced RTT
	stock130             // siftr 1.3.0
	stock130cc           // siftr 1.3.0 of ccfbsd: the same and seq, ack, payload
	siftr2Dec            // siftr2 2.0 to 2.2
	siftr2Hex            // siftr2 2.3 final to 2.5, text and binary
)

// A shape is what a layout needs to be recognised and read, and what it carries.
type shape struct {
	name    string
	module  string
	columns int
	hashed  bool // the second field is a packet hash
	names   int  // fields that name the connection: four of addresses, or an id
	carries Fields
	sure    int // numbers whose places are known; 0: all
}

// numbers is how many numbers stand behind direction, time and names of a decimal
// record.
func (s *shape) numbers() int {
	if s.hashed {
		return s.columns - s.names - 3
	}
	return s.columns - s.names - 2
}

const (
	erttFields  = FieldSRTT | FieldState | FieldMSS | FieldAddr | FieldTime
	oldFields   = erttFields | FieldInflight
	stockFields = oldFields | FieldReass | FieldFlags2
	hexCarries  = FieldSRTT | FieldFlags2 | FieldReass | FieldPayload | FieldTime | FieldInflight
)

var shapes = [...]shape{
	layoutUnknown: {},
	stock123:      {"siftr 1.2.3", "siftr", 25, true, 4, oldFields, 0},
	stock124:      {"siftr 1.2.4", "siftr", 28, true, 4, oldFields | FieldReass, 0},
	// TEACUP itself (analyse.py of knneth/teacup) takes cwnd from the 9th field of
	// such a log, srtt from the 17th, as in the stock ones, and the enhanced RTT from
	// the 27th. Where its other field is nobody says, so nothing behind srtt is read.
	stock12Ertt: {"siftr 1.2.x with the enhanced RTT", "siftr", 27, true, 4, erttFields, 10},
	stock130:    {"siftr 1.3.0", "siftr", 27, false, 4, stockFields, 0},
	stock130cc:  {"siftr 1.3.0 with seq, ack and payload", "siftr", 30, false, 4, stockFields | FieldSeq | FieldPayload, 0},
	siftr2Dec:   {"siftr2 2.0 to 2.2", "siftr2", 21, false, 1, hexCarries | FieldState | FieldSeq, 0},
	siftr2Hex:   {"siftr2 2.3 to 2.5", "siftr2", 18, false, 1, hexCarries, 0},
}

// The reasons to refuse a log.
const (
	refuse23Dev    = "siftr2 2.3 in development: only the final 2.3 (18 fields, ipmode without sysname) can be read for sure"
	refuse23Old    = "siftr2 2.3 in development (18 fields in the old order, payload last): only the final 2.3 can be read for sure"
	refuse23Unsure = "siftr2 2.3, and its first record fits both the final and an in-development order"
)

// version says which layouts a header allows. A nil list with no reason never
// comes back.
func (h *Header) version() (allowed []layout, refused string) {
	v := h.Version
	switch {
	case strings.HasPrefix(v, "1.2."):
		return []layout{stock123, stock124, stock12Ertt}, ""
	case v == "1.3.0":
		return []layout{stock130, stock130cc}, ""
	case v == "2.0", v == "2.1", v == "2.2":
		return []layout{siftr2Dec}, ""
	case v == "2.3" && h.hasName:
		return nil, refuse23Dev
	case v == "2.3", v == "2.4", v == "2.5":
		return []layout{siftr2Hex}, ""
	case v == "":
		return nil, "the header has no siftrver"
	}
	return nil, "siftr version " + printable([]byte(v)) + " is not known to netwatch"
}

// module is the kernel module a header's version belongs to.
func (h *Header) module() string {
	if strings.HasPrefix(h.Version, "1.") {
		return "siftr"
	}
	return "siftr2"
}

// mayBeBinary tells whether the module that wrote h could write binary records.
func (h *Header) mayBeBinary() bool { return h.Version == "2.4" || h.Version == "2.5" }

// pick chooses among the layouts a header allows by the first whole record.
func pick(allowed []layout, version string, line []byte) (l layout, refused string) {
	n := columns(line)
	if version == "2.3" {
		return pick23(n, line)
	}
	for _, l := range allowed {
		if shapes[l].columns == n {
			return l, ""
		}
	}
	return layoutUnknown, ""
}

// pick23 tells the final 2.3 from the days before it, which had the same header.
// 18 columns came in two orders. Where the old one had the retransmission timeout the
// final one has t_flags2, which mostly is a small number.
func pick23(n int, line []byte) (layout, string) {
	if n == 19 || n == 21 {
		return layoutUnknown, refuse23Dev
	}
	var v [hexNumbers]uint32
	if n != 18 || len(line) < 11 || hexFields(append(bytes.Clone(line[11:]), '\n'), 0, &v) < 0 {
		return layoutUnknown, ""
	}
	switch final, old := plausible(&v), plausibleOld(&v); {
	case final && !old:
		return siftr2Hex, ""
	case !old:
		return layoutUnknown, ""
	case !final || windowScaled(v[5]) && !windowScaled(v[7]):
		return layoutUnknown, refuse23Old
	}
	return layoutUnknown, refuse23Unsure
}

// infer tells the layout of a record that no header introduces, where the record
// itself proves it.
func infer(line []byte) layout {
	n := columns(line)
	if hexRecordStart(line) {
		if l, _ := pick23(n, line); n == shapes[siftr2Hex].columns {
			return l
		}
		return layoutUnknown
	}
	if len(line) < 4 || (line[0] != 'i' && line[0] != 'o') || line[1] != ',' {
		return layoutUnknown
	}
	hashed := bytes.HasPrefix(line[2:], []byte("0x"))
	for l := stock123; l <= siftr2Dec; l++ {
		if shapes[l].columns == n && shapes[l].hashed == hashed {
			return l
		}
	}
	return layoutUnknown
}

func columns(line []byte) int { return bytes.Count(line, []byte{','}) + 1 }

// hexRecordStart tells whether b begins as a text record of siftr2 2.3 or later.
func hexRecordStart(b []byte) bool {
	if len(b) < 11 || b[8] != ',' || (b[9] != 'i' && b[9] != 'o') || b[10] != ',' {
		return false
	}
	for _, c := range b[:8] {
		if hexDigit[c] > 15 {
			return false
		}
	}
	return true
}

// windowScaled tells whether v looks like the t_flags of an established
// connection: window scaling is asked for and granted, or time stamps are.
func windowScaled(v uint32) bool { return v&0x60 == 0x60 || v&0x180 == 0x180 }

// plausibleRTO: tcp_rexmit_min is 30 ms at the least, the longest timeout 64 s
// and some slop.
func plausibleRTO(us uint32) bool { return us >= 1000 && us <= 130e6 }

// plausible tells whether the numbers of a 2.3 to 2.5 record can be those of a
// connection. It is asked only where the bytes around are in doubt.
func plausible(v *[hexNumbers]uint32) bool {
	const slack, srttMax, wndMax = 1 << 16, 1 << 28, 1 << 30
	return v[4] <= slack && v[3] <= srttMax && plausibleRTO(v[9]) && v[5] <= wndMax && v[6] <= wndMax &&
		uint64(v[13]) <= 2*uint64(v[12])+slack && // the receive buffer may be over its limit, but not far
		uint64(v[14]) <= uint64(v[11])+slack && // what is in flight is still in the send buffer
		(v[15] <= slack || v[15] == 1<<32-1)
}

// plausibleOld is plausible for the order before the final one: srtt and rto behind the
// flags, the payload last.
func plausibleOld(v *[hexNumbers]uint32) bool {
	return plausible(&[hexNumbers]uint32{v[0], v[1], v[2], v[7], v[15], v[3], v[4], v[5], v[6], v[8], v[9], v[10], v[11], v[12], v[13], v[14]})
}

// printable is the start of b without control characters, fit for an Event.
func printable(b []byte) string {
	const keep = 80
	out := make([]byte, 0, keep)
	for _, c := range b {
		if len(out) == keep {
			break
		}
		if c >= ' ' && c < 0x7f {
			out = append(out, c)
		} else {
			out = append(out, '.')
		}
	}
	return string(out)
}

// Is tells whether the start of a file looks like a siftr log: a header or footer line
// is in it, records can be read out of it, or it is as only damage to such a log leaves
// it, a hole of NUL bytes or text without any line.
func Is(head []byte) bool {
	if bytes.Contains(head, headerKey) || bytes.Contains(head, footerKey) {
		return true
	}
	if len(head) > 0 && head[0] == 0 || len(head) >= maxLine && head[0] != '{' && bytes.IndexByte(head, '\n') < 0 {
		return true
	}
	var p prober
	d := NewDecoder(&p)
	d.Write(head)
	d.Close()
	return p.records > 0
}

// A prober only counts records.
type prober struct{ records int }

// Begin implements Handler.
func (*prober) Begin(*Cycle) {}

// Record implements Handler.
func (p *prober) Record(*Record) { p.records++ }

// End implements Handler.
func (*prober) End(*Cycle) {}

// Bad implements Handler.
func (*prober) Bad(Bad) {}
