package panes

import (
	"time"

	"netwatch/sources"
	"netwatch/tui/chart"
	"netwatch/tui/theme"
)

// stripes are the columns that stand in every chart: turns, marks, runs, lost links.
func (f *Frame) stripes() []chart.Stripe {
	var out []chart.Stripe
	t := f.Theme
	var down time.Time
	for _, e := range f.Session.Events() {
		at := chart.Stripe{From: e.At, To: e.At}
		switch e.Kind {
		case sources.KnobTurned, sources.KnobDrifted:
			at.Glyph, at.Ink = t.Turn, theme.Turn
		case sources.Mark:
			at.Glyph, at.Ink = t.Mark, theme.Mark
		case sources.RunStarted, sources.RunEnded:
			at.Glyph, at.Ink = t.Load, theme.Load
		case sources.CounterReset:
			if e.Host != f.View.Host {
				continue
			}
			at.Glyph, at.Ink = t.Gap, theme.Gap
		case sources.LinkDown:
			if f.ofLink(e) && down.IsZero() {
				down = e.At
			}
			continue
		case sources.LinkUp:
			if !f.ofLink(e) {
				continue
			}
			if down.IsZero() {
				down = e.At.Add(-e.Span)
			}
			at = chart.Stripe{From: down, To: e.At, Glyph: t.Gap, Ink: theme.Gap}
			down = time.Time{}
		default:
			continue
		}
		out = append(out, at)
	}
	if !down.IsZero() {
		out = append(out, chart.Stripe{From: down, To: f.Session.Now(), Glyph: t.Gap, Ink: theme.Gap})
	}
	return out
}

// ofLink says whether an event is of the interface that is looked at.
func (f *Frame) ofLink(e sources.Event) bool { return e.Host == f.View.Host && e.Subject == f.iface() }
