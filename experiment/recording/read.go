package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"netwatch/sources"
)

// maxLine bounds a line; a Batch of the fullest session is some hundred kilobytes.
const maxLine = 16 << 20

// maxSkipped bounds what is kept of a line before the header.
const maxSkipped = 200

// A SyntaxError is a line that is not of the format.
type SyntaxError struct {
	File   string
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// A Reader reads one recording. Series are interned: one pointer per definition.
type Reader struct {
	Header  Header
	Skipped []string // lines before the header, where NewPipeReader allowed them
	Bad     []error  // damaged lines that were left out, the first hundred
	NBad    int      // how many there were

	name    string
	in      *bufio.Scanner
	line    int
	series  map[int]*sources.Series
	metrics map[string]sources.Metric
}

// NewReader reads the header. name is for messages. A first line that is no
// netwatch header, or one of another schema, is a *SyntaxError.
func NewReader(r io.Reader, name string) (*Reader, error) { return NewPipeReader(r, name, 0) }

// NewPipeReader is NewReader for what a program says that somebody else may greet
// for: up to banner lines before the header are skipped and kept in Skipped, which
// is there also with an error.
func NewPipeReader(r io.Reader, name string, banner int) (*Reader, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	rd := &Reader{name: name, in: in, series: map[int]*sources.Series{}, metrics: map[string]sources.Metric{}}
	for _, m := range sources.Metrics() {
		rd.metrics[m.Name] = m
	}
	for in.Scan() {
		rd.line++
		err := json.Unmarshal(in.Bytes(), &rd.Header)
		switch {
		case err == nil && rd.Header.Schema == Schema:
			return rd, nil
		case err == nil && rd.Header.Schema != 0:
			return rd, rd.bad(fmt.Sprintf("recorded in schema %d, this netwatch reads schema %d", rd.Header.Schema, Schema))
		}
		if len(rd.Skipped) == banner {
			return rd, rd.bad("no netwatch recording (its first line is a JSON header)")
		}
		rd.Header = Header{}
		rd.Skipped = append(rd.Skipped, in.Text()[:min(len(in.Bytes()), maxSkipped)])
	}
	if err := in.Err(); err != nil {
		return rd, fmt.Errorf("%s: %w", name, err)
	}
	return rd, rd.bad("empty: no netwatch recording")
}

type anyLine struct {
	seriesLine
	Series  *int              `json:"series"`
	At      *int64            `json:"at"`
	Samples []json.RawMessage `json:"s"`
	Events  []eventJSON       `json:"e"`
	Shed    int               `json:"shed"`
	Answer
}

// Next returns the next Batch, io.EOF at the end. A last line that was cut is the
// end; a damaged line in the middle is left out and kept in Bad. Answers of an agent
// are skipped.
func (r *Reader) Next() (sources.Batch, error) {
	for {
		b, a, err := r.NextMessage()
		if err != nil || a == nil {
			return b, err
		}
	}
}

// NextMessage is Next for who has asked an agent: it returns a Batch or, where it
// is not nil, an Answer.
func (r *Reader) NextMessage() (sources.Batch, *Answer, error) {
	for r.in.Scan() {
		r.line++
		raw := bytes.TrimSpace(r.in.Bytes())
		if len(raw) == 0 {
			continue
		}
		var l anyLine
		if err := json.Unmarshal(raw, &l); err != nil {
			r.note(r.bad("not JSON: " + err.Error()))
			continue
		}
		switch {
		case l.Series != nil:
			if err := r.define(*l.Series, l.seriesLine); err != nil {
				r.note(err)
			}
		case l.At != nil:
			b, err := r.batch(l)
			return b, nil, err
		case l.Done != nil || l.Clock != nil:
			a := l.Answer
			return sources.Batch{}, &a, nil
		}
	}
	if err := r.in.Err(); err != nil {
		return sources.Batch{}, nil, fmt.Errorf("%s:%d: %w", r.name, r.line+1, err)
	}
	return sources.Batch{}, nil, io.EOF
}

func (r *Reader) define(i int, l seriesLine) error {
	m, known := r.metrics[l.Metric]
	if !known {
		return r.bad(fmt.Sprintf("unknown metric %q", l.Metric))
	}
	r.series[i] = &sources.Series{Host: r.host(l.Host), Source: l.Source, Subject: l.Subject, Metric: m}
	return nil
}

func (r *Reader) batch(l anyLine) (sources.Batch, error) {
	at := time.UnixMicro(*l.At)
	b := sources.Batch{At: at, Shed: l.Shed}
	for _, raw := range l.Samples {
		s, err := r.sample(raw, at)
		if err != nil {
			r.note(err)
			continue
		}
		b.Samples = append(b.Samples, s)
	}
	for _, e := range l.Events {
		b.Events = append(b.Events, sources.Event{
			At: at.Add(micros(e.At)), Span: micros(e.Span), Kind: e.Kind, Host: r.host(e.Host), Source: e.Source,
			Subject: e.Subject, Text: e.Text, Old: e.Old, Asked: e.Asked, New: e.New, Error: e.Error, Knob: e.Knob, Flow: e.Flow,
		})
	}
	return b, nil
}

// host is that of a Series or an Event: "" is the one that was recorded on.
func (r *Reader) host(name string) string {
	if name == r.Header.Here {
		return ""
	}
	return name
}

func (r *Reader) sample(raw json.RawMessage, at time.Time) (sources.Sample, error) {
	var f []*float64
	if err := json.Unmarshal(raw, &f); err != nil || len(f) < 8 {
		return sources.Sample{}, r.bad("a sample needs eight numbers")
	}
	for _, v := range f {
		if v == nil {
			return sources.Sample{}, r.bad("a sample holds null")
		}
	}
	s := r.series[int(*f[0])]
	if s == nil {
		return sources.Sample{}, r.bad(fmt.Sprintf("series %d is not defined", int(*f[0])))
	}
	return sources.Sample{
		Series: s, At: at.Add(micros(int64(*f[1]))), Span: micros(int64(*f[2])), N: int64(*f[3]),
		Sum: *f[4], Min: *f[5], Max: *f[6], Last: *f[7],
	}, nil
}

func micros(v int64) time.Duration { return time.Duration(v) * time.Microsecond }

func (r *Reader) bad(reason string) error { return &SyntaxError{r.name, max(r.line, 1), reason} }

func (r *Reader) note(err error) {
	r.NBad++
	if len(r.Bad) < 100 {
		r.Bad = append(r.Bad, err)
	}
}

// Copy hands every Batch of a recording to f until its end.
func (r *Reader) Copy(f func(sources.Batch) error) error {
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}
