package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/sources"
)

const csvTime = "2006-01-02T15:04:05.000Z07:00"

// headerEvery is after how many lines the text header is said again.
const headerEvery = 20

// lineQuantities are the columns of text and CSV lines.
var lineQuantities = []*experiment.Quantity{
	experiment.Tx, experiment.Rx, experiment.TxPkts, experiment.RxPkts, experiment.RxDrops, experiment.Goodput, experiment.PingRTT, experiment.PingLost,
	experiment.SRTT, experiment.Cwnd, experiment.Segment, experiment.Retrans, experiment.Irqs, experiment.CPU,
}

// Lines writes one line an interval: the means of that interval, "-" where
// nothing was measured, then the knobs. What happened stands between the lines.
type Lines struct {
	w        io.Writer
	csv      *csv.Writer // nil for text
	interval time.Duration
	host     string
	lines    int
	events   int       // events already said
	last     time.Time // when the newest line was written
	bin      [1]series.Bin
}

// NewText returns Lines for people: columns, the header again every 20 lines.
func NewText(w io.Writer, interval time.Duration, host string) *Lines {
	return &Lines{w: w, interval: interval, host: host}
}

// NewCSV returns Lines for programs: one header; an event is a row that holds
// nothing but its time, its host and the last field.
func NewCSV(w io.Writer, interval time.Duration, host string) *Lines {
	return &Lines{w: w, csv: csv.NewWriter(w), interval: interval, host: host}
}

// Tick writes what is due at the Session's present time.
func (l *Lines) Tick(s *experiment.Session) error {
	if err := l.sayEvents(s); err != nil {
		return err
	}
	if l.last.IsZero() {
		l.last = s.Start
	}
	behind := s.Now().Sub(l.last)
	if behind < l.interval {
		return nil
	}
	l.last = l.last.Add(behind.Truncate(l.interval)) // ticks come late, never early: keep the beat
	return l.line(s)
}

func (l *Lines) line(s *experiment.Session) error {
	if l.csv == nil && l.lines%headerEvery == 0 || l.csv != nil && l.lines == 0 {
		if err := l.header(s); err != nil {
			return err
		}
	}
	l.lines++
	figures := make([]string, len(lineQuantities))
	for i, q := range lineQuantities {
		figures[i] = l.figure(s, q)
	}
	if l.csv != nil {
		return l.row(append([]string{s.Now().Format(csvTime), l.host, runWord(s)}, append(figures, knobWords(s), "")...)...)
	}
	var b strings.Builder
	b.WriteString(s.Now().Format("15:04:05"))
	for i, f := range figures {
		fmt.Fprintf(&b, " %*s", width(lineQuantities[i]), f)
	}
	fmt.Fprintf(&b, "  %s %s\n", runWord(s), knobWords(s))
	_, err := io.WriteString(l.w, b.String())
	return err
}

// figure is the mean of the interval that just ended. A slower source that is
// alive keeps its newest figure; a silent one has none.
func (l *Lines) figure(s *experiment.Session, q *experiment.Quantity) string {
	if q == experiment.PingLost {
		return l.lost(s)
	}
	t := s.Find(q, l.host)
	if t == nil {
		return "-"
	}
	t.Ring.Window(l.bin[:], s.Now().Add(-l.interval), l.interval)
	v, ok := l.bin[0].Mean(t.Ring.Agg())
	if !ok {
		if _, stale := t.Stale(s.Now()); stale {
			return "-"
		}
		v, ok = t.Now()
	}
	if !ok {
		return "-"
	}
	return scales[q].text(v)
}

// lost counts the probes that were called lost in the interval: a loss is one
// Sample, an answer is none, so there is no rate to take a mean of.
func (l *Lines) lost(s *experiment.Session) string {
	if t := s.Find(experiment.PingLost, l.host); t != nil {
		t.Ring.Window(l.bin[:], s.Now().Add(-l.interval), l.interval)
		if n := l.bin[0].N; n > 0 {
			return strconv.Itoa(int(n))
		}
	}
	if s.Find(experiment.PingRTT, l.host) == nil && s.Find(experiment.PingLost, l.host) == nil {
		return "-"
	}
	return "0"
}

func (l *Lines) header(s *experiment.Session) error {
	if l.csv != nil {
		names := []string{"time", "host", "load"}
		for _, q := range lineQuantities {
			names = append(names, q.Name+" "+scales[q].unit)
		}
		last := "event"
		if s.Simulated {
			last = "event SIMULATED"
		}
		return l.row(append(names, "knobs", last)...)
	}
	var one, two strings.Builder
	fmt.Fprintf(&one, "%-8s", s.Interface)
	fmt.Fprintf(&two, "%-8s", "time")
	if s.Simulated {
		fmt.Fprint(&one, " SIMULATED\n", strings.Repeat(" ", 8))
	}
	for _, q := range lineQuantities {
		fmt.Fprintf(&one, " %*s", width(q), short(q))
		fmt.Fprintf(&two, " %*s", width(q), scales[q].unit)
	}
	_, err := fmt.Fprintf(l.w, "%s\n%s\n", one.String(), two.String())
	return err
}

func (l *Lines) row(fields ...string) error {
	if err := l.csv.Write(fields); err != nil {
		return err
	}
	l.csv.Flush()
	return l.csv.Error()
}

// sayEvents writes the events that came since, as far as the list still holds them.
func (l *Lines) sayEvents(s *experiment.Session) error {
	all := s.Events()
	fresh := min(s.Logged()-l.events, len(all))
	for _, e := range all[len(all)-fresh:] {
		if err := l.sayEvent(e, s); err != nil {
			return err
		}
	}
	l.events = s.Logged()
	return nil
}

func (l *Lines) sayEvent(e sources.Event, s *experiment.Session) error {
	if l.csv != nil {
		if l.lines == 0 {
			if err := l.header(s); err != nil {
				return err
			}
			l.lines++
		}
		fields := make([]string, len(lineQuantities)+5)
		fields[0], fields[1], fields[len(fields)-1] = e.At.Format(csvTime), e.Host, experiment.Sentence(e)
		return l.row(fields...)
	}
	_, err := fmt.Fprintf(l.w, "# %s %s\n", e.At.Format("15:04:05.000"), experiment.Sentence(e))
	return err
}

func short(q *experiment.Quantity) string {
	switch q {
	case experiment.PingLost:
		return "lost"
	case experiment.Retrans:
		return "retr"
	case experiment.RxDrops:
		return "drop"
	}
	return q.Name
}

func width(q *experiment.Quantity) int { return max(len(short(q)), len(scales[q].unit), 6) }

func runWord(s *experiment.Session) string {
	if n, _, on := s.Run(); on {
		return fmt.Sprintf("run %d", n)
	}
	return "idle"
}

func knobWords(s *experiment.Session) string {
	var parts []string
	for _, k := range s.Knobs() {
		name := k.Spec.Name
		if k.Host != "" {
			name = k.Host + ":" + name
		}
		parts = append(parts, name+"="+k.Value)
	}
	return strings.Join(parts, " ")
}
