package siftr

import (
	"bytes"
	"fmt"
	"time"

	parser "netwatch/parsers/siftr"
	"netwatch/sources/tail"
)

const (
	// backlog is how long before the start a record may have been written and still be
	// drawn, at its own time.
	backlog = 2 * time.Hour

	// writeEvery is after how long without a write a log does not count as growing: a
	// kernel writes the records of a busy connection at once.
	writeEvery = 10 * time.Second
)

// opened looks whether the log was finished before netwatch started, or was not
// written any more then: a machine that stopped leaves it without an end.
func (l *live) opened(n tail.Notice) {
	l.quiet = 0
	if n.Size == 0 && l.src.module == "" {
		l.note(time.Now(), l.src.label+": empty so far", false)
	}
	if n.Written.Before(l.start.Add(-writeEvery)) {
		l.quiet = n.Size
		return
	}
	k := bytes.LastIndex(n.End, []byte("disable_time_secs="))
	if k < 0 {
		return
	}
	line, rest, _ := bytes.Cut(n.End[k:], []byte("\n"))
	f, ok := parser.ParseFooter(line)
	if ok && len(rest) == 0 && time.UnixMicro(f.Time).Before(l.start) {
		l.quiet = n.Size
	}
}

// muted tells whether what is being read was written before the start.
func (l *live) muted() bool { return l.decoder.Offset() < l.quiet }

// sayOld says that a log has records that are not drawn, and none that are.
func (l *live) sayOld() {
	newest, ok := l.decoder.Newest()
	if !l.old || !ok || l.cycle == nil || l.cycle.Refused != "" {
		return
	}
	l.old = false
	l.note(time.Now(), l.unfinished(newest), false)
}

// unfinished is what is said of a log that ends without a footer.
func (l *live) unfinished(last int64) string {
	return fmt.Sprintf("%s: not finished, its last record is of %s: not drawn, use netwatch review %s", l.src.label,
		clock(time.UnixMicro(last), l.start), l.src.whole())
}

// clock is t as a person who looks at now has to be told it.
func clock(t, now time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04:05")
}
