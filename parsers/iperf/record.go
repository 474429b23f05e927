package iperf

import "net/netip"

// A Tool is the program that speaks.
type Tool string

// The two tools; their output has little in common but the shape of a row.
const (
	Iperf3 Tool = "iperf3"
	Iperf2 Tool = "iperf2"
)

// A Dir is the way the payload goes, seen from the host on which the tool runs.
type Dir uint8

const (
	Unknown Dir = iota
	Out         // this host sends
	In          // this host receives
)

// A Num is a number the output may or may not carry.
type Num struct {
	V  float64
	OK bool
}

func num(v float64) Num { return Num{V: v, OK: true} }

// scaled is n times f, and absent when n is.
func (n Num) scaled(f float64) Num { return Num{V: n.V * f, OK: n.OK} }

// A Record is one of Start, Stream, Row, End, Message, Bad and Other.
type Record interface{ record() }

func (Start) record()   {}
func (Stream) record()  {}
func (Row) record()     {}
func (End) record()     {}
func (Message) record() {}
func (Bad) record()     {}
func (Other) record()   {}

// A Start says that a run began, with what was known at that line.
type Start struct {
	Line     int // number of the line, from 1
	Tool     Tool
	Version  string // "3.12"; "" when the output does not tell
	Server   bool   // this side waits for clients
	Peer     string // the other end as the banner names it: "r1 port 5201"
	Protocol string // "TCP", "UDP" or "" when not yet known
	Reverse  bool   // the server sends (-R)
	Bidir    bool   // both send (--bidir)
	Began    Num    // Unix seconds at the start of the run, by the tool's host clock
}

// A Stream is one connection of a run.
type Stream struct {
	Line          int
	ID            string
	Dir           Dir
	Local, Remote netip.AddrPort // the zero value when the line has no numeric address
	MSS           int            // bytes, 0 when not told
}

// A Scope says what a Row stands for.
type Scope uint8

const (
	Interval Scope = iota // one reporting interval
	Omitted               // an interval iperf3 was told to leave out (-O)
	Total                 // the whole run, the tool's own final figure
	Foreign               // said by the other side (Server Report, "Server output:")
)

// A Row is one line of the table: what one stream, or the sum of all, did in an
// interval or in the whole run.
type Row struct {
	Line       int
	Tool       Tool
	ID         string // "5", "*1" (iperf2, the other direction), "SUM", "FD1" (both directions added)
	Role       string // "TX-C", "RX-C", "TX-S", "RX-S" with iperf3 --bidir, else ""
	Scope      Scope
	Side       string // of an iperf3 total: "sender", "receiver" or ""
	Dir        Dir
	Start, End float64 // seconds since the start of the run; End > Start
	Bytes      float64 // payload in bytes; three digits in text
	Bits       float64 // bit/s; the best the row can tell
	Exact      bool    // Bytes is a count, not a rounded figure
	TCP        TCP
	UDP        UDP
	App        App
}

// TCP is what a TCP row may carry besides throughput.
type TCP struct {
	Retrans Num // segments sent again in the interval
	Cwnd    Num // congestion window, bytes
	SndWnd  Num // the peer's receive window, bytes (JSON of 3.10 and newer)
	RTT     Num // smoothed RTT of TCP_INFO, microseconds
	RTTVar  Num // its variation, microseconds
}

// UDP is what a UDP row may carry besides throughput.
type UDP struct {
	Jitter    Num // microseconds
	Lost      Num // datagrams
	Datagrams Num // lost ones included
}

// App is what iperf2 -e knows of its own reads and writes.
type App struct {
	Writes, WriteErrs Num
	Latency           Latency // write to read (with --trip-times), microseconds
	InP               Num     // bytes in progress, by Little's law
	NetPower          Num     // throughput over delay, without a unit
}

// Latency is a delay of iperf2 in microseconds.
type Latency struct{ Avg, Min, Max, SD Num }

// IsSum tells a row that adds streams up: [SUM], [SUM-2] and iperf2's [FD1].
func (r Row) IsSum() bool {
	return len(r.ID) >= 2 && (r.ID[:2] == "SU" || r.ID[:2] == "FD")
}

// Octets is the payload of the row in bytes: the count where there is one, else
// rate times length, because the printed rate is made from the true length.
func (r Row) Octets() float64 {
	if r.Exact {
		return r.Bytes
	}
	return r.Bits / 8 * (r.End - r.Start)
}

// An End says that a run ended. Run is what became known of it, Totals are the
// tool's own final rows; there are none when the run was cut off.
type End struct {
	Line   int
	Run    Start
	CC     string // the sender's congestion control, "" when not told
	Totals []Row
}

// A Message is a line in which the tool talks to its user.
type Message struct {
	Line    int
	Tool    Tool
	Version string // when the same output told it and no run began
	Text    string // as the tool said it, without control characters
	Hint    string // what to do next, "" when there is nothing to say
	Error   bool   // the tool could not do what it was asked to
}

// A Bad is a line, or a field of a line, that belongs to the tool but cannot be read.
type Bad struct {
	Line   int
	Reason string
	Text   string // the line, cut to 120 bytes, without control characters
}

// Other is a line that says nothing of a run: a shell prompt, a banner's rest,
// the output of some other program.
type Other struct {
	Line int
	Text string
}
