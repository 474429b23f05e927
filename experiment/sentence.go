package experiment

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"netwatch/sources"
)

// Sentence writes an Event as one line of words, without its time.
func Sentence(e sources.Event) string {
	if e.Host != "" {
		return e.Host + " " + sentence(e)
	}
	return sentence(e)
}

func sentence(e sources.Event) string {
	said := after(": ", e.Text)
	switch e.Kind {
	case sources.KnobTurned:
		return turn(e) + said
	case sources.KnobFailed:
		if e.New == "" {
			return e.Subject + " asked " + e.Asked + cmp.Or(said, ", it is not known what it is")
		}
		return e.Subject + " stays " + e.New + ", asked " + e.Asked + said
	case sources.KnobBoth:
		if e.Error {
			return e.Subject + " -> " + e.Asked + " refused" + said
		}
		return e.Subject + " " + e.Old + " -> " + e.New + " " + cmp.Or(e.Text, "both") + ", skew " + Took(e.Span)
	case sources.KnobDrifted:
		return e.Subject + " " + e.Old + " -> " + e.New + cmp.Or(said, ", not by netwatch")
	case sources.LinkDown:
		return cmp.Or(e.Text, e.Subject+" link down")
	case sources.LinkUp:
		if e.Span > 0 {
			return cmp.Or(e.Text, e.Subject+" link up") + " after " + Took(e.Span)
		}
		return cmp.Or(e.Text, e.Subject+" link up")
	case sources.CounterReset:
		return e.Subject + " counters reset, no rate across it" + said
	case sources.RunStarted:
		if strings.HasPrefix(e.Text, wasOn) {
			return e.Subject + " " + e.Text
		}
		return e.Subject + " began" + said
	case sources.RunEnded:
		return e.Subject + " ended" + said
	case sources.SourceUp:
		return "is back"
	case sources.SourceGone:
		if e.Source == PeerSource {
			return "gone" + said
		}
		return e.Source + " ended" + said
	case sources.SourceNote, sources.SourceNone:
		if first, _, _ := strings.Cut(e.Text, " "); strings.TrimSuffix(first, ":") == e.Source { // it names itself
			return e.Text
		}
		return e.Source + said
	case sources.LogSampled:
		switch {
		case e.Text == "":
			return e.Subject + ": every packet is logged again"
		case e.Span > 0:
			return e.Subject + ": its last " + Took(e.Span) + " are sampled: " + e.Text
		}
		return e.Subject + " is sampled, its throughput is no goodput: " + e.Text
	case sources.PingLate:
		return "ping " + e.Subject + " late answer" + said
	case sources.Mark:
		return "mark" + after(" ", e.Text)
	}
	return string(e.Kind) + after(" ", e.Subject) + said
}

func turn(e sources.Event) string {
	text := e.Subject + " " + e.Old + " -> " + e.New
	if e.Asked != "" && e.Asked != e.New {
		text += ", asked " + e.Asked
	}
	if e.Span > 0 {
		text += " (" + Took(e.Span) + ")"
	}
	return text
}

// Took writes how long something took: "0.4 ms", "15 ms", "3.1 s".
func Took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// after is text behind a separator, or nothing.
func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}
