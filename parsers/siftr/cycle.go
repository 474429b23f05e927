package siftr

// The life of a cycle: begun by a header, or by records that prove their format;
// ended by a footer, by the next header, or by the end of the input.

// header begins a cycle. Records that stock siftr wrote before its header, which
// its locking allows, belong to it; older ones are the rest of another cycle.
func (d *Decoder) header(b []byte) {
	h, ok := parseHeader(b)
	if !ok {
		d.bad(d.line, d.pos, "header without a readable enable time", b)
		return
	}
	if d.cycle != nil {
		d.endCycle()
	}
	if len(d.held.lines) > 0 && !d.heldBelongTo(&h) {
		d.replayHeld()
		d.endCycle()
	}
	c := &Cycle{HasHeader: true, Header: h, Module: h.module(), Binary: h.Binary}
	allowed, refused := h.version()
	c.Variant = c.Module + " " + printable([]byte(h.Version))
	known := layoutUnknown
	if len(allowed) == 1 && h.Version != "2.3" {
		known = allowed[0]
	}
	d.begin(c, known)
	d.allowed, d.inStep = allowed, h.Binary
	if refused != "" {
		d.refuse(refused)
	}
	d.replayHeld()
}

// begin starts a cycle whose layout is l, or not known yet.
func (d *Decoder) begin(c *Cycle, l layout) {
	d.cycle, d.lay, d.allowed = c, layoutUnknown, nil
	d.flows = flowTable{}
	d.clock = clock{base: c.Header.Time}
	if l != layoutUnknown {
		d.setLayout(l)
	}
	d.h.Begin(c)
}

// setLayout fixes the order of the fields for the rest of the cycle.
func (d *Decoder) setLayout(l layout) {
	c, s := d.cycle, &shapes[l]
	d.lay = l
	c.Module, c.Fields = s.module, s.carries
	if !c.HasHeader || l == stock130cc || l == stock12Ertt {
		c.Variant = s.name
	}
	d.clock.srtt, d.clock.rto = 1, 1
	switch {
	case !s.hashed: // microseconds
	case c.Header.HZ > 0 && c.Header.RTTScale > 0:
		d.clock.rto = 1e6 / float64(c.Header.HZ)
		d.clock.srtt = 1e6 / (float64(c.Header.HZ) * float64(c.Header.RTTScale))
	default:
		c.Fields &^= FieldSRTT // ticks of an unknown length
	}
	if l == siftr2Hex && !c.HasHeader {
		c.Fields &^= FieldTime // milliseconds since an unknown moment
	}
	d.flows.idBase = 16
	if l == siftr2Dec {
		d.flows.idBase = idBases[c.Header.Version]
	}
	d.rec = Record{Fields: c.Fields}
}

// idBases: 2.2 changed from decimal to hexadecimal ids in its lifetime.
var idBases = map[string]int{"2.0": 10, "2.1": 10}

func (d *Decoder) refuse(reason string) {
	d.cycle.Refused = reason
	d.bad(d.line, d.pos, reason, nil)
}

func (d *Decoder) endCycle() {
	if d.cycle == nil {
		return
	}
	c := d.cycle
	c.Flows, c.Last = d.flows.real(), d.clock.newest
	for _, f := range c.Flows {
		c.Records[In] += f.Counts[In]
		c.Records[Out] += f.Counts[Out]
	}
	d.h.End(c)
	d.cycle, d.lay = nil, layoutUnknown
	d.flows = flowTable{}
}

func (d *Decoder) footer(b []byte) {
	d.replayHeld()
	f, list, ok := parseFooter(b)
	if !ok {
		d.bad(d.line, d.pos, "footer without a readable disable time", b)
		return
	}
	if d.cycle == nil {
		c := &Cycle{Module: "siftr2"}
		if f.InPackets >= 0 {
			c.Module = "siftr"
		}
		d.begin(c, layoutUnknown)
	}
	c := d.cycle
	c.HasFooter, c.Footer = true, f
	d.flows.readList(list, c)
	if n := c.Footer.BadFlowEntries; n > 0 {
		d.bad(d.line, d.pos, "flow list entries that could not be read", nil)
	}
	d.endCycle()
}

// hold keeps a record back that no header has introduced, for the header may
// follow.
func (d *Decoder) hold(b []byte) {
	raw := b
	b = withoutBlanks(b)
	l := infer(b)
	switch {
	case l == layoutUnknown:
		d.bad(d.line, d.pos, "not a siftr log line", raw)
		return
	case l == siftr2Hex: // siftr2 writes the header first: this one is lost
		d.begin(&Cycle{}, l)
		d.recordLine(b)
		return
	}
	d.held.text = append(d.held.text, b...)
	d.held.lines = append(d.held.lines, heldLine{d.line, d.pos, len(d.held.text)})
	if len(d.held.text) > maxHeld {
		d.replayHeld()
	}
}

// heldBelongTo tells whether the held records were written after h's enable.
func (d *Decoder) heldBelongTo(h *Header) bool {
	const early = 1e6 // the clock is read before the hook is set
	first := d.held.text[:d.held.lines[0].end]
	t, ok := recordTime(first)
	allowed, _ := h.version()
	l, _ := pick(allowed, h.Version, first)
	return ok && l != layoutUnknown && t >= h.Time-early
}

// replayHeld reads the held records, in a cycle without a header if there is none.
func (d *Decoder) replayHeld() {
	held := d.held
	if len(held.lines) == 0 {
		return
	}
	d.held = heldLines{}
	if d.cycle == nil {
		d.begin(&Cycle{}, infer(held.text[:held.lines[0].end]))
	}
	line, pos, start := d.line, d.pos, 0
	for _, l := range held.lines {
		d.line, d.pos = l.line, l.pos
		d.recordLine(held.text[start:l.end])
		start = l.end
	}
	d.line, d.pos = line, pos
}
