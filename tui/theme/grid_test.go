package theme

import (
	"reflect"
	"strings"
	"testing"
)

func TestGridString(t *testing.T) {
	tests := []struct {
		name  string
		theme Options
		paint func(Grid)
		want  string
	}{
		{"blank", Options{}, func(Grid) {}, "\n"},
		{"plain text, blanks at the end left out", Options{}, func(g Grid) { g.Text(1, 0, Plain, "ab  ") }, " ab\n"},
		{"one sequence for a run of an ink", Options{}, func(g Grid) { g.Text(0, 0, Dim, "ab"); g.Text(2, 0, Strong, "c") },
			dark[Dim] + "ab" + dark[Strong] + "c" + reset + "\n"},
		{"a run goes on over blanks", Options{}, func(g Grid) { g.Put(0, 0, 'a', Dim); g.Put(2, 0, 'b', Dim) },
			dark[Dim] + "a b" + reset + "\n"},
		{"ground ends at a blank", Options{}, func(g Grid) { g.Put(0, 0, 'a', Selected); g.Put(2, 0, 'b', Selected) },
			dark[Selected] + "a" + reset + " " + dark[Selected] + "b" + reset + "\n"},
		{"tint colours blanks too", Options{Colours: Attributes}, func(g Grid) { g.Put(0, 1, 'a', Plain); g.Tint(1, Selected) },
			"\n" + attributes[Selected] + "a     " + reset},
		{"no escapes at all", Options{Colours: None}, func(g Grid) { g.Text(0, 0, Alert, "a"); g.Tint(0, Question) }, "a     \n"},
		{"what is outside is cut off", Options{}, func(g Grid) { g.Text(-1, 0, Plain, "abcdefgh"); g.Text(0, 2, Plain, "x"); g.Right(2, 1, Plain, "abc") }, "bcdefg\nbc"},
		{"a part cannot be left", Options{}, func(g Grid) { g.Sub(2, 0, 2, 1).Text(0, 0, Plain, "abc"); g.Sub(5, 1, 9, 9).Text(0, 0, Plain, "xy") }, "  ab\n     x"},
		{"wide and moving runes", Options{}, func(g Grid) { g.Text(0, 0, Plain, "é漢\x1b→") }, "é???\n"},
		{"ascii only", Options{ASCII: true}, func(g Grid) { g.Text(0, 0, Plain, "a⣿é") }, "a??\n"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			g := NewGrid(6, 2)
			c.paint(g)
			if got := g.String(New(c.theme)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNegativeSizes(t *testing.T) {
	g := NewGrid(-1, 5)
	g.Text(0, 0, Plain, "x")
	g.Sub(3, 3, -4, -4).Put(0, 0, 'x', Plain)
	if g.W() != 0 || g.At(0, 0) != (Cell{}) {
		t.Errorf("a grid without width holds %v", g.At(0, 0))
	}
}

// TestGlyphsAreNarrow holds every glyph to one cell in every locale, and the
// ASCII ones to ASCII.
func TestGlyphsAreNarrow(t *testing.T) {
	for _, glyphs := range []Glyphs{braille, ascii} {
		v := reflect.ValueOf(glyphs)
		for i := range v.NumField() {
			r := rune(v.Field(i).Int())
			if narrow(r) != r {
				t.Errorf("%s: %q may be two cells wide", v.Type().Field(i).Name, r)
			}
			if glyphs == ascii && r > '~' {
				t.Errorf("%s: %q is not ASCII", v.Type().Field(i).Name, r)
			}
		}
	}
}

// TestNoColour holds NO_COLOR to attributes: no sequence sets a colour.
func TestNoColour(t *testing.T) {
	for ink, seq := range attributes {
		if strings.Contains(seq, "38;") || strings.Contains(seq, "48;") {
			t.Errorf("ink %d sets a colour: %q", ink, seq)
		}
	}
	for ink, seq := range New(Options{Colours: None}).seq {
		if seq != "" {
			t.Errorf("ink %d has a sequence: %q", ink, seq)
		}
	}
}
