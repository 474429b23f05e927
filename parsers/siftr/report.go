package siftr

import (
	"fmt"
	"net/netip"
	"strconv"
)

// A Report is the whole-run summary of one log, the JSON object of `netwatch
// review --json`. A nil pointer is what the log does not carry: null.
type Report struct {
	File     string        `json:"file"`
	Kind     string        `json:"kind"`
	Version  *string       `json:"siftrver"`
	Binary   bool          `json:"binary"`
	BadLines int64         `json:"bad_lines"`
	Cut      bool          `json:"cut_short"` // the input ends inside a line: still written, or damaged
	Cycles   []CycleReport `json:"cycles"`
}

// A CycleReport is what happened between one enable and its disable.
type CycleReport struct {
	EnableSecs   *int64       `json:"enable_time_secs"`
	EnableUsecs  *int64       `json:"enable_time_usecs"`
	DisableSecs  *int64       `json:"disable_time_secs"`
	DisableUsecs *int64       `json:"disable_time_usecs"`
	HasHeader    bool         `json:"has_header"`
	HasFooter    bool         `json:"has_footer"`
	Duration     *float64     `json:"duration_s"` // disable - enable
	Variant      string       `json:"format"`
	Refused      *string      `json:"refused"`
	Records      Count        `json:"records"`
	RingDrops    *int64       `json:"ring_drops"`
	Sampled      *bool        `json:"sampled"` // some packets have no record; null where the footer does not tell
	Footer       FooterReport `json:"footer"`
	Flows        []FlowReport `json:"flows"`
}

// A FooterReport has the counters of a footer.
type FooterReport struct {
	InPackets    *int64 `json:"in_packets"`
	OutPackets   *int64 `json:"out_packets"`
	Skipped      *int64 `json:"skipped_packets"`
	GeneratedIDs *int64 `json:"generated_flowids"`
	FlowCount    *int64 `json:"flow_count"`
}

// A FlowReport is one connection of a cycle. Bytes and microseconds.
type FlowReport struct {
	FlowID *string `json:"flowid"`
	Laddr  *string `json:"laddr"`
	Lport  *uint16 `json:"lport"`
	Faddr  *string `json:"faddr"`
	Fport  *uint16 `json:"fport"`
	MSS    *uint32 `json:"mss"`
	Stack  *string `json:"stack"`
	CC     *string `json:"cc"`
	CountReport
	PayloadReport
	StateReport
	First *float64 `json:"first_time_s"` // seconds since the enable
	Last  *float64 `json:"last_time_s"`
}

// A Count is how many records were read; -1, in JSON null, where they were not read.
type Count int64

// MarshalJSON implements json.Marshaler.
func (n Count) MarshalJSON() ([]byte, error) {
	if n < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// A CountReport counts the records of a flow.
type CountReport struct {
	RecordsOut    Count  `json:"records_out"`
	RecordsIn     Count  `json:"records_in"`
	FooterRecords *int64 `json:"footer_records"` // written, by the footer
	FooterPackets *int64 `json:"footer_packets"` // seen by the module, by the footer
	Sampled       *bool  `json:"sampled"`        // ppl or a filter left packets out: sums are too low; null where the footer does not tell
	InRecovery    *int64 `json:"records_in_recovery"`
}

// A PayloadReport is about the packets that carry data, as handed to IP (out)
// or after LRO (in).
type PayloadReport struct {
	Packets    *int64   `json:"data_pkt_cnt"`
	Bytes      *uint64  `json:"data_bytes"`
	Avg        *float64 `json:"avg_payload"`
	Min        *uint32  `json:"min_payload"`
	Max        *uint32  `json:"max_payload"`
	OutPackets *int64   `json:"out_data_pkt_cnt"`
	OutBytes   *uint64  `json:"out_data_bytes"`
	OutAvg     *float64 `json:"out_avg_payload"`
	InPackets  *int64   `json:"in_data_pkt_cnt"`
	InBytes    *uint64  `json:"in_data_bytes"`
	InAvg      *float64 `json:"in_avg_payload"`
	Fragments  *int64   `json:"fragment_cnt"` // packets whose payload is no multiple of the mss
}

// A StateReport is about what the records say of the connection.
type StateReport struct {
	AvgSRTT     *float64 `json:"avg_srtt_us"`
	MinSRTT     *float64 `json:"min_srtt_us"`
	MaxSRTT     *float64 `json:"max_srtt_us"`
	AvgCwnd     *float64 `json:"avg_cwnd"`
	MinCwnd     *uint32  `json:"min_cwnd"`
	MaxCwnd     *uint32  `json:"max_cwnd"`
	AvgInflight *float64 `json:"avg_inflight"`
	MinInflight *uint32  `json:"min_inflight"`
	MaxInflight *uint32  `json:"max_inflight"`
}

func cycleReport(c *Cycle) CycleReport {
	r := CycleReport{
		HasHeader: c.HasHeader, HasFooter: c.HasFooter, Variant: c.Variant,
		Records: Count(c.Records[In] + c.Records[Out]), Flows: []FlowReport{},
	}
	if c.Refused != "" {
		r.Refused = &c.Refused
	}
	if !c.read() {
		r.Records = -1
	}
	if c.HasHeader {
		r.EnableSecs, r.EnableUsecs = split(c.Header.Time)
	}
	if c.HasFooter {
		f := &c.Footer
		r.DisableSecs, r.DisableUsecs = split(f.Time)
		r.RingDrops = known(f.RingDrops)
		r.Footer = FooterReport{known(f.InPackets), known(f.OutPackets), known(f.Skipped), known(f.GeneratedIDs), known(f.FlowCount)}
	}
	if c.HasHeader && c.HasFooter {
		r.Duration = new(float64(c.Footer.Time-c.Header.Time) / 1e6)
	}
	r.Sampled = sampledCycle(r, c.Flows)
	return r
}

// read tells whether the records of a cycle could be read: their layout was known.
func (c *Cycle) read() bool { return c.Refused == "" && c.Variant != "" }

// Packets is how many packets stock siftr could have logged, by its footer, and
// whether that tells it. A log that was switched while it was on lacks those of before.
func (r CycleReport) Packets() (n int64, ok bool) {
	f := r.Footer
	if !r.HasHeader || f.InPackets == nil || f.OutPackets == nil || f.Skipped == nil {
		return 0, false
	}
	return *f.InPackets + *f.OutPackets - *f.Skipped, true
}

// sampledCycle tells whether the log lacks packets. The footer of siftr2 says so of
// each flow and of the ring; that of siftr has one count of all packets.
func sampledCycle(r CycleReport, flows []*Flow) *bool {
	if n, ok := r.Packets(); ok {
		return new(n > int64(r.Records))
	}
	if r.RingDrops != nil && *r.RingDrops > 0 {
		return new(true)
	}
	told, some := len(flows) > 0, false
	for _, f := range flows {
		is := sampledFlow(f)
		told = told && is != nil
		some = some || is != nil && *is
	}
	if !told && !some {
		return nil
	}
	return &some
}

func sampledFlow(f *Flow) *bool {
	if !f.Listed || f.Entry.Records < 0 || f.Entry.Packets < 0 {
		return nil
	}
	return new(f.Entry.Packets > f.Entry.Records)
}

func split(micros int64) (secs, usecs *int64) {
	return new(micros / 1e6), new(micros % 1e6)
}

// known is nil for the -1 that stands for a number the footer lacks.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func (s *flowSums) report(c *Cycle) FlowReport {
	f := s.flow
	r := FlowReport{
		CountReport: CountReport{RecordsOut: Count(f.Counts[Out]), RecordsIn: Count(f.Counts[In])},
	}
	if !c.read() {
		r.RecordsOut, r.RecordsIn = -1, -1
	}
	if f.HasID {
		r.FlowID = new(fmt.Sprintf("%08x", f.ID))
	}
	r.Laddr, r.Lport = endpoint(f.Local)
	r.Faddr, r.Fport = endpoint(f.Remote)
	if f.MSS > 0 {
		r.MSS = &f.MSS
	}
	if f.Listed {
		r.Stack, r.CC = word(f.Entry.Stack), word(f.Entry.CC)
		r.FooterRecords, r.FooterPackets = known(f.Entry.Records), known(f.Entry.Packets)
		r.Sampled = sampledFlow(f)
	}
	if f.Counts == [2]int64{} {
		return r
	}
	if s.fields&FieldPayload != 0 {
		r.PayloadReport = s.payloadReport()
	}
	r.StateReport = s.stateReport()
	if s.fields&FieldInflight != 0 {
		r.InRecovery = &s.recovery
	}
	if c.HasHeader && s.fields&FieldTime != 0 {
		r.First = new(float64(s.first-c.Header.Time) / 1e6)
		r.Last = new(float64(s.newest-c.Header.Time) / 1e6)
	}
	return r
}

func endpoint(a netip.AddrPort) (addr *string, port *uint16) {
	if !a.IsValid() {
		return nil, nil
	}
	return new(a.Addr().String()), new(a.Port())
}

func word(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (s *flowSums) payloadReport() PayloadReport {
	in, out := s.payload[In], s.payload[Out]
	both := in.plus(out)
	r := PayloadReport{
		Packets: &both.n, Bytes: &both.sum,
		OutPackets: &out.n, OutBytes: &out.sum,
		InPackets: &in.n, InBytes: &in.sum,
		// The contract has zero, not null, for the mean of a direction without data.
		OutAvg: new(mean(out.sum, max(out.n, 1))), InAvg: new(mean(in.sum, max(in.n, 1))),
	}
	if both.n > 0 {
		r.Avg, r.Min, r.Max = new(mean(both.sum, both.n)), new(both.minLess1+1), &both.max
	}
	if s.sizes != nil && s.flow.MSS > 0 && s.sizes.big == 0 {
		r.Fragments = new(s.sizes.fragments(s.flow.MSS))
	}
	return r
}

func mean(sum uint64, n int64) float64 { return float64(sum) / float64(n) }

func (s *flowSums) stateReport() (r StateReport) {
	if s.n == 0 {
		return r
	}
	r.AvgCwnd, r.MinCwnd, r.MaxCwnd = new(mean(s.cwnd.sum, s.n)), &s.cwnd.min, &s.cwnd.max
	if s.fields&FieldInflight != 0 {
		r.AvgInflight, r.MinInflight, r.MaxInflight = new(mean(s.inflight.sum, s.n)), &s.inflight.min, &s.inflight.max
	}
	if s.fields&FieldSRTT != 0 {
		r.AvgSRTT = new(s.srtt.sum / float64(s.n))
		r.MinSRTT, r.MaxSRTT = &s.srtt.min, &s.srtt.max
	}
	return r
}
