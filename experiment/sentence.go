package experiment

import (
	"fmt"
	"strings"
	"time"

	"netwatch/sources"
)

// Sentence writes an Event as one line of words, without its time.
func Sentence(e sources.Event) string {
	var b strings.Builder
	if e.Host != "" {
		b.WriteString(e.Host + " ")
	}
	switch e.Kind {
	case sources.KnobTurned:
		fmt.Fprintf(&b, "%s %s -> %s", e.Subject, e.Old, e.New)
		if e.Asked != e.New {
			fmt.Fprintf(&b, " (asked %s)", e.Asked)
		}
		b.WriteString(took(e.Span))
	case sources.KnobFailed:
		fmt.Fprintf(&b, "%s: %s refused, still %s", e.Subject, e.Asked, e.New)
	case sources.KnobDrifted:
		fmt.Fprintf(&b, "%s %s -> %s, not by netwatch", e.Subject, e.Old, e.New)
	case sources.LinkDown:
		b.WriteString(e.Subject + " link down")
	case sources.LinkUp:
		b.WriteString(e.Subject + " link up")
		if e.Span > 0 {
			fmt.Fprintf(&b, " after %.1f s", e.Span.Seconds())
		}
	case sources.CounterReset:
		b.WriteString(e.Subject + " counters reset")
	case sources.RunStarted:
		b.WriteString("run started: " + e.Subject)
	case sources.RunEnded:
		b.WriteString("run ended: " + e.Subject)
	case sources.SourceGone:
		b.WriteString(e.Source + " gone")
	case sources.SourceNote:
		b.WriteString(e.Source)
	case sources.Mark:
		b.WriteString("mark")
	default:
		b.WriteString(strings.TrimSpace(string(e.Kind) + " " + e.Subject))
	}
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	return b.String()
}

func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 10*time.Millisecond:
		return fmt.Sprintf(" (%.1f ms)", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf(" (%d ms)", d.Milliseconds())
	}
	return fmt.Sprintf(" (%.1f s)", d.Seconds())
}
