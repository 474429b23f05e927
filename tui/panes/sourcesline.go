package panes

import (
	"cmp"
	"slices"
	"strings"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

// Ranks of what is said of sources.
const (
	rankFigures = iota + 1 // it goes before what is only ok
	rankLoss               // before everything
)

// A sourceWords is one source on the line.
type sourceWords struct {
	name  string
	state word
	brief []string // shorter forms of the state, where not all fit: the events have the sentence
	rank  int      // the highest come first then
}

// sourcesLine says of each source whether it speaks, how fast, and if not, why.
// Where they do not all fit, a word stands for a reason (the events have the sentence),
// and what is lost comes first, then those in trouble. One that does not fit whole is
// left out, and ".." stands for it: a figure that is cut is another figure. Of the hosts
// that are not looked at only trouble is said, and how the link to them is. A source has
// no past: what is said is of now, and labelled so where the charts are not.
func sourcesLine(f *Frame, g theme.Grid, others bool) {
	label := g.Text(0, 0, theme.Warn, f.now())
	f, g = f.present(), g.Sub(label, 0, g.W()-label, g.H())
	all := f.sourcesOf(others)
	if n := f.Session.Shed() + f.Session.Late(); n > 0 && (others || f.View.Host == "") {
		all = append(all, sourceWords{name: "late or shed", state: word{count(int64(n)), theme.Warn}})
	}
	if p := f.Session.Peer(f.View.Host); len(all) == 0 && (p == nil || p.Up) {
		g.Text(0, 0, theme.Dim, "no source has spoken yet")
	}
	if over := lineWidth(all) - g.W(); over > 0 {
		shorten(all, over)
	}
	room, left := g.W(), theme.Plain // left is the ink of those left out
	if lineWidth(all) > room {
		slices.SortStableFunc(all, func(a, b sourceWords) int { return b.before(a) })
		room -= len("  ..")
	}
	x := 0
	for _, w := range all {
		if x+w.width() > room {
			left = max(left, theme.Dim, w.state.ink)
			continue
		}
		x = g.Text(x, 0, theme.Plain, w.name+" ")
		x = g.Text(x, 0, w.state.ink, w.state.text) + 2
	}
	if left != theme.Plain {
		g.Text(x, 0, left, "..")
	}
}

func (f *Frame) sourcesOf(others bool) []sourceWords {
	var all, trouble []sourceWords
	for _, st := range f.Session.Sources() {
		if f.standsIn(st) {
			continue
		}
		w := f.wordsOf(st)
		switch p := f.Session.Peer(st.Host); {
		case p != nil && !p.Gone.IsZero(): // it is gone as a whole
		case st.Host == f.View.Host:
			all = append(all, w)
			if st.Name == "nic" {
				all = append(all, f.losses()...)
			}
		case w.state.ink != theme.Dim:
			w.name = f.Called(st.Host) + ":" + st.Name
			trouble = append(trouble, w)
		}
	}
	if !others {
		return all
	}
	trouble = append(trouble, f.lossesElsewhere()...)
	for _, host := range f.Session.Hosts()[1:] {
		if p := f.Session.Peer(host); p.Up { // else the header has it
			w := f.peerWord(p)
			trouble = append(trouble, sourceWords{name: host, state: w, brief: shorter(w.text, ", ")})
		}
	}
	return append(all, trouble...)
}

// standsIn says whether a source is only the name of an input whose tool is known by now.
func (f *Frame) standsIn(st *experiment.SourceState) bool {
	return st.Name == "load" && !st.Ran && st.Gone == "" && !st.NoteError &&
		slices.ContainsFunc(f.Session.Sources(), func(o *experiment.SourceState) bool {
			return o.Host == st.Host && strings.HasPrefix(o.Name, "iperf") && o.Up
		})
}

func lineWidth(all []sourceWords) int {
	width := -2
	for _, w := range all {
		width += w.width() + 2
	}
	return width
}

func (w sourceWords) width() int { return theme.Width(w.name) + 1 + theme.Width(w.state.text) }

// before orders what does not all fit: losses, then by how loud it is, then figures.
func (w sourceWords) before(o sourceWords) int {
	if w.rank == rankLoss || o.rank == rankLoss {
		return cmp.Compare(w.rank, o.rank)
	}
	return cmp.Or(cmp.Compare(w.state.ink, o.state.ink), cmp.Compare(w.rank, o.rank))
}

// shorten takes the brief form of the longest until over cells are saved.
func shorten(all []sourceWords, over int) {
	for over > 0 {
		longest, saves := 0, 0
		for i, w := range all {
			if len(w.brief) == 0 {
				continue
			}
			if n := theme.Width(w.state.text) - theme.Width(w.brief[0]); n > saves {
				longest, saves = i, n
			}
		}
		if saves == 0 {
			return
		}
		w := &all[longest]
		w.state.text, w.brief = w.brief[0], w.brief[1:]
		over -= saves
	}
}

// shorter is the part before sep, where that says something: one word there is the name
// of a tool.
func shorter(text, sep string) []string {
	if part, _, found := strings.Cut(text, sep); found && strings.Contains(part, " ") {
		return []string{part}
	}
	return nil
}

func (f *Frame) wordsOf(st *experiment.SourceState) sourceWords {
	w := sourceWords{name: st.Name, state: f.sourceWord(st)}
	switch {
	case st.Gone != "" && st.Name == "agent": // it was there, and told no figures
		w.brief = []string{"gone"}
	case st.Gone != "" && st.Last.IsZero():
		w.brief = append(shorter(st.Gone, ": "), "none")
	case st.Gone != "":
		w.brief = append(shorter(st.Gone, ": "), "ended")
	case w.state.ink == theme.Alert:
		w.brief = append(shorter(w.state.text, ": "), "error")
	case st.Name == "nic":
		w.rank = rankFigures
	case st.Name == "ping":
		w.brief = shorter(w.state.text, ", ")
	}
	return w
}

func (f *Frame) sourceWord(st *experiment.SourceState) word {
	now := f.Session.Now()
	if st.Ran && (st.Gone == "" || st.Gone == "ended") { // of a load the run is what one wants to know
		if !f.Session.RunBy(st.Host, st.Name) {
			return word{"ended", theme.Dim}
		}
		if st.Last.IsZero() {
			return word{"ok", theme.Dim}
		}
	}
	if st.Gone != "" {
		return word{st.Gone, theme.Warn}
	}
	if d, behind := st.Behind(now); behind {
		return word{age(d) + " behind", theme.Warn}
	}
	if st.Name == "ping" && f.pingLoses(st.Host) {
		return f.pingWord(st.Host)
	}
	if d, stale := st.Stale(now); stale {
		if _, _, on := f.Session.Run(); !on && strings.HasPrefix(st.Name, "siftr") { // without a load its silence is no trouble
			return word{"silent " + age(d), theme.Dim}
		}
		return word{"? " + age(d), theme.Warn}
	}
	if st.NoteError && st.Last.IsZero() {
		return word{strings.TrimPrefix(st.Note, st.Name+" "), theme.Alert}
	}
	switch {
	case !st.Last.IsZero():
	case st.Name == "agent", st.Name == "knobs": // they tell events, no figures
		return word{"ok", theme.Dim}
	default:
		return word{"waits", theme.Dim}
	}
	switch {
	case strings.HasPrefix(st.Name, "siftr"):
		if r := f.records(st); r > 0 && st.Sampled != "" {
			return word{rate(r) + " rec/s sampled", theme.Warn}
		} else if r > 0 {
			return word{rate(r) + " rec/s", theme.Dim}
		}
	case st.Name == "ping":
		if w := f.pingWord(st.Host); w.text != "" {
			return w
		}
	case st.Name == "nic" && st.Host == f.View.Host:
		return word{cmp.Or(f.nicWord(), "ok"), theme.Dim}
	}
	return word{"ok", theme.Dim}
}

// records is how many log records a second come in, over all flows.
func (f *Frame) records(st *experiment.SourceState) float64 {
	var sum float64
	for _, fl := range f.Session.Flows() {
		if fl.Host == st.Host {
			sum += fl.Records(st.Name, f.Session.Now())
		}
	}
	return sum
}
