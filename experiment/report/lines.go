package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"netwatch/experiment"
	"netwatch/sources"
)

const csvTime = "2006-01-02T15:04:05.000Z07:00"

// headerEvery is after how many lines the text header is said again.
const headerEvery = 20

// lineQuantities are the columns of text and CSV lines.
var lineQuantities = []*experiment.Quantity{
	experiment.Tx, experiment.Rx, experiment.TxPkts, experiment.RxPkts, experiment.RxDrops, experiment.RxErrors, experiment.Goodput, experiment.LoadIn, experiment.PingRTT, experiment.PingLost,
	experiment.SRTT, experiment.Cwnd, experiment.Segment, experiment.Retrans, experiment.Irqs, experiment.CPU,
}

// both are the quantities whose column has those of the other direction in it, too.
var both = map[*experiment.Quantity]*experiment.Quantity{
	experiment.RxDrops: experiment.TxDrops, experiment.RxErrors: experiment.TxErrors,
}

// Lines writes one line an interval: the means of that interval, "-" where
// nothing was measured, then the knobs. What happened stands between the lines.
// Where there are peers, each host has a line of its own, and every line a host's name.
type Lines struct {
	w        io.Writer
	csv      *csv.Writer // nil for text
	interval time.Duration
	here     string // what this host is called
	bytes    bool   // throughput is in MB/s
	lines    int
	hosts    int       // how many there were when the text header was said
	events   int       // events already said
	last     time.Time // when the newest line was written
	from     time.Time // when the one before that was
	told     map[*experiment.Track]experiment.Sum
	moving   map[string]int // connections that move data, by host, as they were said
}

// NewText returns Lines for people: columns, the header again every 20 lines, and
// when a peer comes. here is what this host is called among its peers.
func NewText(w io.Writer, interval time.Duration, here string) *Lines {
	return &Lines{w: w, interval: interval, here: here, told: map[*experiment.Track]experiment.Sum{}}
}

// NewCSV returns Lines for programs: one header; an event is a row that holds
// nothing but its time, its host and the last field. The host is "" as long as
// there is no peer and here is "".
func NewCSV(w io.Writer, interval time.Duration, here string) *Lines {
	return &Lines{w: w, csv: csv.NewWriter(w), interval: interval, here: here, told: map[*experiment.Track]experiment.Sum{}}
}

// InBytes has throughput told in MB/s, not in Mbit/s.
func (l *Lines) InBytes() { l.bytes = true }

// scale is how a quantity is told.
func (l *Lines) scale(q *experiment.Quantity) scale {
	if s := scales[q]; !l.bytes || s.unit != "Mbit/s" {
		return s
	}
	return scale{"MB/s", 1e-6, 2}
}

// Tick writes what is due at the Session's present time.
func (l *Lines) Tick(s *experiment.Session) error {
	if err := l.sayEvents(s); err != nil {
		return err
	}
	if l.last.IsZero() {
		l.last = s.Now()
	}
	behind := s.Now().Sub(l.last)
	if behind < l.interval {
		return nil
	}
	l.from, l.last = l.last, l.last.Add(behind.Truncate(l.interval)) // ticks come late, never early: keep the beat
	for _, host := range s.Hosts() {
		if err := l.line(s, host); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lines) line(s *experiment.Session, host string) error {
	name := named(s, host, l.here)
	if err := l.sayMoving(s, host); err != nil {
		return err
	}
	if l.headerIsDue(s, host) {
		if err := l.header(s); err != nil {
			return err
		}
	}
	l.lines++
	figures := make([]string, len(lineQuantities))
	for i, q := range lineQuantities {
		figures[i] = l.figure(s, host, q)
	}
	if l.csv != nil {
		return l.row(append([]string{s.Now().Format(csvTime), cmp.Or(name, l.here), l.runWord(s)}, append(figures, knobWords(s, host), "")...)...)
	}
	var b strings.Builder
	b.WriteString(s.Now().Format("15:04:05"))
	if name != "" {
		fmt.Fprintf(&b, " %-*s", hostWidth, name)
	}
	for i, f := range figures {
		fmt.Fprintf(&b, " %*s", width(lineQuantities[i]), f)
	}
	fmt.Fprintf(&b, "  %s %s\n", l.runWord(s), knobWords(s, host))
	_, err := io.WriteString(l.w, b.String())
	return err
}

// sayMoving says that goodput is that of one connection of several, when it is and when
// their number is another one.
func (l *Lines) sayMoving(s *experiment.Session, host string) error {
	t := s.Find(experiment.Goodput, host)
	n := 1
	if t != nil && t.OfConnection() {
		n = s.Moving(host)
	}
	if n == l.moving[host] || n < 2 && l.moving[host] < 2 {
		return nil
	}
	if l.moving == nil {
		l.moving = map[string]int{}
	}
	l.moving[host] = n
	if n < 2 {
		return nil
	}
	return l.sayEvent(sources.Event{At: s.Now(), Kind: sources.SourceNote, Host: host, Source: t.Origin.Source,
		Text: fmt.Sprintf("goodput is of 1 of %d connections that move data", n)}, s)
}

// headerIsDue says whether the header goes before this line. Lines of one time are
// not torn apart.
func (l *Lines) headerIsDue(s *experiment.Session, host string) bool {
	hosts := len(s.Hosts())
	switch {
	case l.csv != nil:
		return l.lines == 0
	case host != "":
		return false
	}
	return l.hosts != hosts || l.lines/hosts%headerEvery == 0
}

// hostWidth is the column of the host's name in text lines.
const hostWidth = 8

// figure is the mean of what was told since the line before: a source that is
// slower than the lines has a figure in some of them, and nothing is said twice.
func (l *Lines) figure(s *experiment.Session, host string, q *experiment.Quantity) string {
	t := s.Find(q, host)
	good := s.Find(experiment.Goodput, host)
	switch in := good != nil && (good.Origin.Metric == sources.RxGood); {
	case q == experiment.Goodput && in: // what comes in has a column of its own
		return sampled(s, host, q)
	case q == experiment.LoadIn && in:
		t = good
	}
	if t == nil {
		if q == experiment.PingLost && s.Find(experiment.PingRTT, host) != nil {
			return "0"
		}
		return sampled(s, host, q)
	}
	fresh := t.Total.Since(l.told[t])
	l.told[t] = t.Total
	if q == experiment.PingLost { // a loss is one Sample, an answer is none: no rate to take a mean of
		return strconv.FormatInt(int64(fresh.Sum), 10)
	}
	v, ok := fresh.Mean(t.Origin.Metric.Agg)
	if !ok {
		return sampled(s, host, q)
	}
	if o := s.Find(both[q], host); o != nil {
		more, _ := o.Total.Since(l.told[o]).Mean(o.Origin.Metric.Agg)
		l.told[o] = o.Total
		v += more
	}
	return l.scale(q).text(v)
}

// sampled stands in the place of a goodput that only a log tells which holds some of the
// packets; "-" where there is none either.
func sampled(s *experiment.Session, host string, q *experiment.Quantity) string {
	t := s.Find(experiment.Sampled, host)
	if t == nil || q != experiment.Goodput && q != experiment.LoadIn {
		return "-"
	}
	in := t.Origin.Metric == sources.RxSampled
	if _, stale := t.Stale(s.Now()); stale || in != (q == experiment.LoadIn) {
		return "-"
	}
	return "sampled"
}

// Finish writes a last line for what was told after the newest one.
func (l *Lines) Finish(s *experiment.Session) error {
	if err := l.sayEvents(s); err != nil || l.lines == 0 || s.Now().Sub(l.last) < l.interval/10 {
		return err
	}
	l.from = l.last
	for _, host := range s.Hosts() {
		if err := l.line(s, host); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lines) header(s *experiment.Session) error {
	if l.csv != nil {
		names := []string{"time", "host", "load"}
		for _, q := range lineQuantities {
			names = append(names, strings.TrimSuffix(columnName(q), " "+scales[q].unit)+" "+l.scale(q).unit)
		}
		last := "event"
		if s.Simulated {
			last = "event SIMULATED"
		}
		return l.row(append(names, "knobs", last)...)
	}
	l.hosts = len(s.Hosts())
	var one, two strings.Builder
	fmt.Fprintf(&one, "%-8s", s.Interface)
	fmt.Fprintf(&two, "%-8s", "time")
	if s.Simulated {
		fmt.Fprint(&one, " SIMULATED\n", strings.Repeat(" ", 8))
	}
	if l.hosts > 1 {
		fmt.Fprintf(&one, " %*s", hostWidth, "")
		fmt.Fprintf(&two, " %-*s", hostWidth, "host")
	}
	for _, q := range lineQuantities {
		fmt.Fprintf(&one, " %*s", width(q), short(q))
		fmt.Fprintf(&two, " %*s", width(q), l.scale(q).unit)
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
		host := cmp.Or(e.Host, named(s, "", l.here), l.here)
		fields[0], fields[1], fields[len(fields)-1] = e.At.Format(csvTime), host, experiment.Sentence(e)
		return l.row(fields...)
	}
	whose := ""
	if name := named(s, "", l.here); e.Host == "" && name != "" {
		whose = name + " "
	}
	_, err := fmt.Fprintf(l.w, "# %s %s%s\n", e.At.Format("15:04:05.000"), whose, experiment.Sentence(e))
	return err
}

// columnName is q in a CSV header.
func columnName(q *experiment.Quantity) string {
	if both[q] != nil {
		return strings.TrimPrefix(q.Name, "rx ")
	}
	return q.Name
}

func short(q *experiment.Quantity) string {
	switch q {
	case experiment.RxErrors:
		return "err"
	case experiment.PingLost:
		return "lost"
	case experiment.Retrans:
		return "retr"
	case experiment.RxDrops:
		return "drop"
	case experiment.LoadIn:
		return "in"
	}
	return q.Name
}

func width(q *experiment.Quantity) int {
	least := 6
	if q == experiment.LoadIn {
		least = len("sampled")
	}
	return max(len(short(q)), len(scales[q].unit), least)
}

// runWord is the load state of a line: figures of a run are the run's, also where it
// ended within the line's time.
func (l *Lines) runWord(s *experiment.Session) string {
	if n, on := s.RunWithin(l.from, s.Now()); on {
		return fmt.Sprintf("run %d", n)
	}
	return "idle"
}

// knobWords are the knobs of one host. The value of a host that is gone is doubtful.
func knobWords(s *experiment.Session, host string) string {
	var parts []string
	for _, k := range s.Knobs() {
		if k.Host != host || k.Value == "" && k.Start == "" { // a knob that the driver does not have
			continue
		}
		word := k.Spec.Name + "=" + k.Value
		if k.Doubt || k.Value == "" {
			word += "?"
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, " ")
}
