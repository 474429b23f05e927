package siftr

import (
	"fmt"
	"math"
)

// A Summary is a Handler that gathers whole-run figures of every flow in one
// pass. Its memory does not grow with the number of records.
//
// Populations are those of the public analyser review_siftr2_log, unrounded: cwnd,
// srtt and inflight are means over all records of a flow, both directions
// (records, not time), payload over the records that carry data. Records below
// ESTABLISHED count as records and stay out of cwnd, srtt and inflight.
type Summary struct {
	// Bads holds the first bad pieces, at most MaxBads of them.
	Bads []Bad

	report Report
	flows  []*flowSums // of the cycle that runs, by Flow.Index
	paged  int         // flows with a payload histogram
}

// MaxBads is how many bad pieces a Summary keeps in words; all are counted.
const MaxBads = 20

// maxPaged bounds the memory for payload histograms (256 KiB a flow at the most).
const maxPaged = 512

// flowSums are the sums of one flow.
type flowSums struct {
	flow   *Flow
	fields Fields

	first, newest int64
	payload       [2]payloads // by Dir
	sizes         *histogram

	n        int64 // records of which the following are
	cwnd     sums
	inflight sums
	srtt     fsums
	recovery int64
}

func newFlowSums(flow *Flow) *flowSums {
	s := &flowSums{flow: flow, cwnd: sums{min: math.MaxUint32}, inflight: sums{min: math.MaxUint32}, srtt: fsums{min: math.MaxFloat64}}
	for dir := range s.payload {
		s.payload[dir].minLess1 = math.MaxUint32
	}
	return s
}

// sums are of integers. The sum of 2^32 readings of 32 bits fits. A fresh one has
// the greatest min there is, so that add need not ask whether it is the first.
type sums struct {
	sum      uint64
	min, max uint32
}

func (s *sums) add(v uint32) {
	s.sum += uint64(v)
	s.min = min(s.min, v)
	s.max = max(s.max, v)
}

// fsums are of srtt, whose unit is a fraction of a microsecond in 1.2.x. They are
// exact as long as the unit is a binary fraction (hz 1000: 31.25).
type fsums struct {
	sum      float64
	min, max float64
}

func (s *fsums) add(v float64) {
	s.sum += v
	if v < s.min {
		s.min = v
	}
	if v > s.max {
		s.max = v
	}
}

// payloads are the sums of the payloads that are not zero. Data comes and goes from
// record to record, which no branch predictor foresees: a zero goes through add like
// any other and changes nothing.
type payloads struct {
	n        int64
	sum      uint64
	minLess1 uint32 // for a zero that is the greatest number
	max      uint32
}

func (p *payloads) add(v uint32) {
	p.n += flagged(v)
	p.sum += uint64(v)
	p.minLess1 = min(p.minLess1, v-1)
	p.max = max(p.max, v)
}

func (p payloads) plus(o payloads) payloads {
	return payloads{p.n + o.n, p.sum + o.sum, min(p.minLess1, o.minLess1), max(p.max, o.max)}
}

// A histogram counts payload sizes, so that fragments can be counted once the
// footer tells the mss. Real payloads touch few of its pages.
type histogram struct {
	pages [256]*[256]uint32
	big   int64 // payloads over 65535: no IP packet, no fragment count
}

func (h *histogram) add(size uint32) {
	if size > 0xffff {
		h.big++
		return
	}
	p := h.pages[size>>8]
	if p == nil {
		p = new([256]uint32)
		h.pages[size>>8] = p
	}
	p[size&0xff]++
}

// fragments counts the payloads that are no multiple of mss.
func (h *histogram) fragments(mss uint32) (n int64) {
	for hi, p := range h.pages {
		if p == nil {
			continue
		}
		for lo, count := range p {
			if uint32(hi<<8|lo)%mss != 0 {
				n += int64(count)
			}
		}
	}
	return n
}

// Begin implements Handler.
func (s *Summary) Begin(*Cycle) {
	s.flows = s.flows[:0]
}

// Record implements Handler.
func (s *Summary) Record(r *Record) {
	var f *flowSums
	if i := r.Flow.Index; i < len(s.flows) {
		f = s.flows[i]
	}
	if f == nil || f.flow != r.Flow {
		f = s.of(r.Flow)
	}
	f.fields |= r.Fields
	if r.Fields&FieldTime != 0 {
		if f.newest == 0 {
			f.first = r.Time
		}
		f.newest = r.Time
	}
	f.payload[r.Dir&1].add(r.Payload)
	if f.sizes != nil {
		f.sizes.add(r.Payload)
	}
	if !r.Established() {
		return
	}
	f.n++
	f.cwnd.add(r.Cwnd)
	f.srtt.add(r.SRTT)
	f.inflight.add(r.Inflight)
	f.recovery += flagged(r.Flags & FlagRecovery)
}

// flagged is 1 if any bit of v is set. It has no branch: recovery comes and goes.
func flagged(v uint32) int64 { return int64((-v | v) >> 31) }

func (s *Summary) of(flow *Flow) *flowSums {
	for len(s.flows) <= flow.Index {
		s.flows = append(s.flows, nil)
	}
	f := s.flows[flow.Index]
	if f == nil || f.flow != flow {
		f = newFlowSums(flow)
		if s.paged < maxPaged {
			s.paged++
			f.sizes = new(histogram)
		}
		s.flows[flow.Index] = f
	}
	return f
}

// Bad implements Handler.
func (s *Summary) Bad(b Bad) {
	if b.Reason == ReasonCut {
		s.report.Cut = true
	} else {
		s.report.BadLines++
	}
	if len(s.Bads) < MaxBads {
		s.Bads = append(s.Bads, b)
	}
}

// End implements Handler.
func (s *Summary) End(c *Cycle) {
	r := &s.report
	if c.HasHeader && r.Version == nil {
		r.Version = &c.Header.Version
	}
	r.Binary = r.Binary || c.Binary
	cr := cycleReport(c)
	for _, flow := range c.Flows {
		sum := newFlowSums(flow)
		if flow.Index < len(s.flows) && s.flows[flow.Index] != nil && s.flows[flow.Index].flow == flow {
			sum = s.flows[flow.Index]
		}
		cr.Flows = append(cr.Flows, sum.report(c))
	}
	r.Cycles = append(r.Cycles, cr)
	s.flows, s.paged = s.flows[:0], 0
}

// Report is what was read of the input that name names. It is complete after the
// Decoder's Close.
func (s *Summary) Report(name string) Report {
	r := s.report
	r.File, r.Kind = name, "siftr"
	return r
}

// Err says why nothing in the input was usable, nil if something was: a record, or a
// cycle in which there was none to read.
func (s *Summary) Err() error {
	for _, c := range s.report.Cycles {
		if c.Refused == nil && (c.Records > 0 || len(s.Bads) == 0) {
			return nil
		}
	}
	for _, c := range s.report.Cycles {
		if c.Refused != nil {
			return fmt.Errorf("%s", *c.Refused)
		}
	}
	if len(s.Bads) > 0 {
		b := s.Bads[0]
		return fmt.Errorf("not a siftr log: line %d: %s", b.Line, b.Reason)
	}
	return fmt.Errorf("not a siftr log: it is empty")
}
