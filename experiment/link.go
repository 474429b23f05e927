package experiment

import (
	"strings"
	"time"

	"netwatch/sources"
)

// A linkState follows one interface through turns that reset it and through
// lost links. While it is blank no rate of the interface is believed.
type linkState struct {
	down, turning bool
	from, to      time.Time // the newest blank stretch; to is zero while it lasts
}

func ifaceOf(subject string) string {
	name, _, _ := strings.Cut(subject, ":")
	return name
}

func (s *Session) link(host, iface string) *linkState {
	k := hostName{host, iface}
	l := s.links[k]
	if l == nil {
		l = &linkState{}
		s.links[k] = l
	}
	return l
}

func (l *linkState) open(at time.Time) {
	if l.to.IsZero() && !l.from.IsZero() {
		return
	}
	l.from, l.to = at, time.Time{}
}

func (l *linkState) closeIfWell(at time.Time) {
	if !l.down && !l.turning && !l.from.IsZero() && l.to.IsZero() {
		l.to = at
	}
}

func (l *linkState) turn(at time.Time) { l.turning = true; l.open(at) }
func (l *linkState) turned(at time.Time) {
	l.turning = false
	l.closeIfWell(at)
}

// lose forgets what the interface was about: its host is gone.
func (l *linkState) lose(at time.Time) {
	l.down, l.turning = false, false
	l.closeIfWell(at)
}

func (l *linkState) event(e sources.Event) {
	l.down = e.Kind == sources.LinkDown
	if l.down {
		l.open(e.At)
		return
	}
	l.closeIfWell(e.At)
}

// blank says whether any part of the Sample lies in the newest blank stretch.
func (l *linkState) blank(v sources.Sample) bool {
	return !l.from.IsZero() && v.At.After(l.from) && (l.to.IsZero() || v.At.Add(-v.Span).Before(l.to))
}

// LinkDown says whether the watched interface of a host is without link, or gone,
// and since when.
func (s *Session) LinkDown(host string) (since time.Time, down bool) {
	if l := s.link(host, s.InterfaceOf(host)); l.down {
		return l.from, true
	}
	return time.Time{}, false
}

// unsettled says whether any interface of any end is in a blank stretch that
// touches the Sample: such samples are drawn where they are true, but not counted.
func (s *Session) unsettled(v sources.Sample) bool {
	for _, l := range s.links {
		if l.blank(v) {
			return true
		}
	}
	return false
}
