package iperf

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// A textRow is a table row before anyone knows which tool wrote it.
type textRow struct {
	id, role   string
	start, end float64
	decimals   int // of the end time: 1, 2 or 4
	bytes      float64
	bits       float64
	tail       []string
}

// A rowError says why a line that looks like a row is none.
type rowError string

func (e rowError) Error() string { return string(e) }

// parseRow reads "[ID][role] start-end sec transfer rate tail". It returns
// ok = false for a line that is no row at all, and an error for a row that
// cannot be believed. Blanks may have been collapsed: nothing is found by column.
func parseRow(s string) (r textRow, ok bool, err error) {
	id, role, rest, ok := bracket(s)
	if !ok {
		return r, false, nil
	}
	r.id, r.role = id, role
	if rest, ok = r.times(rest); !ok {
		return r, false, nil
	}
	if strings.Contains(rest, "PDF:") || strings.Contains(rest, "received out-of-order") {
		return r, false, nil // histograms and a count: they only begin like rows
	}
	f := strings.Fields(tightSlashes(rest))
	if len(f) < 4 {
		return r, true, rowError("a row without transfer and rate")
	}
	bytes, byteDigits, ok1 := amount(f[0], f[1], "Byte")
	rate, rateDigits, ok2 := rate(f[2], f[3])
	if !ok1 || !ok2 {
		return r, true, rowError("transfer or rate is no number with a unit")
	}
	switch dt := r.end - r.start; {
	case dt < 0:
		return r, true, rowError("an interval that ends before it starts")
	case dt == 0:
		return r, true, rowError("an interval without length")
	case rateDigits < 3 && rateDigits < byteDigits:
		rate = bytes * 8 / dt // -f g prints 80 Mbit/s as 0.08 Gbits/sec
	}
	r.bytes, r.bits, r.tail = bytes, rate, f[4:]
	return r, true, nil
}

// bracket finds the first "[id]" or "[id][role]" in s that can begin a row or a
// connection line. A time stamp or a title may stand before it.
func bracket(s string) (id, role, rest string, ok bool) {
	for {
		i := strings.IndexByte(s, '[')
		if i < 0 {
			return "", "", "", false
		}
		s = s[i+1:]
		j := strings.IndexByte(s[:min(len(s), longestID+1)], ']')
		if j < 0 {
			continue
		}
		id = strings.TrimSpace(s[:j])
		if !isID(id) {
			continue
		}
		rest = s[j+1:]
		if len(rest) > 5 && rest[0] == '[' && rest[5] == ']' && (rest[1:3] == "TX" || rest[1:3] == "RX") {
			return id, rest[1:5], rest[6:], true
		}
		return id, "", rest, true
	}
}

// longestID bounds what stands between the brackets of a row.
const longestID = 12

// isID: "5", "*1", "SUM", "SUM-2", "SUM-cnt", "FD1".
func isID(s string) bool {
	if strings.HasPrefix(s, "SUM") {
		return len(s) <= longestID
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "FD"), "*")
	return s != "" && len(s) <= 6 && strings.Trim(s, "0123456789") == ""
}

// times reads "0.00-1.00   sec" and " 0.0- 1.0 sec".
func (r *textRow) times(s string) (rest string, ok bool) {
	from, s, ok := number(s)
	if !ok || !strings.HasPrefix(s, "-") {
		return "", false
	}
	to, s, ok := number(s[1:])
	if !ok {
		return "", false
	}
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, "sec") {
		return "", false
	}
	var ok1, ok2 bool
	r.start, ok1 = float(from)
	r.end, ok2 = float(to)
	if !ok1 || !ok2 {
		return "", false
	}
	if i := strings.IndexAny(to, ".,"); i >= 0 {
		r.decimals = len(to) - i - 1
	}
	return s[3:], true
}

// number cuts the decimal number off the front of s.
func number(s string) (num, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',') {
		i++
	}
	return s[:i], s[i:], i > 0
}

// tightSlashes takes out the blanks iperf2 2.0 pads with: "6.050/ 5.201", "0/  428".
func tightSlashes(s string) string {
	if !strings.Contains(s, "/ ") {
		return s
	}
	parts := strings.Split(s, "/")
	for i := range parts[1:] {
		parts[i+1] = strings.TrimLeft(parts[i+1], " ")
	}
	return strings.Join(parts, "/")
}

// float reads a number that can stand in a result: finite, with a decimal point
// or, from a strange locale, a comma.
func float(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// count reads an integer that is not negative; iperf2 writes -1 for "not known".
func count(s string) Num {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 {
		return Num{}
	}
	return num(float64(v))
}

// amount reads a size such as "12.6" "MBytes". Prefixes are powers of 1024
// (units.c of both tools). digits is how many figures were printed.
func amount(s, unit, base string) (v float64, digits int, ok bool) {
	v, ok = float(s)
	f, ok2 := prefix(unit, base, 1024)
	return v * f, figures(s), ok && ok2 && v >= 0
}

// rate reads "94.4" "Mbits/sec" (powers of 1000) and "12654" "KBytes/sec"
// (powers of 1024, times eight) into bit/s.
func rate(s, unit string) (v float64, digits int, ok bool) {
	v, ok = float(s)
	unit, per := strings.CutSuffix(unit, "/sec")
	if f, isBits := prefix(unit, "bit", 1000); isBits {
		return v * f, figures(s), ok && per && v >= 0
	}
	f, isBytes := prefix(unit, "Byte", 1024)
	return v * f * 8, figures(s), ok && per && isBytes && v >= 0
}

// prefix is the factor of a unit such as KBytes, MByte or Gbits.
func prefix(unit, base string, step float64) (f float64, ok bool) {
	p, ok := strings.CutSuffix(strings.TrimSuffix(unit, "s"), base)
	if !ok {
		return 0, false
	}
	switch p {
	case "":
		return 1, true
	case "K":
		return step, true
	case "M":
		return step * step, true
	case "G":
		return step * step * step, true
	case "T":
		return step * step * step * step, true
	}
	return 0, false
}

// figures counts the significant figures of a printed number.
func figures(s string) (n int) {
	for _, c := range strings.TrimLeft(s, "0.,") {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// parseConnected reads "local A port p connected to B port q ..." (iperf3) and
// "... connected with ..." (iperf2, which may add %interface to an address).
func parseConnected(s, word string) (local, remote netip.AddrPort, ok bool) {
	_, s, ok1 := strings.Cut(s, "local ")
	l, r, ok2 := strings.Cut(s, " "+word+" ")
	if !ok1 || !ok2 {
		return local, remote, false
	}
	return addrPort(l), addrPort(r), true
}

// addrPort reads "10.77.1.1%tun0 port 5001"; a host name gives the zero value.
func addrPort(s string) netip.AddrPort {
	f := strings.Fields(s)
	if len(f) < 3 || f[1] != "port" {
		return netip.AddrPort{}
	}
	host, zone, _ := strings.Cut(f[0], "%")
	addr, err := netip.ParseAddr(host)
	port, err2 := strconv.ParseUint(strings.TrimRight(f[2], ","), 10, 16)
	if err != nil || err2 != nil {
		return netip.AddrPort{}
	}
	if addr.IsLinkLocalUnicast() && addr.Is6() {
		addr = addr.WithZone(zone)
	}
	return netip.AddrPortFrom(addr, uint16(port))
}
