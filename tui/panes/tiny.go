package panes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// oneLine is the whole program in one line: "em4 tx 929 Mb/s rtt 0.151 ms aim=2".
// What does not fit goes to the next line where there is one.
func oneLine(f *Frame, g theme.Grid) {
	if f.Prompt.Long != "" {
		text := cmp.Or(f.Prompt.Tiny, f.Prompt.Short, f.Prompt.Long)
		var words []word
		for _, w := range strings.Fields(text) {
			words = append(words, word{w, theme.Question})
		}
		wrap(g, words)
		return
	}
	g.Text(0, wrap(g, f.oneLineWords(g)), theme.Warn, f.Notice)
}

// wrap writes words over as many rows as they take, and returns the row below.
func wrap(g theme.Grid, words []word) int {
	x, y := 0, 0
	for _, w := range words {
		if x > 0 && x+theme.Width(w.text) > g.W() {
			x, y = 0, y+1
		}
		x = g.Text(x, y, w.ink, w.text) + 1
	}
	return y + 1
}

// oneLineWords are as many as g has room for. Knobs that find none are counted; for the
// first of those that are turned the last figures make room.
func (f *Frame) oneLineWords(g theme.Grid) []word {
	words, knobs := f.lineWords(), f.lineKnobs()
	least := min(len(f.Session.Turned()), 1, len(knobs))
	paper := theme.NewGrid(g.W(), 0)
	for {
		for n := len(knobs); n >= least; n-- {
			if all := counted(words, knobs, n); wrap(paper, all) <= g.H() {
				return all
			}
		}
		if len(words) == 1 {
			return counted(words, knobs, 0)
		}
		words = words[:len(words)-1]
	}
}

// counted is words, n knobs, and how many more there are.
func counted(words, knobs []word, n int) []word {
	all := slices.Concat(words, knobs[:n])
	if left := len(knobs) - n; left > 0 {
		all = append(all, word{"+" + strconv.Itoa(left), theme.Warn})
	}
	return all
}

func (f *Frame) lineKnobs() []word {
	var out []word
	label := f.now()
	for _, w := range turnedFirst(f.knobWords()) {
		out = append(out, word{label + cmp.Or(w.terse, w.text), w.ink})
		label = ""
	}
	return out
}

func (f *Frame) lineWords() []word {
	s := f.Session
	out := []word{{f.iface(), theme.Strong}}
	if f.View.Host != "" {
		out[0].text += "@" + f.View.Host
	}
	if s.Simulated {
		out = append(out, word{"SIM", theme.Alert})
	}
	if since, down := s.LinkDown(f.View.Host); down {
		out = append(out, word{f.now() + f.linkWord() + " " + age(s.Now().Sub(since)), theme.Alert})
	}
	for _, host := range s.Hosts()[1:] {
		if p := s.Peer(host); !p.Up {
			out = append(out, word{host + " " + f.now() + f.peerWord(p).text, theme.Alert})
		}
	}
	if !f.live() {
		out = append(out, word{"PAUSED", theme.Warn})
	}
	if q := f.busier(); q != nil {
		out = append(out, word{q.Name + " " + f.words(q), theme.Plain})
	}
	if f.live() {
		out = append(out, f.lossWords()...)
		if f.pingLoses(f.View.Host) {
			w := f.pingWord(f.View.Host)
			out = append(out, word{"ping " + w.text, w.ink})
		}
	}
	if f.find(experiment.PingRTT) != nil {
		out = append(out, word{"rtt " + f.words(experiment.PingRTT), theme.Plain})
	}
	return out
}

// busier is the direction of the interface that moves more.
func (f *Frame) busier() *experiment.Quantity {
	var best *experiment.Quantity
	most := -1.0
	for _, q := range []*experiment.Quantity{experiment.Tx, experiment.Rx} {
		if t := f.find(q); t != nil {
			if g, _ := f.figure(t); g.Value > most {
				best, most = q, g.Value
			}
		}
	}
	return best
}

// words is the newest figure with its unit, or with its age when it is stale.
func (f *Frame) words(q *experiment.Quantity) string {
	t := f.find(q)
	g, ok := f.figure(t)
	if !ok {
		return "-"
	}
	text := strings.Replace(short(g.Value, q.Metric(), f.View.Bytes), "bit/s", "b/s", 1)
	if g.Stale {
		text += "? " + age(g.Age.Truncate(time.Second))
	}
	return text
}

// rateOnly is the rate, as much of it as fits and is still true: always the present one,
// for there is no room to say anything else.
func rateOnly(f *Frame, g theme.Grid) {
	f = f.present()
	q := f.busier()
	if q == nil || g.H() == 0 {
		return
	}
	t := f.find(q)
	v, ok := t.Now()
	if _, stale := t.Stale(f.Session.Now()); !ok || stale {
		if g.W() > 1 {
			g.Text(0, 0, theme.Warn, "?")
		}
		return
	}
	for _, text := range []string{short(v, q.Metric(), f.View.Bytes), tight(v, q.Metric())} {
		if theme.Width(text) <= g.W() {
			g.Text(0, 0, theme.Strong, text)
			return
		}
	}
}

// tight writes a rate in at most four cells: "929M".
func tight(v float64, m sources.Metric) string {
	number, unit, _ := strings.Cut(short(v, m, false), " ")
	number = strings.TrimSuffix(number[:min(len(number), 3)], ".")
	if strings.HasPrefix(unit, "b") {
		return number
	}
	return number + unit[:1]
}
