package ping

// A Flavour is the family of a ping program's output.
type Flavour string

const (
	Iputils Flavour = "iputils" // sequence numbers begin at 1
	BSD     Flavour = "bsd"     // FreeBSD, macOS, busybox: they begin at 0
	Fping   Flavour = "fping"
)

// A Num is a number the output may or may not carry.
type Num struct {
	V  float64
	OK bool
}

func num(v float64) Num { return Num{V: v, OK: true} }

// A Record is one of Start, Reply, NoAnswer, Unreachable, Counts, RTTs, Report,
// Message, Bad and Other.
type Record interface{ record() }

func (Start) record()       {}
func (Reply) record()       {}
func (NoAnswer) record()    {}
func (Unreachable) record() {}
func (Counts) record()      {}
func (RTTs) record()        {}
func (Report) record()      {}
func (Message) record()     {}
func (Bad) record()         {}
func (Other) record()       {}

// A Start is the first line of a ping.
type Start struct {
	Line    int
	Flavour Flavour
	Target  string // as it was asked for
	Addr    string // the address in use, "" when the line has none
}

// A Reply is an answer to one probe.
type Reply struct {
	Line  int
	From  string
	Seq   Num  // counted on past 65535; absent when the line has none
	RTT   Num  // microseconds; absent when the payload had no room for a time stamp
	Stamp Num  // Unix seconds, with ping -D
	Dup   bool // the probe was answered before
}

// NoAnswer is a probe that had no answer when the next one was sent (iputils -O),
// or whose time ran out (macOS, fping): then Timeout is set.
type NoAnswer struct {
	Line    int
	From    string // fping: the target
	Seq     Num
	Stamp   Num
	Timeout bool
}

// Unreachable is an ICMP error that came back for a probe.
type Unreachable struct {
	Line  int
	From  string
	Seq   Num // FreeBSD does not tell
	Stamp Num
	Text  string // "Destination Host Unreachable"
}

// Counts is the closing line of a ping.
type Counts struct {
	Line        int
	Transmitted int64
	Received    int64 // without duplicates
	LossPct     Num
	Duplicates  Num
	Errors      Num
	TimeMS      Num // how long it all took (iputils)
}

// RTTs is the closing line about round trips, milliseconds. Duplicates are in it.
type RTTs struct {
	Line               int
	Min, Avg, Max, Dev Num // busybox has no deviation
	Pipe               Num // probes in flight at once
	IPG, EWMA          Num // ping -A and -f of iputils
}

// A Report is fping's line about one target, of a time (-Q) or of the whole run.
// Times are in milliseconds, absent when nothing came back.
type Report struct {
	Line          int
	Target        string
	Xmt, Rcv      int64
	LossPct       Num
	Min, Avg, Max Num
}

// A Message is a line in which ping talks to its user.
type Message struct {
	Line int
	Text string // as ping said it, without control characters
	Hint string // what to do next, "" when there is nothing to say
}

// A Bad is a line that belongs to ping but cannot be read.
type Bad struct {
	Line   int
	Reason string
	Text   string // cut to 120 bytes, without control characters
}

// Other is a line that says nothing of a ping.
type Other struct {
	Line int
	Text string
}
