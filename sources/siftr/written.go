package siftr

import (
	"errors"
	"time"

	"netwatch/sources"
)

// switchesEvery is how often the kernel is asked how it writes the log.
const switchesEvery = time.Second

// A writing is what is known of how the kernel writes the log that is followed.
type writing struct {
	asked   time.Time
	on      bool // a module is on, and this is its log file
	filters Filters
	gone    int  // looks in a row at which the kernel named another file
	absent  bool // nothing is at the path
	wrong   bool // that the file in use must be another one was said
	mixing  bool // that ids may be shared was said
}

// askKernel looks at the switches of the modules once in a while.
func (l *live) askKernel() {
	now := time.Now()
	if l.src.kernel == nil || now.Sub(l.written.asked) < switchesEvery {
		return
	}
	before := l.written.asked
	l.written.asked = now
	ask := modules
	if l.src.module != "" {
		ask = []string{l.src.module}
	}
	own := false
	for _, m := range ask {
		sw, err := ReadSwitches(l.src.kernel, m)
		if err != nil {
			continue
		}
		if sw.LogFile == l.src.path {
			own = true
			l.setWritten(sw, before, now)
		} else if l.src.module != "" {
			l.otherFile(sw)
		}
	}
	if !own {
		l.written.on = false
	}
	l.sayMixing()
}

// setWritten compares how the log is written with what was said of it.
func (l *live) setWritten(sw Switches, before, now time.Time) {
	w := &l.written
	w.gone = 0
	if sw.Enabled && w.absent && !w.wrong {
		w.wrong = true
		l.note(now, l.noFile(sw), true)
	}
	if !sw.Enabled {
		w.on = false
		return
	}
	if w.on && w.filters == sw.Filters {
		return
	}
	was := ""
	if w.on {
		was = w.filters.Thinned()
		if was == "" && sw.Thinned() != "" && !before.IsZero() { // it changed somewhere in between
			l.sampled(now, now.Sub(before), sw.Thinned())
		}
	} else if l.bins.thinned {
		was = w.filters.Thinned()
	}
	w.on, w.filters = true, sw.Filters
	if why := sw.Thinned(); why != was {
		l.bins.thin(why != "")
		l.sampled(now, 0, why)
	}
	for _, text := range sw.words() {
		l.note(now, l.src.label+": "+text, false)
	}
}

// sampled says that the log holds only some of the packets.
func (l *live) sampled(at time.Time, span time.Duration, why string) {
	l.event(sources.Event{At: at, Span: span, Kind: sources.LogSampled, Subject: l.src.label, Text: why})
}

// noFile explains a log file that the kernel names and nobody finds.
func (l *live) noFile(sw Switches) string {
	if sw.Module == "siftr" {
		return "siftr is on and its logfile reads " + l.src.path + ", but nothing is there: " +
			"a refused name reads back too, and a removed log is still written; look for another file"
	}
	return sw.Module + " is on and its logfile reads " + l.src.path + ", but nothing is there: " +
		"a removed log is still written, and a new name counts from the next enable on"
}

// otherFile leaves the log when the kernel names another one for the second time in
// a row: what was still on its way is read by then. Stock siftr goes over at once;
// siftr2 goes on with the file it has until it is enabled anew.
func (l *live) otherFile(sw Switches) {
	l.written.gone++
	stays := sw.Module == "siftr2" && sw.Enabled && l.cycle != nil && !l.muted()
	if l.written.gone >= 2 && !stays {
		l.leave()
	}
}

// moved begins with another file.
func (l *live) moved() {
	l.quiet, l.silence = 0, 0
	l.written = writing{mixing: l.written.mixing, filters: l.written.filters}
}

// sayMixing says that connections may share an id, once.
func (l *live) sayMixing() {
	if l.written.mixing || l.cycle == nil || l.cycle.Module != "siftr2" {
		return
	}
	b, err := l.src.kernel.Read("net.route.hash_outbound")
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err == nil && len(b) > 0 && b[0] != 0 {
		l.written.mixing = true
		l.note(time.Now(), "net.route.hash_outbound is on: connections to one address and port share an id, and their records are mixed", false)
	}
}
