// Package theme holds every colour and glyph of the screen in one place, and the
// grid of cells that they are painted on. It knows nothing of what is shown.
//
// Colour never carries meaning alone: whatever an Ink says is also said by a
// word, a sign or a place. The palette stays apart for colour-blind eyes (blue
// against orange, never red against green).
package theme

// An Ink is what a piece of the screen means; the Theme knows how that looks.
type Ink uint8

// The inks.
const (
	Plain    Ink = iota
	Dim          // what matters less: units, sources that are well, locked knobs
	Strong       // the figure or word to see first
	Rule         // axes and separators
	Selected     // the row a key acts on
	Question     // netwatch waits for an answer
	Warn         // stale, turned, paused
	Alert        // gone, failed, simulated
	Turn         // a knob was turned: its line through the charts
	Mark         // a person's mark
	Load         // a run began or ended
	Gap          // no link

	Goodput // what the load moved
	Stack   // what the interface counters saw
	Ping
	SRTT
	Cwnd
	Interrupts
	Segment
	CPU
	Packets
	Lost // lost pings, drops, retransmits

	inks // how many there are
)

// Colours says how much the terminal is told beside plain text.
type Colours uint8

const (
	Full       Colours = iota // 256 colours; Bubble Tea takes them down to what the terminal has
	Attributes                // bold, underline and reverse only (NO_COLOR)
	None                      // no escape sequence at all
)

// Options choose a Theme.
type Options struct {
	Colours Colours
	ASCII   bool // no braille: every glyph is one of ASCII
}

// Glyphs are the signs that are not letters. All of them are one cell wide in
// every locale: braille is, box drawing and arrows are not where East Asian
// widths are used.
type Glyphs struct {
	Axis rune // between the labels and the plot
	Side rune // between the plot and the figures
	Rule rune // a line across the screen
	Turn rune // the column of a knob turn
	Mark rune // the column of a person's mark
	Load rune // the column of a run's start or end
	Gap  rune // where there was no link
	Lost rune // a lost ping
}

// A Theme is how inks and glyphs look. It does not change once made.
type Theme struct {
	Glyphs
	ASCII  bool
	seq    [inks]string
	ground [inks]bool // the sequence shows on blanks
}

// New makes the Theme that the options ask for: dark, as terminals of testers are.
func New(o Options) *Theme {
	t := &Theme{ASCII: o.ASCII, Glyphs: braille}
	if o.ASCII {
		t.Glyphs = ascii
	}
	switch o.Colours {
	case Full:
		t.seq = dark
	case Attributes:
		t.seq = attributes
	}
	for i, seq := range t.seq {
		t.ground[i] = ground(seq)
	}
	return t
}

var braille = Glyphs{
	Axis: '⢸', Side: '⡇', Rule: '⠒', Turn: '⡇', Mark: '⢸', Load: '⡂', Gap: '⠌', Lost: 'x',
}

var ascii = Glyphs{
	Axis: '|', Side: '|', Rule: '-', Turn: ':', Mark: '!', Load: ';', Gap: '/', Lost: 'x',
}

// dark is the palette on a dark ground, after Okabe and Ito.
var dark = [inks]string{
	Dim:      "\x1b[0;38;5;246m",
	Strong:   "\x1b[0;1;38;5;255m",
	Rule:     "\x1b[0;38;5;240m",
	Selected: "\x1b[0;1;38;5;255;48;5;24m",
	Question: "\x1b[0;1;38;5;16;48;5;220m",
	Warn:     "\x1b[0;38;5;220m",
	Alert:    "\x1b[0;1;38;5;209m",
	Turn:     "\x1b[0;1;38;5;227m",
	Mark:     "\x1b[0;1;38;5;255m",
	Load:     "\x1b[0;38;5;250m",
	Gap:      "\x1b[0;38;5;131m",

	Goodput:    "\x1b[0;38;5;117m",
	Stack:      "\x1b[0;38;5;68m",
	Ping:       "\x1b[0;38;5;215m",
	SRTT:       "\x1b[0;38;5;222m",
	Cwnd:       "\x1b[0;38;5;36m",
	Interrupts: "\x1b[0;38;5;139m",
	Segment:    "\x1b[0;38;5;152m",
	CPU:        "\x1b[0;38;5;173m",
	Packets:    "\x1b[0;38;5;110m",
	Lost:       "\x1b[0;1;38;5;203m",
}

// attributes is what NO_COLOR leaves.
var attributes = [inks]string{
	Strong:   "\x1b[0;1m",
	Selected: "\x1b[0;7m",
	Question: "\x1b[0;1;7m",
	Warn:     "\x1b[0;1m",
	Alert:    "\x1b[0;1;4m",
	Turn:     "\x1b[0;1m",
	Mark:     "\x1b[0;1m",
	Lost:     "\x1b[0;1m",
}
