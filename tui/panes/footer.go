package panes

import "netwatch/tui/theme"

// keys of each page, the longest form first.
var keys = [Pages][]string{
	Charts:   {"q quit  ? help  space pause  h/l time  +/- zoom  Tab page  a t T S knob  K knobs  y scale  u units  m mark  i load", "q ? space h/l +/-  a t T S K knob  y u m i  Tab", "q ? spc a t T S K m Tab"},
	Settings: {"q quit  ? help  Tab page  j/k rows  u units  a t T S knob  K knobs", "q ? Tab j/k a t T K"},
	Flows:    {"q quit  ? help  Tab page  j/k rows  u units", "q ? Tab j/k"},
	Knobs:    {"q quit  ? help  Tab page  j/k select  left/right turns  U undo last  R restore all", "q ? Tab j/k  <- -> turn  U undo  R restore"},
	Events:   {"q quit  ? help  Tab page  j/k rows  g G ends  m mark", "q ? Tab j/k g G m"},
	Help:     {"q quit  ? or Esc back  j/k rows", "q ? j/k"},
}

// keys are those of the page, with the ones for several ends where there are peers.
func (f *Frame) keys() []string {
	page := keys[f.View.Page]
	long, short := "  b which ends", "  b"
	switch {
	case !f.many() || f.View.Page == Help || f.View.Page == Events:
		return page
	case f.View.Page == Charts:
		long, short = "  b which ends  o other end", "  b o"
	}
	out := []string{page[0] + long}
	for _, k := range page {
		out = append(out, k+short)
	}
	return append(out, page...)
}

// footer is the question at hand, else a word about the last key, else the keys.
func footer(f *Frame, g theme.Grid) {
	switch {
	case f.Prompt.Long != "":
		question(f.Prompt, g)
		return
	case f.Notice != "":
		for y, row := range theme.FoldWhole(f.Notice, g.W()) {
			g.Text(0, y, theme.Warn, row)
		}
		return
	}
	zoom := span(f.View.Window)
	for _, k := range f.keys() {
		if theme.Width(k)+2+theme.Width(zoom) <= g.W() {
			g.Text(0, 0, theme.Dim, k)
			break
		}
	}
	if f.View.Page == Charts {
		g.Right(g.W(), 0, theme.Dim, zoom)
	}
}
