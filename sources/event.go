package sources

import (
	"net/netip"
	"time"
)

// An EventKind says what happened.
type EventKind string

// The kinds of events. They are written to recordings as they are spelled here.
const (
	KnobSeen     EventKind = "knob-seen"     // a knob's value was read for the first time; Knob describes it
	KnobTurning  EventKind = "knob-turning"  // a turn was asked for; the subject's rates are blank until it is done
	KnobTurned   EventKind = "knob-turned"   // a turn ended: Old, Asked, New tell how
	KnobFailed   EventKind = "knob-failed"   // a turn was refused; New is the value that stands
	KnobBoth     EventKind = "knob-both"     // a turn of all ends at once ended: Old, Asked, New; Span is the skew. With Error, Text says who refused and what was put back, Span how long all that took
	KnobDrifted  EventKind = "knob-drifted"  // a value changed and it was not netwatch
	LinkDown     EventKind = "link-down"     // the interface lost its link, or is gone
	LinkUp       EventKind = "link-up"       // the link is back; Span is how long it was away
	CounterReset EventKind = "counter-reset" // a counter went back: a new epoch, no rate across it
	SourceUp     EventKind = "source-up"     // a source began to speak
	SourceNote   EventKind = "source-note"   // a source has something to say in words (a bad line, a finished log)
	SourceGone   EventKind = "source-gone"   // a source ended; Text says why; Span is how long it had said nothing when that is why
	SourceNone   EventKind = "source-none"   // … of one that never spoke: what a session makes of SourceGone then
	RunStarted   EventKind = "run-started"   // a load began; Subject names it
	RunEnded     EventKind = "run-ended"     // a load ended
	FlowSeen     EventKind = "flow-seen"     // a connection is known, or more is known of it (Flow)
	FlowEnded    EventKind = "flow-ended"    // a connection is gone
	PingLate     EventKind = "ping-late"     // an answer came after its loss was reported
	LogSampled   EventKind = "log-sampled"   // a log holds only some of the packets and Text says why; for Span before At, or with no Span from At on, until Text is ""
	Mark         EventKind = "mark"          // a person pressed m
)

// An Event is anything worth a line through the charts or a row in the log.
type Event struct {
	At      time.Time
	Span    time.Duration // how long it took (a turn, a link gap); within what time before At it was (KnobDrifted)
	Kind    EventKind
	Host    string
	Source  string // who says so: "nic", "iperf3", "knobs", …
	Subject string // an interface, a run ("iperf3 #2"), a flow's ID, a knob's Name for knob events
	Text    string // one line of words; control characters are already gone

	Old, Asked, New string // knobs: before, asked, granted

	Knob  *KnobSpec // KnobSeen
	Flow  *Flow     // FlowSeen
	Error bool      // Text tells of something that went wrong
}

// A Flow names a connection as far as its source knows it. The session joins
// flows of different sources by the 4-tuple.
type Flow struct {
	ID     string         `json:"id"`              // the source's own: "dd7fc950", "10.1.1.2:54321>10.1.1.3:5201"
	LogID  string         `json:"logid,omitempty"` // the id a siftr2 log gives these addresses, where the source can tell it
	Local  netip.AddrPort `json:"local,omitzero"`
	Remote netip.AddrPort `json:"remote,omitzero"`
	Stack  string         `json:"stack,omitempty"`
	CC     string         `json:"cc,omitempty"`
	MSS    int            `json:"mss,omitempty"`   // bytes, 0 unknown
	Mixed  bool           `json:"mixed,omitempty"` // more than one connection is known to share this id
	TSO    string         `json:"tso,omitempty"`   // "on" or "off": whether the connection itself may use segmentation offload; "" unknown

	NoPayload bool `json:"nopayload,omitempty"` // the format of its log carries no payload: no throughput and no segment can be told
}
