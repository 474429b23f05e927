package siftr_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
	"testing"

	"netwatch/parsers/siftr"
	"netwatch/parsers/siftr/siftrgen"
)

const benchBytes = 16 << 20

func generated(b *testing.B, f siftrgen.Format) []byte {
	b.Helper()
	var log bytes.Buffer
	log.Grow(benchBytes + 4096)
	if err := siftrgen.Write(&log, siftrgen.Config{Format: f, Bytes: benchBytes, Flows: 2, Seed: 1, Start: 1_796_040_000_000_000}); err != nil {
		b.Fatal(err)
	}
	return log.Bytes()
}

// BenchmarkSummary reads a log whole: all flows, all figures of a review. The plain
// readers below find the same figures of one flow's fields with bufio.Scanner,
// strings.Split and strconv; the budget is 8 times their speed.
func BenchmarkSummary(b *testing.B) {
	for _, f := range []struct {
		name   string
		format siftrgen.Format
		plain  func([]byte) plainSums
	}{
		{"hex", siftrgen.Text25, func(log []byte) plainSums { return plainText(log, hexColumns, 18) }},
		{"decimal", siftrgen.Stock130, func(log []byte) plainSums { return plainText(log, stockColumns, 27) }},
		{"binary", siftrgen.Binary25, plainBinary},
	} {
		log := generated(b, f.format)
		b.Run(f.name+"/netwatch", func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			var records int64
			for b.Loop() {
				s := new(siftr.Summary)
				d := siftr.NewDecoder(s)
				for p := log; len(p) > 0; {
					n := min(len(p), 256<<10)
					d.Write(p[:n])
					p = p[n:]
				}
				d.Close()
				records = totalRecords(s.Report(""))
			}
			b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrec/s")
		})
		b.Run(f.name+"/plain", func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			var records int64
			for b.Loop() {
				records = f.plain(log).records
			}
			b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrec/s")
		})
	}
}

// TestNoAllocations: a record costs no memory once its flow is known.
func TestNoAllocations(t *testing.T) {
	for _, f := range []siftrgen.Format{siftrgen.Text25, siftrgen.Binary25, siftrgen.Stock130} {
		var log bytes.Buffer
		if err := siftrgen.Write(&log, siftrgen.Config{Format: f, Records: 20_000, Flows: 3, Cut: true, Start: 1_796_040_000_000_000}); err != nil {
			t.Fatal(err)
		}
		s := new(siftr.Summary)
		d := siftr.NewDecoder(s)
		d.Write(log.Bytes()[:log.Len()/2])
		rest := log.Bytes()[log.Len()/2:]
		if n := testing.AllocsPerRun(1, func() {
			for len(rest) > 0 {
				k := min(len(rest), 64<<10)
				d.Write(rest[:k])
				rest = rest[k:]
			}
		}); n > 50 {
			t.Errorf("format %d: %v allocations for 10,000 records", f, n)
		}
	}
}

// plainSums are the figures of a plain reader; it keeps one set per flow.
type plainSums struct {
	records int64
	flows   map[string]*plainFlow
}

type plainFlow struct {
	records, data, bytes               [2]int64 // by direction
	sizes                              map[int64]int64
	minPayload, maxPayload             int64
	cwnd, minCwnd, maxCwnd             int64
	srtt, minSRTT, maxSRTT             int64
	inflight, minInflight, maxInflight int64
	recovery                           int64
	first, last                        float64
}

// columns are the places of the fields a review needs; -1 is none.
type columnsOf struct {
	base                                            int
	dir, time, cwnd, srtt, payload, inflight, flags int
	flow                                            []int
}

var (
	hexColumns   = columnsOf{16, 1, 2, 3, 5, 6, 16, 9, []int{0}}
	stockColumns = columnsOf{10, 0, 1, 7, 15, -1, 23, 17, []int{2, 3, 4, 5}}
)

func plainText(log []byte, c columnsOf, fields int) plainSums {
	sums := plainSums{flows: make(map[string]*plainFlow)}
	sc := bufio.NewScanner(bytes.NewReader(log))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		p := strings.Split(sc.Text(), ",")
		if len(p) != fields {
			continue
		}
		key := p[c.flow[0]]
		if len(c.flow) > 1 {
			key = strings.Join(p[c.flow[0]:c.flow[0]+len(c.flow)], ",")
		}
		number := func(i int) int64 {
			if i < 0 {
				return 0
			}
			n, err := strconv.ParseInt(p[i], c.base, 64)
			if err != nil {
				return 0
			}
			return n
		}
		var t float64
		if c.base == 16 {
			t = float64(number(c.time)) / 1000
		} else {
			t, _ = strconv.ParseFloat(p[c.time], 64)
		}
		sums.add(key, p[c.dir] == "o", t, number(c.cwnd), number(c.srtt), number(c.payload), number(c.inflight), number(c.flags))
	}
	return sums
}

func plainBinary(log []byte) plainSums {
	sums := plainSums{flows: make(map[string]*plainFlow)}
	r := bufio.NewReader(bytes.NewReader(log))
	r.ReadString('\n')
	var rec [18]uint32
	for {
		head, err := r.Peek(1)
		if err != nil || head[0] == '\n' {
			return sums
		}
		if err := binary.Read(io.LimitReader(r, siftr.RecordSize), binary.LittleEndian, &rec); err != nil {
			return sums
		}
		sums.add(strconv.FormatUint(uint64(rec[0]), 16), rec[1] == 1, float64(rec[2])/1000,
			int64(rec[3]), int64(rec[5]), int64(rec[6]), int64(rec[16]), int64(rec[9]))
	}
}

func (s *plainSums) add(key string, out bool, t float64, cwnd, srtt, payload, inflight, flags int64) {
	f := s.flows[key]
	if f == nil {
		f = &plainFlow{first: t, minCwnd: cwnd, minSRTT: srtt, minInflight: inflight, minPayload: 1 << 30, sizes: make(map[int64]int64)}
		s.flows[key] = f
	}
	s.records++
	dir := 0
	if out {
		dir = 1
	}
	f.records[dir]++
	if payload > 0 {
		f.data[dir]++
		f.bytes[dir] += payload
		f.sizes[payload]++
		f.minPayload, f.maxPayload = min(f.minPayload, payload), max(f.maxPayload, payload)
	}
	f.cwnd += cwnd
	f.minCwnd, f.maxCwnd = min(f.minCwnd, cwnd), max(f.maxCwnd, cwnd)
	f.srtt += srtt
	f.minSRTT, f.maxSRTT = min(f.minSRTT, srtt), max(f.maxSRTT, srtt)
	f.inflight += inflight
	f.minInflight, f.maxInflight = min(f.minInflight, inflight), max(f.maxInflight, inflight)
	if flags&siftr.FlagRecovery != 0 {
		f.recovery++
	}
	f.last = t
}
