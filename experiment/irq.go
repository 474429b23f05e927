package experiment

import (
	"strings"
	"time"

	"netwatch/experiment/series"
	"netwatch/sources"
)

// IrqCap is the highest rate of interrupts that the moderation of the card's first
// queue allows: a bound that hops from state to state, whose mean means nothing. No
// table has it.
var IrqCap = &Quantity{"irq cap", OfInterface, []Origin{{"irq", sources.IrqCap}}}

// moderations name what a cap tells of the moderation's state, in the words of em(4),
// whose register holds these values and no others for them; the last two are igb's and
// igc's. Their 4032 and 8064 are values of ix(4) as well, where they name nothing.
var moderations = map[float64]string{
	4002: "bulk", 8004: "default", 20032: "low lat", 71022: "lowest lat",
	20832: "low lat", 83328: "lowest lat",
}

// Moderation is the state of the interrupt moderation that a cap tells, "" where it
// tells none.
func Moderation(perSecond float64) string { return moderations[perSecond] }

type queueKey struct {
	host, subject string
	metric        sources.Metric
}

// queue is the Track of one interrupt line of a card. It is counted into no setting.
func (s *Session) queue(sr *sources.Series) *Track {
	k := queueKey{sr.Host, sr.Subject, sr.Metric}
	for i, known := range s.queueKeys {
		if known == k {
			return s.queues[i]
		}
	}
	t := &Track{Quantity: Irqs, Origin: Origin{sr.Source, sr.Metric}, Host: sr.Host, Subject: sr.Subject, Ring: series.NewSmall(sr.Metric.Agg)}
	s.queueKeys, s.queues = append(s.queueKeys, k), append(s.queues, t)
	return t
}

// A Queue is one interrupt line of the card and how often it came.
type Queue struct {
	Name      string // "rxq0"; of an interface below the watched one "em4:rxq0"
	PerSecond float64
	Shared    bool // other devices raise it, too
}

// Queues are the interrupt lines of a host's watched interface, where it has several,
// with their figures at a time; the zero time is now. What is silent then is left out.
func (s *Session) Queues(host string, at time.Time) []Queue {
	var out []Queue
	for _, t := range s.queues {
		name, ours := strings.CutPrefix(t.Subject, s.InterfaceOf(host)+":")
		if t.Host != host || !ours {
			continue
		}
		v, ok := t.Now()
		if _, stale := t.Stale(s.now); stale {
			ok = false
		}
		if !at.IsZero() {
			v, ok = t.At(at)
		}
		if ok {
			out = append(out, Queue{name, v, t.Origin.Metric == sources.IrqsShared})
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
