package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netwatch/parsers/siftr"
)

// series prints the records of one flow as CSV.
func (r *reviewer) series(in io.Reader) error {
	w := bufio.NewWriter(r.cmd.OutOrStdout())
	h := &seriesHandler{want: strings.ToLower(r.flow), csv: csv.NewWriter(w)}
	h.csv.Write([]string{"direction", "seconds", "cwnd", "ssthresh", "srtt_us", "payload"})
	d := siftr.NewDecoder(h)
	if err := copyChunks(d, in); err != nil {
		return err
	}
	d.Close()
	h.csv.Flush()
	if err := w.Flush(); err != nil {
		return err
	}
	if h.n == 0 {
		return fmt.Errorf("no flow %s in it; there are: %s", r.flow, strings.Join(slices.Sorted(maps.Keys(h.seen)), " "))
	}
	return nil
}

// A seriesHandler writes the records of the flow that is wanted.
type seriesHandler struct {
	want  string
	csv   *csv.Writer
	cycle *siftr.Cycle
	names map[*siftr.Flow]string
	seen  map[string]bool
	n     int64
}

func (h *seriesHandler) Begin(c *siftr.Cycle) {
	h.cycle, h.names = c, map[*siftr.Flow]string{}
	if h.seen == nil {
		h.seen = map[string]bool{}
	}
}

func (h *seriesHandler) End(*siftr.Cycle) {}
func (h *seriesHandler) Bad(siftr.Bad)    {}

func (h *seriesHandler) Record(rec *siftr.Record) {
	name, known := h.names[rec.Flow]
	if !known {
		if rec.Flow.Local.IsValid() {
			name = rec.Flow.Local.String() + ">" + rec.Flow.Remote.String()
		} else {
			name = fmt.Sprintf("%08x", rec.Flow.ID)
		}
		h.names[rec.Flow] = name
		h.seen[name] = true
	}
	if name != h.want && (!rec.Flow.HasID || fmt.Sprintf("%08x", rec.Flow.ID) != h.want) {
		return
	}
	h.n++
	seconds, srtt, payload, ssthresh := "", "", "", ""
	if rec.Has(siftr.FieldTime) && h.cycle.HasHeader {
		seconds = strconv.FormatFloat(float64(rec.Time-h.cycle.Header.Time)/1e6, 'f', 6, 64)
	}
	if rec.Has(siftr.FieldSRTT) {
		srtt = strconv.FormatFloat(rec.SRTT, 'f', -1, 64)
	}
	if rec.Has(siftr.FieldPayload) {
		payload = strconv.FormatUint(uint64(rec.Payload), 10)
	}
	if rec.SsthreshSet() {
		ssthresh = strconv.FormatUint(uint64(rec.Ssthresh), 10)
	}
	h.csv.Write([]string{rec.Dir.String(), seconds, strconv.FormatUint(uint64(rec.Cwnd), 10), ssthresh, srtt, payload})
}
