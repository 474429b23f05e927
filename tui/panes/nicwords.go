package panes

import (
	"strings"

	"netwatch/experiment"
	"netwatch/tui/theme"
)

// nicWord is how many packets the interface moves: "tx 24.4k rx 40.5k pkt/s". Where two
// interfaces are watched their table has that.
func (f *Frame) nicWord() string {
	if f.forwards() {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		name string
		q    *experiment.Quantity
	}{{"tx", experiment.TxPkts}, {"rx", experiment.RxPkts}} {
		if v, ok := f.newest(p.q); ok {
			parts = append(parts, p.name+" "+si(v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " ") + " pkt/s"
}

// forwards says whether a table of two interfaces stands in place of the charts.
func (f *Frame) forwards() bool { return f.Session.Second != "" && f.View.Host == "" }

// newest is the present figure, not one that is stale.
func (f *Frame) newest(q *experiment.Quantity) (float64, bool) {
	t := f.find(q)
	if t == nil {
		return 0, false
	}
	if _, stale := t.Stale(f.Session.Now()); stale || f.linkless(t) {
		return 0, false
	}
	return t.Now()
}

// losses are the drops and errors of the interface, in both directions, while there
// are any.
func (f *Frame) losses() []sourceWords {
	var out []sourceWords
	if f.forwards() {
		return nil
	}
	for _, l := range []struct {
		name   string
		rx, tx *experiment.Quantity
	}{{"drops", experiment.RxDrops, experiment.TxDrops}, {"errors", experiment.RxErrors, experiment.TxErrors}} {
		rx, _ := f.newest(l.rx)
		tx, _ := f.newest(l.tx)
		if sum := rx + tx; sum > 0 {
			out = append(out, sourceWords{name: l.name, state: word{si(sum) + "/s", theme.Warn}, rank: rankLoss})
		}
	}
	return out
}

// lossesElsewhere are those of the hosts that are not looked at.
func (f *Frame) lossesElsewhere() []sourceWords {
	var out []sourceWords
	for _, host := range f.Session.Hosts() {
		if host == f.View.Host {
			continue
		}
		for _, w := range f.of(host).losses() {
			w.name = f.Called(host) + ":" + w.name
			out = append(out, w)
		}
	}
	return out
}

// lossWords are those of all hosts.
func (f *Frame) lossWords() []word {
	var out []word
	for _, l := range append(f.losses(), f.lossesElsewhere()...) {
		out = append(out, word{l.name + " " + l.state.text, l.state.ink})
	}
	return out
}

// lossPlots are charts of drops and errors that there were in what is shown.
func (f *Frame) lossPlots() []plot {
	var out []plot
	for _, q := range []*experiment.Quantity{experiment.RxDrops, experiment.TxDrops, experiment.RxErrors, experiment.TxErrors} {
		if t := f.find(q); t != nil && f.happened(t) {
			out = append(out, plot{name: q.Name, q: q, ink: theme.Lost})
		}
	}
	return out
}
