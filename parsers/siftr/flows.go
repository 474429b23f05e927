package siftr

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A flowTable finds the Flow of a record by the bytes that name it in the text:
// the addresses (stock) or the id, with the comma behind.
type flowTable struct {
	list   []*Flow
	ids    map[uint32]*Flow // siftr2
	keys   map[string]*Flow
	texts  [slots]textSlot
	hexes  [slots]hexSlot
	nums   [slots]*Flow
	idBase int // of ids in decimal formats: 10, 16, or 0 while nothing proves either
}

// Most records are of a few connections. A slot is where a connection is looked for
// first, by a hash of its name; looking at one place only has no branch to predict.
const slots = 16

type textSlot struct {
	key  string
	flow *Flow
}

type hexSlot struct {
	digits uint64 // as they stand in the log
	flow   *Flow
}

func slotOf(v uint64) uint64 { return v * 0x9e3779b97f4a7c15 >> 60 }

// byHex finds the flow whose id is written in the bytes of digits, nil when there is
// no room for another.
func (t *flowTable) byHex(digits uint64) *Flow {
	slot := &t.hexes[slotOf(digits)]
	if slot.digits != digits {
		t.fill(slot, digits)
	}
	return slot.flow
}

func (t *flowTable) fill(slot *hexSlot, digits uint64) {
	key := string(binary.LittleEndian.AppendUint64(nil, digits))
	f := t.keys[key]
	if f == nil {
		f = t.add(key, 1)
	}
	if f != nil {
		*slot = hexSlot{digits, f}
	} else {
		*slot = hexSlot{}
	}
}

// byText finds the flow whose name begins at b[i] and has n fields, and returns
// the place behind it. A nil flow: the name cannot be read, or there is no room.
func (t *flowTable) byText(b []byte, i, n int) (*Flow, int) {
	var spread uint64
	if len(b)-i >= 16 {
		spread = binary.LittleEndian.Uint64(b[i:])*31 ^ binary.LittleEndian.Uint64(b[i+8:])
	}
	slot := &t.texts[slotOf(spread)]
	if key := slot.key; key != "" && len(b)-i >= len(key) && string(b[i:i+len(key)]) == key {
		return slot.flow, i + len(key)
	}
	end := i
	for range n {
		c := bytes.IndexByte(b[end:min(len(b), end+64)], ',')
		if c < 0 {
			return nil, i
		}
		end += c + 1
	}
	f := t.keys[string(b[i:end])]
	if f == nil {
		if f = t.add(string(b[i:end]), n); f == nil {
			return nil, i
		}
	}
	*slot = textSlot{string(b[i:end]), f}
	return f, end
}

// byNumber finds the flow of a binary record.
func (t *flowTable) byNumber(id uint32) *Flow {
	if f := t.known(id); f != nil {
		return f
	}
	return t.addID(id)
}

// known is the flow with that id, nil if no record had it yet.
func (t *flowTable) known(id uint32) *Flow {
	slot := &t.nums[slotOf(uint64(id))]
	if f := *slot; f != nil && f.ID == id {
		return f
	}
	f := t.ids[id]
	if f != nil {
		*slot = f
	}
	return f
}

// add makes the flow that key names: addresses (four fields) or an id.
func (t *flowTable) add(key string, fields int) *Flow {
	if t.keys == nil {
		t.keys = make(map[string]*Flow)
	}
	var f *Flow
	if fields == 1 {
		id, ok := t.parseID(strings.TrimSuffix(key, ","))
		if !ok {
			return nil
		}
		f = t.byNumber(id)
	} else {
		p := strings.Split(key, ",")
		local, ok1 := addrPort(p[0], p[1])
		remote, ok2 := addrPort(p[2], p[3])
		if !ok1 || !ok2 {
			return nil
		}
		if f = t.new(); f != nil {
			f.Local, f.Remote = local, remote
		}
	}
	if f != nil {
		t.keys[key] = f
	}
	return f
}

func (t *flowTable) addID(id uint32) *Flow {
	f := t.new()
	if f == nil {
		return nil
	}
	if t.ids == nil {
		t.ids = make(map[uint32]*Flow)
	}
	f.ID, f.HasID = id, true
	t.ids[id] = f
	return f
}

func (t *flowTable) new() *Flow {
	if len(t.list) >= maxFlows {
		return nil
	}
	f := &Flow{Index: len(t.list)}
	t.list = append(t.list, f)
	return f
}

// real is the list without flows that only a bad line named.
func (t *flowTable) real() []*Flow {
	return slices.DeleteFunc(t.list, func(f *Flow) bool {
		return f.Counts == [2]int64{} && !f.Listed
	})
}

// parseID reads an id as the log writes it. Of siftr2 2.2 there are logs with
// decimal and with 8-digit hexadecimal ids; one id that can only be the one or the
// other tells for all. Until then an id is taken as it looks, in hexadecimal.
func (t *flowTable) parseID(s string) (uint32, bool) {
	if t.idBase == 0 {
		switch {
		case len(s) == 8 && strings.ContainsAny(s, "abcdef"):
			t.idBase = 16
		case len(s) != 8 && len(s) <= 10 && strings.Trim(s, "0123456789") == "":
			t.setDecimal()
		}
	}
	base := t.idBase
	if base == 0 {
		base = 16
	}
	if base == 16 && len(s) != 8 {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 32)
	return uint32(n), err == nil
}

// setDecimal reads the ids so far again, in decimal.
func (t *flowTable) setDecimal() {
	t.idBase = 10
	t.ids = make(map[uint32]*Flow, len(t.keys))
	for key, f := range t.keys {
		n, _ := strconv.ParseUint(strings.TrimSuffix(key, ","), 10, 32)
		f.ID = uint32(n)
		t.ids[f.ID] = f
	}
}

// addrPort reads an address as any of the modules prints it: dotted quads, IPv6
// in full (1.2.x) or compressed, the scope of a link-local one inside.
func addrPort(addr, port string) (netip.AddrPort, bool) {
	a, err := netip.ParseAddr(addr)
	p, err2 := strconv.ParseUint(port, 10, 16)
	return netip.AddrPortFrom(a, uint16(p)), err == nil && err2 == nil && a.Zone() == ""
}

// readList adds what a footer's flow list says.
func (t *flowTable) readList(list string, c *Cycle) {
	stock, sep := c.Footer.InPackets >= 0, ";"
	if stock {
		sep = ","
	}
	for entry := range strings.SplitSeq(list, sep) {
		if entry == "" {
			continue
		}
		c.Footer.ListedFlows++
		var ok bool
		if stock {
			ok = t.stockEntry(entry)
		} else {
			ok = t.siftr2Entry(entry)
		}
		if !ok {
			c.Footer.BadFlowEntries++
		}
	}
}

// stockEntry reads `laddr;lport-faddr;fport`. The ccfbsd variant of 1.3.0 lists
// flow ids, sometimes with a count, which its records have too.
func (t *flowTable) stockEntry(entry string) bool {
	local, remote, both := strings.Cut(entry, "-")
	if !both {
		return strings.Trim(entry, "0123456789()") == ""
	}
	key := strings.ReplaceAll(local, ";", ",") + "," + strings.ReplaceAll(remote, ";", ",") + ","
	if strings.Count(key, ",") != 4 {
		return false
	}
	f := t.keys[key]
	if f == nil {
		f = t.add(key, 4)
	}
	if f != nil {
		f.Listed, f.Entry.Records, f.Entry.Packets = true, -1, -1
	}
	return f != nil
}

// siftr2Entry reads an entry of the seven shapes a siftr2 flow list has had,
// which differ in length:
//
//	10  id laddr lport faddr fport mss sack sndscale rcvscale nrecord   (2.0)
//	11  the same, ntrans                                                 (2.1)
//	12  id laddr lport faddr fport stack mss …                           (2.2, first days)
//	13  id laddr lport faddr fport stack cc mss …                        (2.2 to early 2.5)
//	14  id ipver laddr lport faddr fport stack cc mss …                  (2.5)
func (t *flowTable) siftr2Entry(entry string) bool {
	p := strings.Split(entry, ",")
	n := len(p)
	if n < 10 || n > 14 {
		return false
	}
	f := t.keys[p[0]+","]
	if f == nil {
		f = t.keys[p[0]]
	}
	if f == nil {
		id, ok := t.parseID(p[0])
		if !ok {
			return false
		}
		if f = t.byNumber(id); f == nil {
			return false
		}
	}
	if n == 14 {
		p = append(p[:1], p[2:]...)
	}
	local, ok1 := addrPort(p[1], p[2])
	remote, ok2 := addrPort(p[3], p[4])
	p = p[5:]
	e := FlowEntry{Packets: -1}
	if n >= 12 {
		e.Stack, p = named(p[0], "freebsd", "rack"), p[1:]
	}
	if n >= 13 {
		e.CC, p = named(p[0], "cubic", "newreno"), p[1:]
	}
	mss, err := strconv.ParseUint(p[0], 10, 32)
	records, err2 := strconv.ParseInt(p[4], 10, 64)
	if !ok1 || !ok2 || err != nil || err2 != nil {
		return false
	}
	e.SACK, e.Records = p[1] == "1", records
	e.SndScale, e.RcvScale = scale(p[2]), scale(p[3])
	if n >= 11 {
		e.Packets, _ = strconv.ParseInt(p[5], 10, 64)
	}
	f.Local, f.Remote, f.MSS, f.Listed, f.Entry = local, remote, uint32(mss), true, e
	return true
}

// named turns the numbers that early footers use into the names of the later ones.
func named(s string, names ...string) string {
	if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(names) {
		return names[i]
	}
	return printable([]byte(s))
}

func scale(s string) uint8 {
	n, _ := strconv.ParseUint(s, 10, 8)
	return uint8(n)
}
