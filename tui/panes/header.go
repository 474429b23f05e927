package panes

import (
	"cmp"
	"strconv"
	"strings"

	"netwatch/tui/theme"
)

// header writes the interface and what must never be missed on one line: gone,
// simulated, paused, the run. The card's facts take what is left between; where both
// ends stand side by side each has its own line. Where no line of the sources stands
// below, losses are told here.
func header(f *Frame, g theme.Grid, both, sourced bool) {
	name := f.name()
	if both {
		name = f.names()
	}
	words := f.status(false, !sourced)
	if rowWidth(words)+theme.Width(name.text) > g.W() {
		words = f.status(true, !sourced)
	}
	x := g.Text(0, 0, name.ink, name.text)
	right := g.W()
	for _, w := range words {
		right -= theme.Width(w.text)
		g.Text(right, 0, w.ink, w.text)
		right -= 2
	}
	if !both {
		g.Text(x+2, 0, theme.Dim, facts(f.facts(), right-x-2))
	}
}

// rowWidth is how many cells words take with two blanks before each.
func rowWidth(words []word) int {
	n := 0
	for _, w := range words {
		n += theme.Width(w.text) + 2
	}
	return n
}

// whole cuts words off the end until the rest fits.
func whole(words string, width int) string {
	for theme.Width(words) > max(width, 0) {
		words = words[:max(strings.LastIndexByte(words, ' '), 0)]
	}
	return words
}

// facts cuts words about a card off the end until the rest fits. A number without its
// unit and "mtu" without its number go, too.
func facts(words string, width int) string {
	cut := strings.TrimRight(whole(words, width), " ")
	for cut != "" && len(cut) < len(words) {
		last := cut[strings.LastIndexByte(cut, ' ')+1:]
		if last != "mtu" && strings.Trim(last, "0123456789.") != "" {
			break
		}
		cut = strings.TrimRight(strings.TrimSuffix(cut, last), " ")
	}
	return cut
}

// name is "em4@s1", or "em4 GONE 3.1s", or "r1 GONE 3.1s".
func (f *Frame) name() word {
	if p := f.Session.Peer(f.View.Host); p != nil && !p.Up {
		w := f.peerWord(p)
		return word{p.Host + " " + f.now() + w.text, w.ink}
	}
	name := f.iface()
	if since, down := f.Session.LinkDown(f.View.Host); down {
		if f.View.Host != "" {
			name += "@" + f.View.Host
		}
		return word{name + " " + f.now() + f.linkWord() + " " + age(f.Session.Now().Sub(since)), theme.Alert}
	}
	if host := cmp.Or(f.View.Host, f.Host); host != "" {
		name += "@" + host
	}
	return word{name, theme.Strong}
}

type word struct {
	text string
	ink  theme.Ink
}

// status returns the words at the right end of the header, rightmost first. Those that
// stand right of PAUSED are of now, and it says so.
func (f *Frame) status(brief, losses bool) []word {
	s, now := f.Session, f.Session.Now()
	out := []word{{"idle", theme.Dim}}
	if n, since, on := s.Run(); on {
		out[0] = word{"run " + strconv.Itoa(n) + " " + stopwatch(now.Sub(since)), theme.Strong}
	}
	if left := s.Phase().Settled.Sub(now); left > 0 && len(s.Events()) > 0 {
		out = append(out, word{"settling", theme.Warn})
	}
	out = append(out, f.peersAway()...)
	if losses {
		out = append(out, f.present().lossWords()...)
	}
	if !f.live() {
		behind := word{"PAUSED " + age(now.Sub(f.right())), theme.Warn}
		if !brief {
			behind.text += " behind"
		}
		behind.text += ", now:"
		out = append(out, behind)
	}
	if f.Ended {
		out = append(out, word{"ENDED", theme.Warn})
	}
	if s.Simulated {
		sim := word{"SIMULATED", theme.Alert}
		if brief {
			sim.text = "SIM"
		}
		out = append(out, sim)
	}
	return out
}
