package experiment

import (
	"time"

	"netwatch/experiment/series"
)

// A reign is the time from which on a flow is charted, until the next one is.
type reign struct {
	of     hostName
	sender bool // as the one that sends most, else as the busiest
	from   time.Time
	flow   *FlowState
}

// maxReigns bounds how many changes of the charted flow are kept.
const maxReigns = 256

func (t *flowTable) reign(of hostName, sender bool, from time.Time, f *FlowState) {
	if len(t.reigns) == maxReigns {
		t.reigns = append(t.reigns[:0], t.reigns[maxReigns/4:]...)
	}
	t.reigns = append(t.reigns, reign{of, sender, from, f})
}

// reigning is the flow that was charted at a past time, nil where that is not known.
func (t *flowTable) reigning(of hostName, sender bool, at time.Time) *FlowState {
	for i := len(t.reigns) - 1; i >= 0; i-- {
		if r := t.reigns[i]; r.of == of && r.sender == sender && !r.from.After(at) {
			return r.flow
		}
	}
	return nil
}

// BusiestAt returns the flow that was the busiest of a host at a past time, as the best
// source knew it that told of it then; nil where there was none.
func (s *Session) BusiestAt(host string, at time.Time) *FlowState {
	var any *FlowState
	for _, source := range byTrust {
		f := s.flows.reigning(hostName{host, source}, false, at)
		if f != nil && f.toldAt(at) {
			return f
		}
		if any == nil {
			any = f
		}
	}
	return any
}

// toldAt says whether there is any figure of the flow at a past time.
func (f *FlowState) toldAt(at time.Time) bool {
	for _, t := range f.told {
		if _, ok := t.At(at); ok {
			return true
		}
	}
	return false
}

// SubjectAt is whose figure a Track had at a past time. Of what is no connection it is
// always the same.
func (s *Session) SubjectAt(t *Track, at time.Time) string {
	if !flowSources[t.Origin.Source] {
		return t.Subject
	}
	if f := s.flows.reigning(hostName{t.Host, t.Origin.Source}, !ofBusiest[t.Origin.Metric], at); f != nil {
		return f.ID
	}
	return ""
}

// FindAt returns the Track to show for a Quantity at a past time: the best origin that
// told it then, else the best that did within some time before, else as Find.
func (s *Session) FindAt(q *Quantity, host string, at time.Time, within time.Duration) *Track {
	var last *Track
	for _, t := range s.order {
		if t.Quantity != q || t.Host != host {
			continue
		}
		if _, ok := t.At(at); ok {
			return s.directionAt(t, at)
		}
		if last == nil && t.toldWithin(at, within) {
			last = t
		}
	}
	if last != nil {
		return s.directionAt(last, at)
	}
	return s.Find(q, host)
}

// toldWithin says whether a Track has a reading in the time before another.
func (t *Track) toldWithin(at time.Time, within time.Duration) bool {
	const columns = 60
	var bins [columns]series.Bin
	t.Ring.Window(bins[:], at.Add(-within), within/columns)
	for _, b := range bins {
		if b.N > 0 {
			return true
		}
	}
	return false
}
