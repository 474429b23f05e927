package lines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "[  5] 0.00-1.00 sec", "[  5] 0.00-1.00 sec"},
		{"carriage return at the end", "row\r", "row"},
		{"progress overwritten", "  3%\r 40%\rrow", "row"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title of a window", "\x1b]0;evil\x07row", "row"},
		{"string ended by ST", "\x1bPq#0\x1b\\row", "row"},
		{"clear screen, bell, delete", "\x1b[2Ja\x07b\x7fc", "abc"},
		{"tab", "a\tb", "a b"},
		{"C1 control", "a\u009b31mb", "a31mb"},
		{"broken UTF-8", "a\xffb", "ab"},
		{"text turned around", "a\u202eb", "ab"},
		{"escape at the end", "a\x1b", "a"},
		{"umlaut", "übertragen", "übertragen"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSplitterAtEveryCut(t *testing.T) {
	const in = "one\n\nthree is too long\nfour\nfive"
	type line struct {
		Text string
		Long bool
	}
	want := []line{{"one", false}, {"", false}, {"three is t", true}, {"four", false}}
	for cut := range len(in) {
		s := Splitter{Max: 10}
		var got []line
		for _, part := range []string{in[:cut], in[cut:]} {
			s.Push([]byte(part), func(text string, long bool) { got = append(got, line{text, long}) })
		}
		if last, long := s.Last(); last != "five" || long {
			t.Errorf("cut at %d: last %q %v", cut, last, long)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("cut at %d: %s", cut, d)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2Jb\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if out := Clean(s); strings.ContainsFunc(out, IsControl) || len(out) > len(s) {
			t.Errorf("%q became %q", s, out)
		}
	})
}
