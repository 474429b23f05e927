package siftr

import (
	"encoding/binary"
	"strconv"
)

const (
	hexHead    = 11 // bytes of flow id and direction, with their commas, in a 2.3 to 2.5 record
	hexNumbers = 16 // numbers behind them
	decNumbers = 24 // the most numbers behind the addresses of a decimal record
)

// A clock turns the times of records into microseconds.
type clock struct {
	base      int64   // enable time, for relative formats
	tval      uint32  // the newest relative time
	newest    int64   // time of the newest record
	seen      bool    // there is one
	srtt, rto float64 // microseconds in a unit of the field

	second string // the newest "seconds." of an absolute time, and what it is
	micros int64
}

// hexDigit is the value of a hexadecimal digit, 16 for any other byte.
var hexDigit = func() (t [256]uint8) {
	for i := range t {
		t[i] = 16
	}
	for i := range 10 {
		t['0'+i] = uint8(i)
	}
	for i := range 6 {
		t['a'+i] = uint8(10 + i)
	}
	return t
}()

// runHex reads text records of siftr2 2.3 and later from the start of b, as long
// as they are flawless.
func (d *Decoder) runHex(b []byte) int {
	i := 0
	for len(b)-i >= lineWindow {
		line := (*[lineWindow]byte)(b[i:])
		dir, ok := hexDirection(binary.LittleEndian.Uint32(line[8:]))
		if !ok {
			return i
		}
		f := d.flows.byHex(binary.LittleEndian.Uint64(line[:]))
		if f == nil {
			return i
		}
		v, n := &d.numbers, 0
		if d.vector {
			n = vectorHex(line, v)
		}
		if n == 0 {
			v, n = f.hexFields(line)
		}
		if n == 0 {
			return i
		}
		i += n
		d.line++
		d.emitHex(f, dir, v)
	}
	return i + d.lastHex(b[i:])
}

// lastHex is runHex for what is too short to be read fast.
func (d *Decoder) lastHex(b []byte) int {
	i := 0
	for len(b)-i > hexHead {
		dir, ok := hexDirection(binary.LittleEndian.Uint32(b[i+8:]))
		if !ok {
			return i
		}
		f := d.flows.byHex(binary.LittleEndian.Uint64(b[i:]))
		k := hexFields(b, i+hexHead, &d.numbers)
		if f == nil || k < 0 {
			return i
		}
		i = k
		d.line++
		d.emitHex(f, dir, &d.numbers)
	}
	return i
}

// hexDirection is the direction between the commas behind a flow id, which are the
// low bytes of w. It has no branch: packets go in and out as they like.
func hexDirection(w uint32) (Dir, bool) {
	const in, out = ','<<16 | 'i'<<8 | ',', ','<<16 | 'o'<<8 | ','
	x := uint64(w&0xffffff ^ in)
	return Dir(x >> 9 & 1), x*(x^(in^out)) == 0
}

// hexFields reads the numbers of a record up to its newline and returns the place
// behind it, or -1.
func hexFields(b []byte, i int, v *[hexNumbers]uint32) int {
	for f := range v {
		x, start := uint32(0), i
		for i < len(b) {
			h := hexDigit[b[i]]
			if h > 15 {
				break
			}
			x = x<<4 | uint32(h)
			i++
		}
		end := byte(',')
		if f == hexNumbers-1 {
			end = '\n'
		}
		if i == start || i-start > 8 || i >= len(b) || b[i] != end {
			return -1
		}
		v[f] = x
		i++
	}
	return i
}

// emitHex fills the Record from the numbers of a 2.3 to 2.5 record: tval, cwnd,
// ssthresh, srtt, payload, snd_wnd, rcv_wnd, t_flags, t_flags2, rto, the four of
// the buffers, pipe, t_segqlen.
func (d *Decoder) emitHex(f *Flow, dir Dir, v *[hexNumbers]uint32) {
	r := &d.rec
	d.clock.tval = v[0]
	r.Fields = d.cycle.Fields
	if v[0] == 1<<32-1 { // saturated after 49.7 days
		r.Fields &^= FieldTime
	}
	r.Time = d.clock.base + int64(v[0])*1000
	r.Cwnd, r.Ssthresh, r.Payload = v[1], v[2], v[4]
	r.SRTT, r.RTO = float64(v[3]), float64(v[9])
	r.Wnd.Snd, r.Wnd.Rcv = v[5], v[6]
	r.Flags, r.Flags2 = v[7], v[8]
	r.SndBuf.Limit, r.SndBuf.Used = v[10], v[11]
	r.RcvBuf.Limit, r.RcvBuf.Used = v[12], v[13]
	r.Inflight, r.Reass = v[14], int32(v[15])
	d.emit(f, dir)
}

// emit hands on the Record of f, whose other fields are filled.
func (d *Decoder) emit(f *Flow, dir Dir) {
	d.clock.newest, d.clock.seen = d.rec.Time, true
	d.rec.Flow, d.rec.Dir = f, dir
	f.Counts[dir&1]++
	d.h.Record(&d.rec)
}

// runDec reads decimal records (stock and siftr2 up to 2.2) from the start of b, as
// long as they are flawless.
func (d *Decoder) runDec(b []byte) int {
	i := 0
	lay := &shapes[d.lay]
	for {
		k := i
		if len(b)-k < 2 || b[k+1] != ',' || (b[k] != 'i' && b[k] != 'o') {
			return i
		}
		dir := Dir(b[k] >> 1 & 1) // 'i' is 0x69, 'o' is 0x6f
		k += 2
		if lay.hashed {
			if k = skipHash(b, k); k < 0 {
				return i
			}
		}
		t, k := d.clock.absolute(b, k)
		if k < 0 {
			return i
		}
		f, k := d.flows.byText(b, k, lay.names)
		if f == nil {
			return i
		}
		v, k := d.decNumbers(f, b, k, lay.numbers())
		if k < 0 {
			return i
		}
		i = k
		d.line++
		d.rec.Time = t
		if d.lay == siftr2Dec {
			d.fillSiftr2(v)
		} else {
			d.fillStock(f, v)
		}
		d.emit(f, dir)
	}
}

// decNumbers reads the n numbers of a record of f from b[i] to its newline, and
// returns the place behind it, or -1.
func (d *Decoder) decNumbers(f *Flow, b []byte, i, n int) (v *[decNumbers]uint32, next int) {
	if len(b)-i >= decWindow {
		if f.decRepeater == nil {
			f.decRepeater = newDecRepeater()
		}
		if next = f.decRepeater.decFields(b, i, n); next > 0 {
			return &f.decRepeater.v, next
		}
	}
	return &d.decimals, decFields(b, i, d.decimals[:n], shapes[d.lay].sure)
}

// skipHash passes the packet hash of 1.2.x, `0x%08x,`, which is no flow id.
func skipHash(b []byte, i int) int {
	if len(b)-i < 11 || b[i] != '0' || b[i+1] != 'x' || b[i+10] != ',' {
		return -1
	}
	for _, c := range b[i+2 : i+10] {
		if hexDigit[c] > 15 {
			return -1
		}
	}
	return i + 11
}

// absolute reads `seconds.microseconds,` at b[i]. Neighbouring records share the
// second, which is then not read again.
func (c *clock) absolute(b []byte, i int) (micros int64, next int) {
	if n := len(c.second); n == 0 || len(b)-i < n || string(b[i:i+n]) != c.second {
		k := i
		for k < len(b) && b[k] >= '0' && b[k] <= '9' {
			k++
		}
		if k == i || k-i > 12 || k >= len(b) || b[k] != '.' {
			return 0, -1
		}
		s, err := strconv.ParseInt(string(b[i:k]), 10, 64)
		if err != nil {
			return 0, -1
		}
		c.second, c.micros = string(b[i:k+1]), s*1e6
	}
	i += len(c.second)
	if len(b)-i < 8 || b[i+6] != ',' {
		return 0, -1
	}
	u, ok := sixDigits(binary.LittleEndian.Uint64(b[i:]))
	if !ok {
		return 0, -1
	}
	return c.micros + int64(u), i + 7
}

// recordTime is the time of a decimal record.
func recordTime(line []byte) (int64, bool) {
	var c clock
	k := 2
	if n := skipHash(line, k); n > 0 {
		k = n
	}
	if len(line) < k {
		return 0, false
	}
	t, next := c.absolute(line, k)
	return t, next > 0
}

// decFields reads len(v) decimal numbers up to the newline and returns the place
// behind it, or -1. 1.2.x prints some fields with %ld: what does not fit 32 bits
// there is the meaningless bandwidth window, a negative number is two's complement.
// From number sure on, if that is not 0, there may be any.
func decFields(b []byte, i int, v []uint32, sure int) int {
	last := len(v) - 1
	for f := range v {
		negative := i < len(b) && b[i] == '-'
		if negative {
			i++
		}
		x, start := uint64(0), i
		for i < len(b) {
			c := b[i] - '0'
			if c > 9 {
				break
			}
			x = x*10 + uint64(c)
			i++
		}
		end := byte(',')
		if f == last {
			end = '\n'
		}
		if i == start || i-start > 19 || i >= len(b) || b[i] != end {
			return -1
		}
		switch {
		case negative && (f == 2 || f == 18): // bwnd, reassembly queue
			x = -x
		case (negative || x > 1<<32-1 && f != 2) && (sure == 0 || f < sure):
			return -1
		}
		v[f] = uint32(x)
		i++
	}
	return i
}

// fillStock takes the numbers behind the addresses: ssthresh, cwnd, bwnd or
// t_flags2, snd_wnd, rcv_wnd, the scales, state, mss, srtt, sack, t_flags, rto, the
// four of the buffers, inflight, reass, flowid, flowtype, seq, ack, payload.
func (d *Decoder) fillStock(f *Flow, v *[decNumbers]uint32) {
	r := &d.rec
	r.Ssthresh, r.Cwnd = v[0], v[1]
	r.Wnd.Snd, r.Wnd.Rcv = v[3], v[4]
	r.State, r.MSS = uint8(v[7]), v[8]
	r.SRTT = float64(v[9]) * d.clock.srtt
	f.MSS = r.MSS
	if d.lay == stock12Ertt {
		return
	}
	r.Flags, r.RTO = v[11], float64(v[12])*d.clock.rto
	r.SndBuf.Limit, r.SndBuf.Used = v[13], v[14]
	r.RcvBuf.Limit, r.RcvBuf.Used = v[15], v[16]
	r.Inflight, r.Reass = v[17], int32(v[18])
	if r.Fields&FieldFlags2 != 0 {
		r.Flags2 = v[2]
	}
	if d.lay != stock123 && (v[19] != 0 || v[20] != 0) {
		f.ID, f.HasID = v[19], true
	}
	if d.lay == stock130cc {
		r.Seq, r.Ack, r.Payload = v[21], v[22], v[23]
	}
}

// fillSiftr2 takes the numbers behind the flow id: cwnd, ssthresh, snd_wnd, rcv_wnd,
// t_flags, t_flags2, state, srtt, rto, the four of the buffers, inflight, reass, seq,
// ack, payload.
func (d *Decoder) fillSiftr2(v *[decNumbers]uint32) {
	r := &d.rec
	r.Cwnd, r.Ssthresh = v[0], v[1]
	r.Wnd.Snd, r.Wnd.Rcv = v[2], v[3]
	r.Flags, r.Flags2, r.State = v[4], v[5], uint8(v[6])
	r.SRTT, r.RTO = float64(v[7]), float64(v[8])
	r.SndBuf.Limit, r.SndBuf.Used = v[9], v[10]
	r.RcvBuf.Limit, r.RcvBuf.Used = v[11], v[12]
	r.Inflight, r.Reass = v[13], int32(v[14])
	r.Seq, r.Ack, r.Payload = v[15], v[16], v[17]
}
