// Package lines cuts what a child prints into lines and takes out of them what a
// terminal would not show. It is the one leaf that line parsers share; it knows
// nothing of what the lines say.
package lines

import (
	"bytes"
	"strings"
)

// A Splitter cuts chunks into lines. A chunk may end anywhere.
type Splitter struct {
	Max  int // bytes of the longest line that is kept whole
	rest []byte
	long bool // the current line passed Max; the rest of it is thrown away
}

// Last hands out the line that the input's end cut off, "" when there is none.
func (s *Splitter) Last() (text string, tooLong bool) {
	text, tooLong = string(s.rest), s.long
	s.rest, s.long = nil, false
	return text, tooLong
}

// Push hands every finished line to line, with tooLong set for a line that was cut.
func (s *Splitter) Push(chunk []byte, line func(text string, tooLong bool)) {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			s.keep(chunk)
			return
		}
		if len(s.rest) == 0 && !s.long && i <= s.Max {
			line(string(chunk[:i]), false)
		} else {
			s.keep(chunk[:i])
			line(string(s.rest), s.long)
			s.rest, s.long = s.rest[:0], false
		}
		chunk = chunk[i+1:]
	}
}

func (s *Splitter) keep(b []byte) {
	if room := s.Max - len(s.rest); len(b) > room {
		b, s.long = b[:room], true
	}
	s.rest = append(s.rest, b...)
}

// Clean takes out what a terminal would not show: escape sequences, control
// characters, and whatever a carriage return wiped away. Tabs become blanks.
func Clean(s string) string {
	s = strings.TrimRight(s, "\r")
	if i := strings.LastIndexByte(s, '\r'); i >= 0 {
		s = s[i+1:]
	}
	if !strings.ContainsFunc(s, IsControl) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i = skipEscape(s, i)
			continue
		}
		r, n := decode(s[i:])
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case !IsControl(r):
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// IsControl: C0, DEL and C1 controls, broken UTF-8, and the marks that turn the
// direction of text around.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffd ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func decode(s string) (r rune, n int) {
	for i, c := range s {
		if i > 0 {
			return r, i
		}
		r = c
	}
	return r, len(s)
}

// skipEscape returns the index behind the escape sequence at s[i] (ECMA-48: CSI,
// OSC and other strings, or two characters).
func skipEscape(s string, i int) int {
	i++
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '[':
		for i++; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
		}
	case ']', 'P', 'X', '^', '_':
		for ; i < len(s) && s[i] != 7; i++ {
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
	default:
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
	}
	return min(i+1, len(s))
}
