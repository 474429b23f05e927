package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"netwatch/sources"
)

// A Writer writes one recording. It makes one Write call a Batch, so that a line
// is whole as soon as it is there. It is not safe for concurrent use.
type Writer struct {
	w     io.Writer
	buf   []byte
	here  string // Header.Here
	host  []byte // a Batch's word for it
	index map[*sources.Series]int
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Schema = Schema
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("recording header: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	out := &Writer{w: w, here: h.Here, index: map[*sources.Series]int{}}
	if h.Here != "" {
		name, err := json.Marshal(h.Here)
		if err != nil {
			return nil, fmt.Errorf("recording header: %w", err)
		}
		out.host = append([]byte(`,"host":`), name...)
	}
	return out, nil
}

type seriesLine struct {
	Index   int    `json:"series"`
	Host    string `json:"host,omitempty"`
	Source  string `json:"source"`
	Subject string `json:"subject"`
	Metric  string `json:"metric"`
}

type eventJSON struct {
	At      int64             `json:"at"` // microseconds after the Batch, mostly negative
	Span    int64             `json:"span,omitempty"`
	Kind    sources.EventKind `json:"kind"`
	Host    string            `json:"host,omitempty"`
	Source  string            `json:"source,omitempty"`
	Subject string            `json:"subject,omitempty"`
	Text    string            `json:"text,omitempty"`
	Old     string            `json:"old,omitempty"`
	Asked   string            `json:"asked,omitempty"`
	New     string            `json:"new,omitempty"`
	Error   bool              `json:"error,omitempty"`
	Knob    *sources.KnobSpec `json:"knob,omitempty"`
	Flow    *sources.Flow     `json:"flow,omitempty"`
}

// WriteBatch writes a Batch and the series that are new in it.
func (w *Writer) WriteBatch(b sources.Batch) error {
	w.buf = w.buf[:0]
	for i := range b.Samples {
		if err := w.define(b.Samples[i].Series); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, `{"at":`...)
	w.buf = strconv.AppendInt(w.buf, b.At.UnixMicro(), 10)
	w.buf = append(w.buf, w.host...)
	if len(b.Samples) > 0 {
		w.buf = append(w.buf, `,"s":[`...)
		for i := range b.Samples {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.sample(&b.Samples[i], b.At)
		}
		w.buf = append(w.buf, ']')
	}
	if len(b.Events) > 0 {
		if err := w.events(b); err != nil {
			return err
		}
	}
	if b.Shed > 0 {
		w.buf = append(w.buf, `,"shed":`...)
		w.buf = strconv.AppendInt(w.buf, int64(b.Shed), 10)
	}
	w.buf = append(w.buf, "}\n"...)
	_, err := w.w.Write(w.buf)
	return err
}

func (w *Writer) define(s *sources.Series) error {
	if _, known := w.index[s]; known {
		return nil
	}
	i := len(w.index)
	w.index[s] = i
	line, err := json.Marshal(seriesLine{i, cmp.Or(s.Host, w.here), s.Source, s.Subject, s.Metric.Name})
	if err != nil {
		return fmt.Errorf("recording series: %w", err)
	}
	w.buf = append(append(w.buf, line...), '\n')
	return nil
}

func (w *Writer) sample(s *sources.Sample, at time.Time) {
	w.buf = append(w.buf, '[')
	w.buf = strconv.AppendInt(w.buf, int64(w.index[s.Series]), 10)
	for _, v := range [...]int64{s.At.UnixMicro() - at.UnixMicro(), s.Span.Microseconds(), s.N} {
		w.buf = append(w.buf, ',')
		w.buf = strconv.AppendInt(w.buf, v, 10)
	}
	for _, v := range [...]float64{s.Sum, s.Min, s.Max, s.Last} {
		w.buf = append(w.buf, ',')
		if math.IsNaN(v) || math.IsInf(v, 0) { // JSON has no word for it; a source that says so has a bug
			w.buf = append(w.buf, "null"...)
			continue
		}
		w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
	}
	w.buf = append(w.buf, ']')
}

func (w *Writer) events(b sources.Batch) error {
	out := make([]eventJSON, len(b.Events))
	for i, e := range b.Events {
		out[i] = eventJSON{
			At: e.At.UnixMicro() - b.At.UnixMicro(), Span: e.Span.Microseconds(), Kind: e.Kind, Host: cmp.Or(e.Host, w.here), Source: e.Source,
			Subject: e.Subject, Text: e.Text, Old: e.Old, Asked: e.Asked, New: e.New, Error: e.Error, Knob: e.Knob, Flow: e.Flow,
		}
	}
	line, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("recording events: %w", err)
	}
	w.buf = append(w.buf, `,"e":`...)
	w.buf = append(w.buf, line...)
	return nil
}
