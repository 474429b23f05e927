package recording

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"netwatch/sources"
)

var requestLines = []struct {
	line string
	want Request
}{
	{`{"turn":{"id":1,"knob":"aim","value":"2"}}`, Request{Turn: &Turn{ID: 1, Knob: "aim", Value: "2"}}},
	{`{"restore":{"id":2}}`, Request{Restore: &Ask{2}}},
	{`{"keep":{"id":3}}`, Request{Keep: &Keep{ID: 3}}},
	{`{"keep":{"id":6,"knobs":["aim","tso"]}}`, Request{Keep: &Keep{ID: 6, Knobs: []string{"aim", "tso"}}}},
	{`{"clock":{"id":4,"at":1732964400123456}}`, Request{Clock: &Clock{ID: 4, At: 1732964400123456}}},
	{`{"turn":{"id":7,"knob":"aim","value":"2","seen":1500000}}`, Request{Turn: &Turn{ID: 7, Knob: "aim", Value: "2", Seen: 1500000}}},
	{`{"keep":{"id":8,"seen":1500000}}`, Request{Keep: &Keep{ID: 8, Seen: 1500000}}},
	{`{"clock":{"id":9,"at":1732964400123456,"silence":10000000}}`, Request{Clock: &Clock{ID: 9, At: 1732964400123456, Silence: 10000000}}},
	{`{"watch":{"id":5,"every":100000}}`, Request{Watch: &Watch{5, 100000}}},
}

func TestRequests(t *testing.T) {
	var all []byte
	for _, c := range requestLines {
		b, err := AppendRequest(nil, c.want)
		if err != nil || string(b) != c.line+"\n" {
			t.Errorf("%q, %v; want %s", b, err, c.line)
		}
		all = append(all, b...)
	}
	in := NewRequests(iotest.OneByteReader(bytes.NewReader(all)))
	for _, c := range requestLines {
		got, err := in.Next()
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	if _, err := in.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	for _, line := range []string{
		"hello", "{}", `{"turn":{"id":1}}`, `{"turn":null}`, `{"turn":7}`, `{"watch":{"id":1}}`, `{"watch":{"id":1,"every":-5}}`,
		`{"keep":{"id":1},"restore":{"id":2}}`, `{"turn":{"id":1,"knob":"aim","va`, `{"explode":{"id":1}}`,
	} {
		in := NewRequests(strings.NewReader("\n" + line + "\n" + `{"keep":{"id":9}}` + "\n"))
		_, err := in.Next()
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Line != 2 {
			t.Errorf("%s: %v", line, err)
		}
		if q, err := in.Next(); err != nil || q.Keep == nil || q.Keep.ID != 9 {
			t.Errorf("after %s: %+v, %v", line, q, err)
		}
	}
	if _, err := AppendRequest(nil, Request{}); err == nil {
		t.Error("an empty request was written")
	}
	if _, err := NewRequests(strings.NewReader(strings.Repeat("x", maxRequest+1))).Next(); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	broken := errors.New("broken")
	if _, err := NewRequests(iotest.ErrReader(broken)).Next(); !errors.Is(err, broken) {
		t.Errorf("a broken pipe: %v", err)
	}
}

// Answers stand among the Batches, and who reads a recording does not see them.
func TestAnswers(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Header{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Answer{
		{Done: &Done{ID: 1, Error: "refused", Changed: []Change{{"aim", "1", "2"}}}},
		{Clock: &Clock{ID: 4, At: 5, Now: 6}},
	}
	for _, a := range want {
		if err := errors.Join(w.WriteAnswer(a), w.WriteBatch(sources.Batch{At: start})); err != nil {
			t.Fatal(err)
		}
	}
	if line := `{"done":{"id":1,"error":"refused","changed":[{"knob":"aim","start":"1","value":"2"}]}}`; !strings.Contains(buf.String(), line+"\n") {
		t.Errorf("wrote %s", buf.String())
	}
	r, err := NewReader(bytes.NewReader(buf.Bytes()), "x")
	if err != nil {
		t.Fatal(err)
	}
	var got []Answer
	for range 4 {
		_, a, err := r.NextMessage()
		if err != nil {
			t.Fatal(err)
		}
		if a != nil {
			got = append(got, *a)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, batches, err := readAll(&buf); err != nil || len(batches) != 2 {
		t.Errorf("%d batches, %v", len(batches), err)
	}
}

func TestBanner(t *testing.T) {
	const head, batch = `{"netwatch":1,"host":"r1"}` + "\n", `{"at":5}` + "\n"
	for _, c := range []struct {
		name, in, bad string
		skipped       int
	}{
		{"none", head + batch, "", 0},
		{"two lines", "Welcome to r1\n{\"message\":\"of the day\"}\n" + head + batch, "", 2},
		{"too many", "a\nb\nc\nd\n" + head, "x:4: no netwatch recording", 3},
		{"only a banner", "Welcome\n", "x:1: empty", 1},
		{"another schema", "Welcome\n" + `{"netwatch":2}` + "\n", "x:2: recorded in schema 2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewPipeReader(strings.NewReader(c.in), "x", 3)
			if (err == nil) != (c.bad == "") || err != nil && !strings.HasPrefix(err.Error(), c.bad) {
				t.Fatalf("%v, want %q", err, c.bad)
			}
			if len(r.Skipped) != c.skipped {
				t.Errorf("skipped %q", r.Skipped)
			}
			if c.bad != "" {
				return
			}
			if b, err := r.Next(); err != nil || b.At.UnixMicro() != 5 || r.Header.Host != "r1" {
				t.Errorf("%v, %v, header %+v", b, err, r.Header)
			}
		})
	}
	r, err := NewPipeReader(strings.NewReader(strings.Repeat("y", 1000)+"\n"), "x", 3)
	if err == nil || len(r.Skipped) != 1 || len(r.Skipped[0]) != maxSkipped {
		t.Errorf("%v, %q", err, r.Skipped)
	}
}

func FuzzRequests(f *testing.F) {
	for _, c := range requestLines {
		f.Add([]byte(c.line + "\n"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, pieces := NewRequests(bytes.NewReader(in)), NewRequests(iotest.OneByteReader(bytes.NewReader(in)))
		for range len(in) + 1 {
			a, err := whole.Next()
			b, errB := pieces.Next()
			if d := cmp.Diff(a, b); d != "" || (err == nil) != (errB == nil) {
				t.Fatal(d, err, errB)
			}
			if err == nil {
				again, err := AppendRequest(nil, a)
				if err != nil {
					t.Fatalf("%+v was read and cannot be written: %v", a, err)
				}
				if c, err := NewRequests(bytes.NewReader(again)).Next(); err != nil || cmp.Diff(a, c) != "" {
					t.Fatalf("%s came back as %+v, %v", again, c, err)
				}
			}
			var bad *SyntaxError
			if err != nil && !errors.As(err, &bad) {
				return
			}
		}
		t.Fatal("it does not end")
	})
}
