package panes

import "netwatch/tui/theme"

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
	{"K", "all knobs: left/right or a digit turns, U undo, R restore all"},
	{"i", "start the load again"},
	{"Ctrl-L Ctrl-Z", "redraw, suspend"},
	{"", ""},
	{"goodput", "payload that the load or TCP moved; what settings are compared by"},
	{"tx rx", "what the interface counters of the kernel saw (with TSO: super-packets)"},
	{"929? 4.2s", "a figure whose source is silent, and for how long"},
	{"*", "a knob that is not as it was at the start"},
	{"-", "no value"},
}

func helpPage(f *Frame, g theme.Grid) {
	from := first(f.View.Row, len(helpText)+1, g.H())
	lines := append([][2]string{{"in the charts", glyphWords(f.Theme)}}, helpText...)
	for y, l := range lines[from:] {
		g.Text(1, y, theme.Strong, l[0])
		g.Text(17, y, theme.Plain, l[1])
	}
}

func glyphWords(t *theme.Theme) string {
	return string(t.Turn) + " knob turned  " + string(t.Mark) + " mark  " + string(t.Load) + " run  " +
		string(t.Gap) + " no link  " + string(t.Lost) + " lost ping"
}
