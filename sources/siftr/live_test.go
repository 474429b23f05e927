package siftr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
	"netwatch/sources/siftr"
)

// follow runs a Source on a file within synctest's clock, with a look between steps.
func follow(t *testing.T, before string, steps ...func(path string)) *sink {
	t.Helper()
	s := new(sink)
	path := filepath.Join(t.TempDir(), "x.log")
	if before != "" {
		appendTo(t, path, before)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- siftr.New(path).Run(ctx, s) }()
		time.Sleep(30 * time.Millisecond)
		for _, step := range steps {
			step(path)
			time.Sleep(time.Second)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// A log for the clock of synctest, which starts at midnight UTC 2000-01-01.
const epoch = 946684800

func header(second int) string {
	return fmt.Sprintf("enable_time_secs=%d\tenable_time_usecs=000000\tsiftrver=2.5\trec_fmt=txt\tsysver=FreeBSD 15.0\n", epoch+second)
}

// record has payload 5a8 (1448) and cwnd 38c0 (14528), at ms after the enable.
func record(dir string, ms int) string {
	return fmt.Sprintf("dd7fc950,%s,%x,38c0,3fffc000,2710,5a8,fe88,100a4,10003e1,2,38270,832c,7bad,100a4,0,5a8,0\n", dir, ms)
}

func footer(second, records int) string {
	return fmt.Sprintf("disable_time_secs=%d\tdisable_time_usecs=000000\tglobal_flow_cnt=1\tring_drops=3\tmax_str_size=101\tgen_flowid_cnt=0\t"+
		"flow_list=dd7fc950,4,10.1.1.1,54321,10.1.1.2,5201,freebsd,cubic,1448,1,8,8,%d,%d;\n", epoch+second, records, records)
}

func TestLive(t *testing.T) {
	add := func(text string) func(string) { return func(path string) { appendTo(t, path, text) } }
	rewrite := func(text string) func(string) {
		return func(path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path, text)
		}
	}
	move := func(path string) {
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
	}
	anew := func(text string) func(string) {
		return func(path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path, text)
		}
	}
	touch := func(path string) { move(path); appendTo(t, path, "") }
	toOld := func(text string) func(string) { return func(path string) { appendTo(t, path+".old", text) } }
	hole := func(path string) {
		info, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, info.Size()+100)
		}
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, record("o", 300))
	}
	tests := []struct {
		name    string
		before  string // in the file when the Source starts
		steps   []func(string)
		records float64
		notes   []string // substrings, in order
	}{
		{"grows in the middle of a line", "", []func(string){add(header(0) + record("o", 100)[:20]), add(record("o", 100)[20:] + record("o", 200))}, 2,
			[]string{"not there yet"}},
		{"empty at first", "", []func(string){add(""), add(header(0) + record("o", 100))}, 1, []string{"not there yet", "empty so far"}},
		{"footer", header(0), []func(string){add(record("o", 100) + footer(1, 1))}, 1,
			[]string{"ended, 1 records, 1 flows", "3 records were lost in the kernel's ring"}},
		{"finished before the start", header(-60) + record("o", 100) + footer(-30, 1), []func(string){add("")}, 0,
			[]string{"finished at "}},
		{"a new cycle behind a finished one", header(-60) + record("o", 100) + footer(-30, 1),
			[]func(string){add(header(0) + record("o", 100) + record("o", 200))}, 2, []string{"finished at "}},
		{"runs since before the start", header(-60) + record("o", 59000), []func(string){add(record("o", 60100))}, 2, nil},
		{"left without an end before the start", header(-9000) + record("o", 100) + record("o", 200)[:30], []func(string){add("")}, 0,
			[]string{"x.log: not finished, its last record is of " + day(-9000) + ": not drawn, use netwatch review "}},
		{"left without an end, goes on", header(-9000) + record("o", 100), []func(string){add(""), add(record("o", 9002100) + record("o", 9002200))}, 2,
			[]string{"not finished, its last record is of "}},
		{"left without an end, then another cycle", header(-9000) + record("o", 100), []func(string){add(header(0) + record("o", 100))}, 1,
			[]string{"not finished, its last record is of "}},
		{"goes on after an hour", header(-9000) + record("o", 100) + record("o", 8999000), []func(string){add(record("o", 9000100))}, 2, nil},
		{"truncated and grown past the old offset", header(0) + record("o", 1), []func(string){rewrite(header(1) + record("o", 2) + record("o", 3))}, 3,
			[]string{"began anew"}},
		{"moved away", header(0) + record("o", 1), []func(string){move, toOld(record("o", 2))}, 2,
			[]string{"moved away or removed, still following it"}},
		{"two cycles appended", header(0), []func(string){add(record("o", 1) + footer(1, 1)), add(header(2) + record("o", 1)), add(footer(4, 1))}, 2,
			[]string{"ended, 1 records", "3 records were lost", "ended, 1 records", "3 records were lost"}},
		{"a header behind half a record", header(0) + record("o", 1) + record("o", 2)[:30], []func(string){add(header(1) + record("o", 2))}, 2,
			[]string{"line 3: the start of a line that was never finished"}},
		{"removed and made anew", header(0) + record("o", 1), []func(string){anew(header(1) + record("o", 2))}, 2, []string{"replaced by another file"}},
		{"rm and touch while the module goes on", header(0) + record("o", 1), []func(string){touch, toOld(record("o", 2))}, 2, nil},
		{"a footer in two pieces", header(0) + record("o", 1), []func(string){add(footer(1, 1)[:70]), add(footer(1, 1)[70:])}, 1,
			[]string{"ended, 1 records", "3 records were lost"}},
		{"a hole", header(0) + record("o", 1), []func(string){hole}, 2, []string{"line 3: 100 NUL bytes (a hole in the file)"}},
		{"no header after the log file was changed", record("o", 1) + footer(1, 1), []func(string){add("")}, 0, []string{"the header is lost", "ended, 1 records", "3 records"}},
		{"no siftr log", "Nov 30 12:00:00 host syslogd: restart\n", []func(string){add("")}, 0, []string{`is no siftr log: line 1: not a siftr log line: "Nov 30 12:00:00 host syslogd: restart"`}},
		{"bad lines are counted, not listed", header(0) + strings.Repeat("x\x1b[31m\n", 100), []func(string){add(record("o", 1)), add(""), add(""), add(""), add(""), add("")}, 1,
			[]string{"line 2: 1 fields", "line 3: 1 fields where siftr2 2.3 to 2.5 has 18 (and 98 more)"}},
		{"refused by name", string(readLog(t, "siftr2-2.3-dev19fields-1flow")), []func(string){add("")}, 0, []string{"siftr2 2.3 in development"}},
		{"times unknown", record("o", 1) + record("o", 2), []func(string){add("")}, 0, []string{"the header is lost"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := follow(t, tt.before, tt.steps...)
			if got := s.total("dd7fc950", sources.Records).Sum; got != tt.records {
				t.Errorf("%v records, want %v", got, tt.records)
			}
			if got := s.total("dd7fc950", sources.Goodput).Sum; got != 1448*tt.records {
				t.Errorf("goodput %v octets, want %v", got, 1448*tt.records)
			}
			notes := s.texts(sources.SourceNote)
			if len(notes) != len(tt.notes) {
				t.Fatalf("notes %q, want %q", notes, tt.notes)
			}
			for i, want := range tt.notes {
				if !strings.Contains(notes[i], want) {
					t.Errorf("note %q, want %q in it", notes[i], want)
				}
				if strings.ContainsRune(notes[i], 0x1b) {
					t.Errorf("note %q has control characters", notes[i])
				}
			}
		})
	}
}

func day(second int) string { return time.Unix(epoch+int64(second), 0).Format("2006-01-02 15:04:05") }

// TestUnwritten: of a log that nobody wrote for a while before the start nothing is drawn
// but what comes then.
func TestUnwritten(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  time.Duration // its last writing before the start
		records float64
		note    bool
	}{{"a minute ago", time.Minute, 1, true}, {"a second ago", time.Second, 2, false}} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(sink)
			path := filepath.Join(t.TempDir(), "x.log")
			appendTo(t, path, header(-120)+record("o", 60000))
			synctest.Test(t, func(t *testing.T) {
				written := time.Now().Add(-tt.before)
				if err := os.Chtimes(path, written, written); err != nil {
					t.Fatal(err)
				}
				go siftr.New(path).Run(t.Context(), s)
				time.Sleep(time.Second)
				synctest.Wait()
				if notes := s.texts(sources.SourceNote); (len(notes) == 1 && strings.Contains(notes[0], "not finished")) != tt.note {
					t.Errorf("notes %q", notes)
				}
				appendTo(t, path, record("o", 121500))
				time.Sleep(time.Second)
				synctest.Wait()
				if got := s.total("dd7fc950", sources.Records).Sum; got != tt.records {
					t.Errorf("%v records are drawn, want %v", got, tt.records)
				}
			})
		})
	}
}

// TestSilenceIsZero: between two records two seconds apart nothing was sent, which is
// a rate of zero, while cwnd has no reading there.
func TestSilenceIsZero(t *testing.T) {
	s := new(sink)
	log := header(0) + record("o", 50) + record("o", 2050)
	siftr.FromReader("log", strings.NewReader(log)).Run(t.Context(), s)
	good := s.total("dd7fc950", sources.Goodput)
	if good.Sum != 2*1448 || good.Span != 2100*time.Millisecond || good.Min != 0 || good.Max != 14480 {
		t.Errorf("goodput %+v, want 2896 octets in 2.1 s, 0 to 14480 a second", good)
	}
	if c := s.total("dd7fc950", sources.Cwnd); c.N != 2 || c.Span != 200*time.Millisecond {
		t.Errorf("cwnd %+v, want 2 readings over 0.2 s", c)
	}
}

// TestManyFlows follows 64 of 100 connections and takes up a late busy one.
func TestManyFlows(t *testing.T) {
	var b strings.Builder
	b.WriteString(header(0))
	for i := range 100 {
		b.WriteString(strings.Replace(record("o", 10), "dd7fc950", fmt.Sprintf("%08x", i+1), 1))
	}
	for range 8 {
		b.WriteString(strings.Replace(record("o", 20), "dd7fc950", fmt.Sprintf("%08x", 100), 1))
	}
	b.WriteString(footer(1, 1))
	s := new(sink)
	siftr.FromReader("log", strings.NewReader(b.String())).Run(t.Context(), s)
	subjects := make(map[string]bool)
	for _, v := range s.samples {
		subjects[v.Series.Subject] = true
	}
	// Connections 1 to 64 were first; 100 has 9 records, the second of which is twice
	// what the quietest has, and takes its place.
	if len(subjects) != 65 || s.total("00000064", sources.Records).Sum != 8 {
		t.Errorf("%d connections, %v records of the busy one; want 65 and 8", len(subjects), s.total("00000064", sources.Records).Sum)
	}
	if notes := s.texts(sources.SourceNote); !strings.Contains(notes[0], "36 flows were too many to follow (36 records)") {
		t.Errorf("notes %q", notes)
	}
}

// TestBehind: a backlog of more than one read is said, and its end.
func TestBehind(t *testing.T) {
	log := header(-60) + strings.Repeat(record("o", 1000), 8000)
	s := follow(t, log, func(string) {})
	notes := s.texts(sources.SourceNote)
	left := fmt.Sprintf("59s behind (%.1f MB to read)", float64(len(log)-256<<10)/1e6) // after the first read
	if len(notes) != 2 || !strings.Contains(notes[0], left) || !strings.Contains(notes[1], "caught up") {
		t.Errorf("notes %q", notes)
	}
	if got := s.total("dd7fc950", sources.Records).Sum; got != 8000 {
		t.Errorf("%v records, want 8000", got)
	}
}

// TestPipe: what a pipe brings is said without waiting for its end, and a cancelled
// context ends Run and closes the pipe.
func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		s := new(sink)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- siftr.FromReader("pipe", r).Run(ctx, s) }()
		io.WriteString(w, header(0)+record("o", 10)+record("o", 20)[:30])
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.total("dd7fc950", sources.Records).Sum; got != 1 {
			t.Errorf("%v records after a second, want 1", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(w, "x"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write after the end: %v", err)
		}
	})
}
