package siftr

import "net/netip"

// A Dir is the direction of the packet a record was written for.
type Dir uint8

// The directions, in the order of the kernel's own enum.
const (
	In  Dir = iota // the packet came in; the state is that before TCP processed it
	Out            // the packet goes out; the state is that after TCP built it
)

// String is the letter the text formats use.
func (d Dir) String() string {
	if d == Out {
		return "o"
	}
	return "i"
}

// Fields says which of a Record's fields a format carries.
type Fields uint16

// The fields that some formats lack. All others are in every format.
const (
	FieldPayload  Fields = 1 << iota // Payload
	FieldSRTT                        // SRTT and RTO in a known unit
	FieldState                       // State
	FieldMSS                         // MSS
	FieldFlags2                      // Flags2
	FieldReass                       // Reass
	FieldSeq                         // Seq and Ack
	FieldAddr                        // the addresses, in each record
	FieldTime                        // Time
	FieldInflight                    // Inflight, Flags and the buffers
)

// Values and bits of the fields that have a meaning of their own.
const (
	// SsthreshUnset is TCP_MAXWIN << TCP_MAX_WINSHIFT: no loss was seen yet.
	SsthreshUnset = 0x3fffc000
	// StateEstablished is TCPS_ESTABLISHED. Only siftr 1.2.x writes records below it.
	StateEstablished = 4
	// FlagRecovery is TF_FASTRECOVERY | TF_CONGRECOVERY of t_flags.
	FlagRecovery = 0x20100000
	// FlagTSO is TF_TSO of t_flags: the connection hands super-packets to the card.
	FlagTSO = 0x1000000
)

// A Window is a pair of the send and the receive window.
type Window struct{ Snd, Rcv uint32 }

// A Buffer is a socket buffer: its limit (hiwat) and what lies in it (cc), bytes.
type Buffer struct{ Limit, Used uint32 }

// A Record is the state of a connection at one packet. Handlers get the same
// Record again and again: copy what must stay.
type Record struct {
	Flow   *Flow  // the connection; one pointer per connection and cycle
	Fields Fields // which of the fields below mean something
	Dir    Dir
	State  uint8   // TCPS_*
	Time   int64   // microseconds since 1970; moves with the kernel tick from siftr2 2.3 on
	SRTT   float64 // smoothed RTT, microseconds
	RTO    float64 // retransmission timeout, microseconds

	Cwnd     uint32 // congestion window, bytes
	Ssthresh uint32 // slow start threshold, bytes; SsthreshUnset is no value
	Inflight uint32 // bytes sent and not acknowledged: snd_max-snd_una up to siftr2 2.1, tcp_compute_pipe() later
	Payload  uint32 // bytes of data in the packet, before segmentation (out) or after LRO (in)
	MSS      uint32 // bytes
	Flags    uint32 // t_flags
	Flags2   uint32 // t_flags2
	Seq, Ack uint32 // th_seq, th_ack
	Reass    int32  // segments in the reassembly queue; -1 is what the kernel wrote
	Wnd      Window // bytes, scaled
	SndBuf   Buffer
	RcvBuf   Buffer
}

// Has tells whether the record carries all fields of f.
func (r *Record) Has(f Fields) bool { return r.Fields&f == f }

// SsthreshSet tells whether Ssthresh is a threshold and not its start value.
func (r *Record) SsthreshSet() bool { return r.Ssthresh != SsthreshUnset }

// Established tells whether the figures of the record are those of a running
// connection: the SYN records of siftr 1.2.x have cwnd = SsthreshUnset.
func (r *Record) Established() bool {
	return r.Fields&FieldState == 0 || r.State >= StateEstablished
}

// SndLimited tells whether the send buffer was full.
func (r *Record) SndLimited() bool { return r.SndBuf.Limit > 0 && r.SndBuf.Used >= r.SndBuf.Limit }

// A Flow is one connection within a cycle, as far as the log has told of it.
type Flow struct {
	Index  int    // small, and another for each flow of a cycle
	ID     uint32 // the flow id
	HasID  bool   // ID was in the log (siftr 1.2.3 has none; a zero id without a hash type is none)
	Local  netip.AddrPort
	Remote netip.AddrPort // both are invalid until known: from siftr2 only the footer has them
	MSS    uint32         // bytes, 0 while unknown: the footer's, else the newest record's
	Counts [2]int64       // records so far, by Dir
	Listed bool           // the footer's flow list has it
	Entry  FlowEntry      // what the footer says beyond the above

	flags, rcvLimit uint32    // of the newest binary record
	repeater        *repeater // of its text records
	decRepeater     *decRepeater
}

// A FlowEntry is what a siftr2 footer says of a flow.
type FlowEntry struct {
	Stack, CC          string // "freebsd", "rack"; "cubic", "newreno"; "" where the footer does not say
	SACK               bool
	SndScale, RcvScale uint8
	Records, Packets   int64 // records written, packets seen; -1 where the footer does not say
}

// A Header is the line written at the enable.
type Header struct {
	Time     int64  // microseconds since 1970
	Version  string // siftrver
	System   string // sysver: a number, from siftr2 2.3 on a sentence
	IPv6     bool   // ipmode=6
	Binary   bool   // rec_fmt=binary
	HZ       int64  // ticks a second; only 1.2.x says
	RTTScale int64  // tcp_rtt_scale; only 1.2.x says
	hasName  bool   // it has sysname
}

// A Footer is the line written at the disable. A number is -1 where the footer
// does not carry it.
type Footer struct {
	Time           int64 // microseconds since 1970
	InPackets      int64 // stock: packets seen, the skipped ones included
	OutPackets     int64
	Skipped        int64
	RingDrops      int64 // siftr2 from the ring on: records lost
	FlowCount      int64 // global_flow_cnt
	GeneratedIDs   int64 // gen_flowid_cnt: packets whose card gave no hash
	BadFlowEntries int64 // entries of the flow list that could not be read
	ListedFlows    int64 // entries in the flow list
}

// A Cycle is what lies between one enable and its disable. A Handler may keep
// the pointer; the Decoder changes it until it calls End.
type Cycle struct {
	HasHeader bool
	HasFooter bool
	Header    Header
	Footer    Footer
	Module    string // "siftr" or "siftr2"
	Variant   string // the layout in words: "siftr 1.3.0", "siftr2 2.5"
	Fields    Fields // what its records carry
	Binary    bool   // binary records were seen, or announced by the header
	Refused   string // why its records are not read; "" when they are
	Flows     []*Flow
	Records   [2]int64 // by Dir; set before End
	Last      int64    // time of the last record, microseconds since 1970; set before End
}

// A Bad is a piece of input that is not a siftr log.
type Bad struct {
	Line   int64 // number of the line from 1; 0 among binary records
	Offset int64 // bytes from the start of the input
	Reason string
	Text   string // the start of the piece, without control characters
}

// A Handler takes what a Decoder reads.
type Handler interface {
	// Begin comes before the first record of a cycle. Variant and Fields may still
	// change with the first record: the header of 1.3.0 does not tell its layout.
	Begin(*Cycle)
	// Record comes for each record; the Record is only valid during the call.
	Record(*Record)
	// End comes when the footer was read, another header follows, or the input ended.
	End(*Cycle)
	// Bad comes for each piece that could not be read.
	Bad(Bad)
}
