package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxRequest bounds a line of requests.
const maxRequest = 64 << 10

// A Request is what netwatch asks of an agent: one JSON line on the agent's
// standard input, of which one field is set. Each has an ID of the asker's choice,
// and each but Clock is answered by a Done.
//
//	{"turn":{"id":1,"knob":"aim","value":"2"}}
//	{"restore":{"id":2}}
type Request struct {
	Turn    *Turn  `json:"turn,omitempty"`
	Restore *Ask   `json:"restore,omitempty"` // put back what this agent turned
	Keep    *Keep  `json:"keep,omitempty"`    // leave what this agent turned so far as it is
	Clock   *Clock `json:"clock,omitempty"`   // what time is it there?
	Watch   *Watch `json:"watch,omitempty"`   // send samples, too
}

// A Turn asks for a knob to be turned.
type Turn struct {
	ID    int64  `json:"id"`
	Knob  string `json:"knob"`
	Value string `json:"value"`
	Seen  int64  `json:"seen,omitempty"` // the newest Up that the asker knew: by it the agent tells a request that comes late
}

// An Ask asks for something that needs no more words.
type Ask struct {
	ID int64 `json:"id"`
}

// A Keep asks for knobs to be left as they are: those it names, else all that were turned.
type Keep struct {
	ID    int64    `json:"id"`
	Knobs []string `json:"knobs,omitempty"`
	Seen  int64    `json:"seen,omitempty"` // as in a Turn
}

// A Watch asks for the agent's samples. What is dear to read is read each second at
// most, whatever Every is.
type Watch struct {
	ID    int64 `json:"id"`
	Every int64 `json:"every"` // microseconds between samples; a Batch comes at least each second
}

// A Clock asks for the time, and answers: it is also what shows each side that the
// other one is there. Times are microseconds since 1970.
type Clock struct {
	ID  int64 `json:"id"`
	At  int64 `json:"at"`            // when it was asked, by the asker's clock; echoed
	Now int64 `json:"now,omitempty"` // when it was answered, by the agent's clock
	Up  int64 `json:"up,omitempty"`  // when it was answered, in microseconds since the agent began: no clock that is set moves it

	// Silence, of a question, is the asker's promise to speak so often (microseconds)
	// that an agent that hears nothing for as long may take it for gone. Without it
	// only the end of the input tells.
	Silence int64 `json:"silence,omitempty"`
}

// An Answer is what an agent says to a Request, among its Batches. One field is set.
type Answer struct {
	Done  *Done  `json:"done,omitempty"`
	Clock *Clock `json:"clock,omitempty"`
}

// Done tells that a Request was worked off. How a turn went is told by the events
// before it; Error is for what could not be tried, or not be put back. An agent that
// ends says so with ID 0, when it has put back what it turned.
type Done struct {
	ID      int64    `json:"id"`
	Error   string   `json:"error,omitempty"`
	Changed []Change `json:"changed,omitempty"` // every knob that this agent would put back now, oldest turn first
	Left    []Change `json:"left,omitempty"`    // of a Restore: what others turned since and is left so, or put back themselves; Value is what it is
}

// A Change is a knob that is not as it was.
type Change struct {
	Knob  string `json:"knob"`
	Start string `json:"start"` // what it is put back to
	Value string `json:"value"` // as it was left
}

var errRequest = errors.New("a request is one of turn, restore, keep, clock and watch, with what it needs")

func (r Request) check() error {
	n := 0
	for _, set := range []bool{r.Turn != nil, r.Restore != nil, r.Keep != nil, r.Clock != nil, r.Watch != nil} {
		if set {
			n++
		}
	}
	if n != 1 || r.Turn != nil && r.Turn.Knob == "" || r.Watch != nil && r.Watch.Every <= 0 {
		return errRequest
	}
	return nil
}

// AppendRequest writes a request as its line.
func AppendRequest(b []byte, r Request) ([]byte, error) {
	if err := r.check(); err != nil {
		return b, err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return b, fmt.Errorf("request: %w", err)
	}
	return append(append(b, line...), '\n'), nil
}

// Requests reads the requests of one asker.
type Requests struct {
	in   *bufio.Scanner
	line int
}

// NewRequests reads from r.
func NewRequests(r io.Reader) *Requests {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 4<<10), maxRequest)
	return &Requests{in: in}
}

// Next returns the next request, io.EOF at the end. A line that is none, also a
// last one that was cut, is a *SyntaxError; the next call goes on after it. Any
// other error is the end.
func (r *Requests) Next() (Request, error) {
	for r.in.Scan() {
		r.line++
		raw := bytes.TrimSpace(r.in.Bytes())
		if len(raw) == 0 {
			continue
		}
		var q Request
		err := json.Unmarshal(raw, &q)
		if err == nil {
			err = q.check()
		}
		if err != nil {
			return Request{}, &SyntaxError{"requests", r.line, err.Error()}
		}
		return q, nil
	}
	if err := r.in.Err(); err != nil {
		return Request{}, fmt.Errorf("requests:%d: %w", r.line+1, err)
	}
	return Request{}, io.EOF
}

// WriteAnswer writes an answer of an agent.
func (w *Writer) WriteAnswer(a Answer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	_, err = w.w.Write(append(line, '\n'))
	return err
}
