package ping

// A Review is what one file says, summed up. Its JSON is the object that
// `netwatch review --json` prints. Lists hold the lines in their order.
type Review struct {
	File        string          `json:"file"`
	Tool        string          `json:"tool"` // "ping" or "fping"
	Errors      int             `json:"errors"`
	Replies     int             `json:"replies"` // lines of replies, without duplicates; ping -q and fping -Q write none
	Duplicates  int             `json:"duplicates"`
	RTTs        []float64       `json:"rtts_ms"`      // duplicates included
	MissingSeqs []int64         `json:"missing_seqs"` // probes before the last reply that had none; null without replies
	NoAnswer    []int64         `json:"no_answer"`
	Timeouts    []int64         `json:"timeouts"`
	Stats       *ReviewCounts   `json:"stats"`
	RTT         *ReviewRTTs     `json:"rtt"`
	Messages    []string        `json:"messages"`
	BadLines    []ReviewBad     `json:"bad_lines"` // the first 100
	BadCount    int             `json:"bad_count"`
	Targets     map[string]Goal `json:"targets,omitempty"` // fping
	Pings       []*Ping         `json:"pings"`             // each ping of the file, each target of fping

	numbers
	reported map[string]bool // fping -Q: targets of the block under way; nil before the first
}

// numbers are the sequence numbers of the ping under way.
type numbers struct {
	seen        map[int64]bool
	first, last int64
	headed      bool // the first line was seen: the first number is begin
	begin       int64
}

// ReviewCounts is ping's closing line.
type ReviewCounts struct {
	Transmitted int64    `json:"transmitted"`
	Received    int64    `json:"received"`
	LossPct     *float64 `json:"loss_pct"`
	Duplicates  *float64 `json:"duplicates,omitempty"`
	Errors      *float64 `json:"errors,omitempty"`
	TimeMS      *float64 `json:"time_ms,omitempty"`
}

// ReviewRTTs is ping's own summary in milliseconds.
type ReviewRTTs struct {
	Min  *float64 `json:"min"`
	Avg  *float64 `json:"avg"`
	Max  *float64 `json:"max"`
	Dev  *float64 `json:"dev"`
	Pipe *float64 `json:"pipe,omitempty"`
	IPG  *float64 `json:"ipg_ms,omitempty"`
	EWMA *float64 `json:"ewma_ms,omitempty"`
}

// A Goal is fping's last report on one target, times in milliseconds.
type Goal struct {
	Xmt     int64    `json:"xmt"`
	Rcv     int64    `json:"rcv"`
	LossPct *float64 `json:"loss_pct"`
	Min     *float64 `json:"min"`
	Avg     *float64 `json:"avg"`
	Max     *float64 `json:"max"`
}

// A ReviewBad is a line that could not be read.
type ReviewBad struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// NewReview returns an empty Review of the file of that name. Its Add takes the
// records of a Parser, its Done finishes it.
func NewReview(file string) *Review {
	return &Review{
		File: file, Tool: "ping", RTTs: []float64{}, NoAnswer: []int64{}, Timeouts: []int64{},
		Messages: []string{}, BadLines: []ReviewBad{}, numbers: numbers{seen: map[int64]bool{}},
	}
}

// Found tells whether a ping spoke at all.
func (v *Review) Found() bool {
	return v.headed || v.Replies > 0 || v.Errors > 0 || v.Stats != nil || len(v.Targets) > 0
}

// Add takes the next record.
func (v *Review) Add(rec Record) {
	defer v.pings(rec) // after endRun, which is about the ping before
	switch r := rec.(type) {
	case Start:
		v.endRun()
		v.headed = true
		if r.Flavour == Fping {
			v.Tool = "fping"
		}
		if r.Flavour == Iputils {
			v.begin = 1
		}
	case Reply:
		v.reply(r)
	case NoAnswer:
		if r.Timeout {
			v.Timeouts = append(v.Timeouts, int64(r.Seq.V))
		} else {
			v.NoAnswer = append(v.NoAnswer, int64(r.Seq.V))
		}
	case Unreachable:
		v.Errors++
		v.Messages = append(v.Messages, r.From+": "+r.Text)
	case Counts:
		v.Stats = &ReviewCounts{r.Transmitted, r.Received, r.LossPct.ptr(), r.Duplicates.ptr(), r.Errors.ptr(), r.TimeMS.ptr()}
	case RTTs:
		v.RTT = &ReviewRTTs{r.Min.ptr(), r.Avg.ptr(), r.Max.ptr(), r.Dev.ptr(), r.Pipe.ptr(), r.IPG.ptr(), r.EWMA.ptr()}
	case Report:
		if v.Targets == nil {
			v.Targets = map[string]Goal{}
		}
		v.Targets[r.Target] = Goal{r.Xmt, r.Rcv, r.LossPct.ptr(), r.Min.ptr(), r.Avg.ptr(), r.Max.ptr()}
	case Message:
		v.Errors++
		v.Messages = append(v.Messages, r.Text)
	case Bad:
		if v.BadCount++; v.BadCount <= 100 {
			v.BadLines = append(v.BadLines, ReviewBad{Line: r.Line, Reason: r.Reason, Text: r.Text})
		}
	}
}

func (v *Review) reply(r Reply) {
	if r.Dup {
		v.Duplicates++
	} else {
		v.Replies++
	}
	if r.RTT.OK {
		v.RTTs = append(v.RTTs, r.RTT.V/1000)
	}
	seq := int64(r.Seq.V)
	if len(v.seen) == 0 {
		v.first, v.last = seq, seq
	}
	v.first, v.last = min(v.first, seq), max(v.last, seq)
	v.seen[seq] = true
}

// endRun finds the numbers that had no reply. What came after the last reply may
// still have been under way.
func (v *Review) endRun() {
	if len(v.seen) == 0 || v.Tool == "fping" {
		return
	}
	if v.MissingSeqs == nil {
		v.MissingSeqs = []int64{}
	}
	if v.headed {
		v.first = min(v.first, v.begin)
	}
	if v.last-v.first > 1<<20 {
		return
	}
	for seq := v.first; seq <= v.last; seq++ {
		if !v.seen[seq] {
			v.MissingSeqs = append(v.MissingSeqs, seq)
			v.under("").Missing++
		}
	}
	clear(v.seen)
	v.headed, v.begin = false, 0
}

// Done finishes the Review after the last record.
func (v *Review) Done() { v.endRun() }

func (n Num) ptr() *float64 {
	if !n.OK {
		return nil
	}
	return &n.V
}
