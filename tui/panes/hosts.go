package panes

import (
	"cmp"
	"strconv"
	"strings"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

// of is the Frame as the charts of another host are drawn from it.
func (f *Frame) of(host string) *Frame {
	c := *f
	c.View.Host = host
	return &c
}

// many says whether there are peers.
func (f *Frame) many() bool { return len(f.Session.Hosts()) > 1 }

// Called is a host in words: a peer's name, this host's, or "here".
func (f *Frame) Called(host string) string { return cmp.Or(host, f.Host, "here") }

// find is the Track to show for a Quantity on the host that is looked at.
func (f *Frame) find(q *experiment.Quantity) *experiment.Track {
	if f.live() {
		return f.Session.Find(q, f.View.Host)
	}
	return f.Session.FindAt(q, f.View.Host, f.View.End, f.View.Window)
}

// iface is the watched interface of the host that is looked at.
func (f *Frame) iface() string { return f.Session.InterfaceOf(f.View.Host) }

// facts are the words about its card. Without a link there is no speed, and of a card
// that is gone nothing holds.
func (f *Frame) facts() string {
	if _, down := f.Session.LinkDown(f.View.Host); down {
		return ""
	}
	if p := f.Session.Peer(f.View.Host); p != nil {
		return p.Facts
	}
	return f.Facts
}

// onTheRight is the host whose charts stand beside those of this one.
func (f *Frame) onTheRight() string { return cmp.Or(f.View.Host, f.Session.Hosts()[1]) }

// SideBySide says whether a screen of a size shows charts of two hosts beside each
// other.
func (f *Frame) SideBySide(w, h int) bool {
	return w >= twoColumns && h >= sourcesFrom && f.View.Page == Charts && f.many()
}

// peerWord is how a peer is: gone, not there yet, or what is known of its clock.
func (f *Frame) peerWord(p *experiment.PeerState) word {
	switch {
	case !p.Gone.IsZero():
		return word{"GONE " + age(f.Session.Now().Sub(p.Gone)), theme.Alert}
	case !p.Up:
		return word{"not there yet", theme.Warn}
	}
	return word{cmp.Or(p.Words, "ok"), theme.Dim}
}

// peersAway are the peers that are not there, as words of the header; the one that
// is looked at is in its name.
func (f *Frame) peersAway() []word {
	var out []word
	for _, host := range f.Session.Hosts()[1:] {
		if p := f.Session.Peer(host); !p.Up && host != f.View.Host {
			w := f.peerWord(p)
			out = append(out, word{host + " " + w.text, w.ink})
		}
	}
	return out
}

// names are the hosts whose charts stand side by side, for the header.
func (f *Frame) names() word {
	return word{f.Session.Interface + "@" + f.Called("") + "  " + f.Session.InterfaceOf(f.onTheRight()) + "@" + f.onTheRight(), theme.Strong}
}

// bothEnds draws this host on the left and a peer on the right: name, sources, charts.
func bothEnds(f *Frame, g theme.Grid) {
	const gap = 2
	w := (g.W() - gap) / 2
	var ends []painted
	for i, host := range []string{"", f.onTheRight()} {
		s := &stacker{g: g.Sub(i*(w+gap), 0, w, g.H()), end: g.H()}
		end := f.of(host)
		endLine(end, s.take(1))
		sourcesLine(end, s.take(1), false)
		ends = append(ends, paintCharts(end, s.rest(), true))
	}
	beside(ends...)
}

// endLine names a host, its card, and how the link to it is.
func endLine(f *Frame, g theme.Grid) {
	name := f.name()
	x := g.Text(0, 0, name.ink, name.text) + 2
	right := g.W()
	if p := f.Session.Peer(f.View.Host); p != nil && p.Up && p.Words != "" {
		words := f.now() + p.Words
		right -= theme.Width(words)
		g.Right(g.W(), 0, theme.Dim, words)
		right -= 2
	} else if p != nil && p.Why != "" {
		g.Text(x, 0, theme.Warn, p.Why)
		return
	}
	g.Text(x, 0, theme.Dim, facts(f.facts(), right-x))
}

// Whose puts before a question which ends it is about, where there are several.
func (f *Frame) Whose(p Prompt, knobs []*experiment.KnobState) Prompt {
	if !f.many() {
		return p
	}
	whose := f.Called(knobs[0].Host) + ": "
	if len(knobs) > 1 {
		whose = everyEnd(len(knobs)) + ": "
	}
	return Prompt{Long: whose + p.Long, Short: whose + p.Short}
}

// actWord says what the knob keys act on.
func (f *Frame) actWord() knobWord {
	hosts := f.Session.Hosts()
	w := knobWord{key: "b", text: everyEnd(len(hosts)) + " ON", terse: everyEnd(len(hosts)), ink: theme.Strong, turned: true}
	if i := f.View.Act; i > 0 && i <= len(hosts) {
		w.text, w.terse = f.Called(hosts[i-1])+" only", f.Called(hosts[i-1])
	}
	if f.ReadOnly != "" {
		w.ink = theme.Dim
	}
	return w
}

func everyEnd(hosts int) string {
	if hosts == 2 {
		return "both"
	}
	return "all " + strconv.Itoa(hosts)
}

// endsWord is one knob on all ends: "aim=2 both" where they agree, "aim=2 r1 aim=1"
// where they do not, or tersely "aim=2|1".
func (f *Frame) endsWord(name string) knobWord {
	hosts := f.Session.Hosts()
	var ends []*experiment.KnobState
	var values []string
	for _, host := range hosts {
		k := f.Session.Knob(host, name)
		if k == nil {
			values = append(values, "-")
			continue
		}
		ends = append(ends, k)
		values = append(values, cmp.Or(knobValue(k), "-")+star(k))
	}
	first := ends[0]
	w := f.knobWord(first)
	w.text = label(first) + sign(first) + cmp.Or(knobValue(first), "-")
	switch {
	case len(ends) == 1:
		w.whose, w.terse = " "+f.Called(first.Host), label(first)+sign(first)+strings.Join(values, "|")
		return w
	case f.agree(ends) && len(ends) == len(hosts):
		w.whose = " " + everyEnd(len(hosts))
		w.terse = w.text + star(first)
		return w
	}
	var parts []string
	for _, k := range ends {
		o := f.knobWord(k)
		w.ink, w.turned = max(w.ink, o.ink), w.turned || o.turned
		part := label(k) + sign(k) + cmp.Or(knobValue(k), "-") + star(k)
		switch {
		case k.Doubt:
			part = k.Host + " " + knobValue(k)
		case k.Host != "":
			part = k.Host + " " + part
		}
		parts = append(parts, part)
	}
	w.text, w.start, w.star = strings.Join(parts, " "), "", false
	w.terse = label(first) + sign(first) + strings.Join(values, "|")
	return w
}

func star(k *experiment.KnobState) string {
	if k.Moved() && !k.Doubt {
		return "*"
	}
	return ""
}

// agree says whether a knob is the same on all ends, and was at the start.
func (f *Frame) agree(ends []*experiment.KnobState) bool {
	for _, k := range ends {
		if knobValue(k) != knobValue(ends[0]) || k.Start != ends[0].Start || k.From() != ends[0].From() || k.Doubt {
			return false
		}
	}
	return true
}

// endsWords are the knobs of all ends, each once.
func (f *Frame) endsWords() []knobWord {
	out := []knobWord{f.actWord()}
	done := map[string]bool{}
	for _, k := range f.Session.Knobs() {
		if onLine(k) && !done[k.Spec.Name] {
			done[k.Spec.Name] = true
			out = append(out, f.endsWord(k.Spec.Name))
		}
	}
	return out
}
