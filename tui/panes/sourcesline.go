package panes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// A sourceWords is one source on the line.
type sourceWords struct {
	name  string
	state word
}

// sourcesLine says of each source whether it speaks, how fast, and if not, why.
// Where they do not all fit, reasons are cut first (the events have them whole),
// and those in trouble come first. One that does not fit whole is left out, and ".."
// stands for it: a figure that is cut is another figure. Of the hosts that are not
// looked at only trouble is said, and how the link to them is.
func sourcesLine(f *Frame, g theme.Grid, others bool) {
	all := f.sourcesOf(others)
	if n := f.Session.Shed() + f.Session.Late(); n > 0 && (others || f.View.Host == "") {
		all = append(all, sourceWords{"late or shed", word{count(int64(n)), theme.Warn}})
	}
	if p := f.Session.Peer(f.View.Host); len(all) == 0 && (p == nil || p.Up) {
		g.Text(0, 0, theme.Dim, "no source has spoken yet")
	}
	if over := lineWidth(all) - g.W(); over > 0 {
		shorten(all, over)
	}
	room, left := g.W(), theme.Plain // left is the ink of those left out
	if lineWidth(all) > room {
		slices.SortStableFunc(all, func(a, b sourceWords) int { return cmp.Compare(b.state.ink, a.state.ink) })
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
		w := sourceWords{st.Name, f.sourceWord(st)}
		switch p := f.Session.Peer(st.Host); {
		case p != nil && !p.Gone.IsZero(): // it is gone as a whole
		case st.Host == f.View.Host:
			all = append(all, w)
		case w.state.ink != theme.Dim:
			w.name = f.Called(st.Host) + ":" + st.Name
			trouble = append(trouble, w)
		}
	}
	if !others {
		return all
	}
	for _, host := range f.Session.Hosts()[1:] {
		if p := f.Session.Peer(host); p.Up { // else the header has it
			trouble = append(trouble, sourceWords{host, f.peerWord(p)})
		}
	}
	return append(all, trouble...)
}

func lineWidth(all []sourceWords) int {
	width := -2
	for _, w := range all {
		width += w.width() + 2
	}
	return width
}

func (w sourceWords) width() int { return theme.Width(w.name) + 1 + theme.Width(w.state.text) }

// leastReason is how much of a reason stays when it is cut.
const leastReason = 12

// shorten cuts the longest reasons until over cells are saved.
func shorten(all []sourceWords, over int) {
	for over > 0 {
		longest := slices.MaxFunc(all, func(a, b sourceWords) int {
			return cmp.Compare(theme.Width(a.state.text), theme.Width(b.state.text))
		})
		n := theme.Width(longest.state.text)
		if n <= leastReason {
			return
		}
		keep := max(leastReason, n-over)
		for i := range all {
			if all[i].state.text == longest.state.text {
				all[i].state.text = string([]rune(longest.state.text)[:keep-2]) + ".."
			}
		}
		over -= n - keep
	}
}

func (f *Frame) sourceWord(st *experiment.SourceState) word {
	now := f.Session.Now()
	if st.Gone != "" {
		return word{st.Gone, theme.Warn}
	}
	if d, behind := st.Behind(now); behind {
		return word{age(d) + " behind", theme.Warn}
	}
	if d, stale := st.Stale(now); stale {
		if _, _, on := f.Session.Run(); !on && ofLoad(st.Name) {
			return word{"silent " + age(d), theme.Dim}
		}
		return word{"? " + age(d), theme.Warn}
	}
	if st.NoteError && st.Last.IsZero() {
		return word{st.Note, theme.Alert}
	}
	switch {
	case !st.Last.IsZero():
	case st.Name == "agent": // it turns and tells events, no figures
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
		if r := f.pingRate(st.Host); r != "" {
			return word{r, theme.Dim}
		}
	}
	return word{"ok", theme.Dim}
}

// ofLoad says whether a source tells of the load: without one its silence is no trouble.
func ofLoad(name string) bool {
	return strings.HasPrefix(name, "iperf") || strings.HasPrefix(name, "siftr")
}

// records is how many log records a second come in, over all flows.
func (f *Frame) records(st *experiment.SourceState) float64 {
	var sum float64
	for _, fl := range f.Session.Flows() {
		s, ok := fl.Last[experiment.Origin{Source: st.Name, Metric: sources.Records}]
		if ok && fl.Host == st.Host && f.Session.Now().Sub(s.At) < 2*time.Second {
			r, _ := s.Mean()
			sum += r
		}
	}
	return sum
}

// pingRate is how many answers a second came, over the last four seconds.
func (f *Frame) pingRate(host string) string {
	t := f.Session.Find(experiment.PingRTT, host)
	if t == nil {
		return ""
	}
	const seconds = 4
	var bins [seconds]series.Bin
	t.Ring.Window(bins[:], f.Session.Now().Add(-seconds*time.Second), time.Second)
	var n uint32
	for _, b := range bins {
		n += b.N
	}
	return rate(float64(n)/seconds) + "/s"
}
