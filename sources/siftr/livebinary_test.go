package siftr_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"netwatch/sources"
)

// binaryRecord is record in 72 bytes, of a connection without RFC 1323 options.
func binaryRecord(dir uint32, ms int) string {
	var b []byte
	for _, v := range []uint32{0xdd7fc950, dir, uint32(ms), 0x38c0, 0x3fffc000, 0x2710, 1448, 0xfe88, 0xfe88, 0x200, 2, 0x38270, 0x832c, 0x7bad, 0x100a4, 0, 0x5a8, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return string(b)
}

// TestLiveBinary: a binary log in a real file, whose writes split a record at every one of
// its bytes.
func TestLiveBinary(t *testing.T) {
	head := strings.Replace(header(0), "rec_fmt=txt", "rec_fmt=binary", 1)
	for cut := 1; cut < 72; cut++ {
		first, second, third := binaryRecord(1, 100), binaryRecord(1, 200), binaryRecord(1, 300)
		add := func(text string) func(string) { return func(path string) { appendTo(t, path, text) } }
		s := follow(t, head, add(first+second[:cut]), add(second[cut:]+third[:71]), add(third[71:]+"\n"+footer(1, 3)))
		if got := s.total("dd7fc950", sources.Records).Sum; got != 3 {
			t.Errorf("cut at %d: %v records, want 3", cut, got)
		}
		if got := s.total("dd7fc950", sources.Goodput).Sum; got != 3*1448 {
			t.Errorf("cut at %d: goodput %v octets, want %v", cut, got, 3*1448)
		}
		for _, v := range s.samples {
			if v.Series.Subject != "dd7fc950" {
				t.Fatalf("cut at %d: a flow %q that there is not", cut, v.Series.Subject)
			}
		}
		if notes := s.texts(sources.SourceNote); len(notes) != 2 || !strings.Contains(notes[0], "ended, 3 records, 1 flows") {
			t.Errorf("cut at %d: %q", cut, notes)
		}
	}
}

// TestLiveRecordBeforeTheHeader: stock siftr may write a record before the header of its
// cycle, here in a write of its own.
func TestLiveRecordBeforeTheHeader(t *testing.T) {
	stock := func(ms int) string {
		return fmt.Sprintf("o,%d.%06d,10.1.1.1,54321,10.1.1.2,5201,353747,400827,2,465987,65700,8,8,4,1448,6480,1,16778209,230000,434407,222173,65700,0,221544,0,1380275588,63\n",
			epoch+ms/1000, ms%1000*1000)
	}
	head := fmt.Sprintf("enable_time_secs=%d\tenable_time_usecs=000000\tsiftrver=1.3.0\tsysname=FreeBSD\tsysver=1400000\tipmode=4\n", epoch)
	add := func(text string) func(string) { return func(path string) { appendTo(t, path, text) } }
	s := follow(t, "", add(stock(50)[:40]), add(stock(50)[40:]), add(head+stock(1100)), add(stock(2100)+stock(2200)))
	n := 0.0
	for _, v := range s.samples {
		if v.Series.Metric == sources.Records {
			n += v.Sum
		}
	}
	if n != 4 {
		t.Errorf("%v records, want 4", n)
	}
	for _, note := range s.texts(sources.SourceNote) {
		if !strings.Contains(note, "not there yet") {
			t.Errorf("note %q", note)
		}
	}
}
