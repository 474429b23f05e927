package tail_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources/tail"
)

// A reader keeps what a Tail says: data as it is, notices as [words].
type reader struct {
	log    bytes.Buffer
	behind []int64
	end    string
	looks  int
}

var words = map[tail.Kind]string{
	tail.Opened: "[opened]", tail.Absent: "[absent]", tail.Unreadable: "[unreadable]",
	tail.Truncated: "[truncated]", tail.Replaced: "[replaced]", tail.MovedAway: "[moved]",
}

func (r *reader) Data(p []byte, behind int64) {
	r.log.Write(p)
	r.behind = append(r.behind, behind)
}

func (r *reader) Notice(n tail.Notice) {
	r.log.WriteString(words[n.Kind])
	if n.Kind == tail.Opened {
		r.end = string(n.End)
	}
}

func (r *reader) Looked() { r.looks++ }

// A step changes the file; the test lets the Tail look once after each.
type step func(t *testing.T, path string)

func write(s string) step {
	return func(t *testing.T, path string) { put(t, path, s, os.O_CREATE|os.O_APPEND) }
}

// rewrite truncates and writes, as an enable of siftr2 does, within one look.
func rewrite(s string) step {
	return func(t *testing.T, path string) { put(t, path, s, os.O_CREATE|os.O_TRUNC) }
}

func put(t *testing.T, path, s string, flags int) {
	t.Helper()
	f, err := os.OpenFile(path, flags|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, path string) {
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
}

// toOld appends to the file that rename moved: the kernel writes to the inode.
func toOld(s string) step {
	return func(t *testing.T, path string) { put(t, path+".old", s, os.O_APPEND) }
}

func hole(size int64) step {
	return func(t *testing.T, path string) {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

func directory(t *testing.T, path string) {
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestHazards(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
		want  string
	}{
		{"grows", []step{write("a\nb"), write("c\n"), write("d")}, "[opened]a\nbc\nd"},
		{"appears later", []step{nil, write("a")}, "[absent][opened]a"},
		{"truncated to less", []step{write("header 1\nabc"), rewrite("h2\n"), write("d")}, "[opened]header 1\nabc[truncated]h2\nd"},
		{"truncated and grown past the old offset", []step{write("header 1\nabc"), rewrite("header 2\nabcdefgh"), write("i")},
			"[opened]header 1\nabc[truncated]header 2\nabcdefghi"},
		{"truncated and grown to the same size", []step{write("header 1\nabc"), rewrite("header 2\nxyz")},
			"[opened]header 1\nabc[truncated]header 2\nxyz"},
		{"truncated to nothing", []step{write("header 1\nabc"), rewrite(""), write("h2")}, "[opened]header 1\nabc[truncated]h2"},
		{"removed and made anew", []step{write("abc"), remove, write("de")}, "[opened]abc[moved][replaced][opened]de"},
		{"removed and made anew within one look", []step{write("abc"), both(remove, write("de"))}, "[opened]abc[replaced][opened]de"},
		{"moved and still written", []step{write("abc"), rename, toOld("d"), toOld("e")}, "[opened]abc[moved]de"},
		{"moved, written, and another one at the path",
			[]step{write("abc"), rename, both(toOld("d"), write("new")), write("er")}, "[opened]abc[moved]d[replaced][opened]newer"},
		{"rm and touch while the old one is written", []step{write("abc"), both(rename, write("")), toOld("d"), write("new")},
			"[opened]abcd[replaced][opened]new"},
		{"NUL hole", []step{write("ab"), hole(4), write("c")}, "[opened]ab\x00\x00c"},
		{"a directory, then a file", []step{directory, both(remove, write("a"))}, "[unreadable][opened]a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "siftr.log")
			synctest.Test(t, func(t *testing.T) {
				r := new(reader)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				for i, s := range tt.steps {
					if s != nil {
						s(t, path)
					}
					if i == 0 {
						go func() { done <- (&tail.Tail{Path: path}).Run(ctx, r) }()
						time.Sleep(30 * time.Millisecond) // steps fall between looks
					}
					time.Sleep(time.Second)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if got := r.log.String(); got != tt.want {
					t.Errorf("\n got %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

func both(a, b step) step {
	return func(t *testing.T, path string) {
		a(t, path)
		b(t, path)
	}
}

// TestBacklog reads a file of several chunks in one look, and says how much is left.
func TestBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "siftr.log")
	text := strings.Repeat("0123456789abcdef", 600<<10/16)
	write(text)(t, path)
	synctest.Test(t, func(t *testing.T) {
		r := new(reader)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- (&tail.Tail{Path: path}).Run(ctx, r) }()
		synctest.Wait()
		if got := r.log.String(); got != "[opened]"+text {
			t.Errorf("read %d bytes in the first look, want all %d", len(got), len(text))
		}
		if want := []int64{344 << 10, 88 << 10, 0}; len(r.behind) != 3 || r.behind[0] != want[0] || r.behind[1] != want[1] || r.behind[2] != want[2] {
			t.Errorf("behind = %v, want %v", r.behind, want)
		}
		if want := text[len(text)-64<<10:]; r.end != want {
			t.Errorf("End has %d bytes, want the last %d", len(r.end), len(want))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestLooks counts the looks of ten idle seconds: 10 a second at an open file.
func TestLooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "siftr.log")
	write("a")(t, path)
	synctest.Test(t, func(t *testing.T) {
		r := new(reader)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
		defer cancel()
		if err := (&tail.Tail{Path: path}).Run(ctx, r); err != nil {
			t.Error(err)
		}
		if r.looks != 100 {
			t.Errorf("%d looks in 10 s, want 100", r.looks)
		}
	})
}

// TestUnreadable needs a user that permissions hold back.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	path := filepath.Join(t.TempDir(), "siftr.log")
	write("a")(t, path)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := new(reader)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		(&tail.Tail{Path: path}).Run(ctx, r)
		if got := r.log.String(); got != "[unreadable]" {
			t.Errorf("got %q", got)
		}
	})
}
