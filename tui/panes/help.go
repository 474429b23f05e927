package panes

import (
	"strings"

	"netwatch/tui/theme"
)

// helpText is what ? shows: keys on the left, their meaning right of them.
var helpText = [][2]string{
	{"q", "quit; asks what becomes of turned knobs"},
	{"Ctrl-C", "stop the load; the second time quit and restore"},
	{"? Esc", "this page, and back"},
	{"Tab 1..6", "pages: charts, settings, flows, knobs, events, help"},
	{"space", "freeze the view; data go on"},
	{"h l left right", "back and forth in time"},
	{"+ -", "zoom, 30 s to 1 h"},
	{"j k g G", "rows: down, up, first, last"},
	{"y", "y scale: fit to what is shown, or from zero"},
	{"u", "throughput in bit/s or byte/s"},
	{"m", "mark this moment in every chart"},
	{"a", "interrupt moderation: then a digit, applied at once"},
	{"t", "TSO of the interface (asks: the link may drop)"},
	{"T", "TSO of the TCP stack (no reset)"},
	{"S", "siftr log of the next run; S S leaves it on"},
	{"K", "all knobs: left/right turns, Enter types, U undo, R restore all"},
	{"i", "start the load again"},
	{"Ctrl-L Ctrl-Z", "redraw, suspend"},
	{"", ""},
	{"goodput", "payload that the load or TCP moved; what settings are compared by"},
	{"tx rx", "what the interface counters of the kernel saw (with TSO: super-packets)"},
	{"seg est.", "octets by packets at the interface, headers and all, while no log tells the segment"},
	{"tso factor", "packets on the wire for each one handed to the card"},
	{"irq shared", "interrupts of a line that other devices raise too; irq asserts: as the card counts"},
	{"cap, low lat", "what the driver's moderation allows at most now, and its state where that tells one"},
	{"929? 4.2s", "a figure whose source is silent, and for how long"},
	{"tcp 1 of 3", "a chart of one connection while others move data, too: the load is more"},
	{"now", "on a view that is paused: what is of the present, not of the charts' time"},
	{"sampled", "a log that holds only some of the packets (ppl, a filter, lost records)"},
	{"burst pkt/s", "segments in a data packet (seg by mss); packets a second that a log holds"},
	{"recov sndlim", "share of a log's packets in loss recovery, and with a full send buffer"},
	{"tso -gso", "a setting in short, as ifconfig has it: tso on, gso off"},
	{"first, this", "the first setting and the present one, where their names have no room; other: the newest"},
	{"drops, errors", "of the interface, both directions, while there are any; each then has a chart"},
	{"* and -", "a knob that is not as it was at the start, and no value"},
}

// helpMeaning is the column of the meanings.
const helpMeaning = 17

func helpPage(f *Frame, g theme.Grid) {
	lines := f.helpLines(g.W())
	from := first(f.View.Row, len(lines), g.H())
	for y, l := range lines[from:] {
		g.Text(1, y, theme.Strong, l[0])
		g.Text(helpMeaning, y, theme.Plain, l[1])
	}
}

// endsHelp is what helps where there are peers.
var endsHelp = [][2]string{
	{"o", "the other end's charts; where two stand side by side, the next peer's"},
	{"b", "what knob keys act on: all ends at once, or one of them"},
	{"aim=2|1", "here 2, there 1; one value is that of all ends"},
	{"aim=2?", "its host is gone: it may have been put back"},
}

// helpLines are the lines of the page at a width, long meanings folded.
func (f *Frame) helpLines(w int) [][2]string {
	all := append([][2]string{{"in the charts", glyphWords(f.Theme)}}, helpText...)
	if f.many() {
		all = append(all, endsHelp...)
	}
	var lines [][2]string
	for _, l := range all {
		key := l[0]
		for _, part := range theme.Fold(l[1], w-helpMeaning) {
			lines = append(lines, [2]string{key, strings.ReplaceAll(part, bound, " ")})
			key = ""
		}
	}
	return lines
}

// bound keeps a glyph and its words on one line where text is folded.
const bound = "\u00a0"

func glyphWords(t *theme.Theme) string {
	var out []string
	for _, g := range []struct {
		glyph rune
		words string
	}{{t.Turn, "knob turned"}, {t.Mark, "mark"}, {t.Load, "run"}, {t.Gap, "no link"}, {t.Lost, "lost ping"}} {
		out = append(out, string(g.glyph)+bound+strings.ReplaceAll(g.words, " ", bound))
	}
	return strings.Join(out, "  ")
}
