package experiment

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"netwatch/sources"
)

// byTrust are the sources of connections, the best first.
var byTrust = []string{"siftr2", "siftr", "tcp"}

// Busiest returns the flow that is charted for a host, as the best source knows
// it, or nil.
func (s *Session) Busiest(host string) *FlowState {
	var any *FlowState
	for _, source := range byTrust {
		f := s.flows.busiest[hostName{host, source}]
		if f != nil && f.alive(s.now) {
			return f
		}
		if any == nil {
			any = f
		}
	}
	return any
}

// Charted returns the flow that the charts of a host are of: where data goes out the one
// that sends most, else the busiest.
func (s *Session) Charted(host string) *FlowState {
	if g := s.Find(Goodput, host); g != nil && g.Origin.Metric == sources.RxGood {
		return s.Busiest(host)
	}
	for _, source := range byTrust {
		if f := s.flows.sender[hostName{host, source}]; f != nil && f.alive(s.now) && f.sends() {
			return f
		}
	}
	return s.Busiest(host)
}

// ChartedAt is Charted at a past time.
func (s *Session) ChartedAt(host string, at time.Time) *FlowState {
	if g := s.FindAt(Goodput, host, at, time.Minute); g != nil && g.Origin.Metric == sources.RxGood {
		return s.BusiestAt(host, at)
	}
	for _, source := range byTrust {
		f := s.flows.reigning(hostName{host, source}, true, at)
		if f == nil {
			continue
		}
		if _, sent := f.At(sources.Cwnd, at); sent { // of others it is not kept
			return f
		}
	}
	return s.BusiestAt(host, at)
}

// remembered is how long the list holds a flow that ended.
const remembered = 30 * time.Second

// Flows returns the connections, the busiest first. Flows that ended more than
// half a minute ago are left out. A connection that two sources follow is one row;
// in two logs of one module it is two.
func (s *Session) Flows() []*FlowState {
	out := s.flowRows(s.now)
	slices.SortStableFunc(out, func(a, b *FlowState) int { return cmp.Compare(b.rate(), a.rate()) })
	return out
}

// FlowsAt returns the connections as Flows would have at a past time: those that began
// later are left out, and the busiest of then is the first.
func (s *Session) FlowsAt(at time.Time) []*FlowState {
	out := s.flowRows(at)
	rates := make(map[*FlowState]float64, len(out))
	for _, f := range out {
		rates[f] = f.rateAt(at)
	}
	slices.SortStableFunc(out, func(a, b *FlowState) int { return cmp.Compare(rates[b], rates[a]) })
	return out
}

func (s *Session) flowRows(at time.Time) []*FlowState {
	var out []*FlowState
	for _, f := range s.flows.all {
		if f.Began.After(at) || f.Over(at) && at.Sub(f.Ended) > remembered {
			continue
		}
		if i := slices.IndexFunc(out, func(o *FlowState) bool { return o.Host == f.Host && o.Source != f.Source && same(o, f) }); i >= 0 {
			out[i] = join(out[i], f)
			continue
		}
		out = append(out, f)
	}
	return out
}

// join makes one row of two views of a connection. The log's id wins.
func join(a, b *FlowState) *FlowState {
	if len(b.LogID()) == 8 && len(a.LogID()) != 8 {
		a, b = b, a
	}
	j := *a
	j.told = maps.Clone(b.told)
	maps.Copy(j.told, a.told)
	j.TSO, j.Mixed = cmp.Or(a.TSO, b.TSO), a.Mixed || b.Mixed
	j.NoPayload = a.NoPayload || b.NoPayload
	j.Stack, j.CC, j.MSS = cmp.Or(a.Stack, b.Stack), cmp.Or(a.CC, b.CC), cmp.Or(a.MSS, b.MSS)
	j.Ended = endOf(a, b)
	j.heard(b.Began)
	j.out, j.in = max(a.out, b.out), max(a.in, b.in)
	return &j
}

// endOf is when a connection ended that two sources follow, zero while it lives. A log
// that ends says nothing of the connection while the kernel has it; and a log that
// goes on tells of the next one with these addresses.
func endOf(a, b *FlowState) time.Time {
	kernel, log := a, b
	if a.ofLog() {
		kernel, log = b, a
	}
	if !kernel.Ended.IsZero() && log.Ended.IsZero() && log.newest().Sub(kernel.Ended) > time.Second {
		return time.Time{}
	}
	return kernel.Ended
}

// Over says whether the flow had ended at a time.
func (f *FlowState) Over(at time.Time) bool { return !f.Ended.IsZero() && !f.Ended.After(at) }

// Now is a figure of the flow as it is now, from the best source that tells it. As in
// a chart, one that is silent for too long tells none; nor does a flow that ended.
func (f *FlowState) Now(m sources.Metric, now time.Time) (v float64, ok bool) {
	if f.Over(now) {
		return 0, false
	}
	for _, source := range byTrust {
		t := f.told[Origin{source, m}]
		if t == nil {
			continue
		}
		if _, stale := t.Stale(now); !stale {
			return t.Now()
		}
	}
	return 0, false
}

// At is a figure of the flow as it was at a past time.
func (f *FlowState) At(m sources.Metric, at time.Time) (v float64, ok bool) {
	if f.Over(at) {
		return 0, false
	}
	for _, source := range byTrust {
		if t := f.told[Origin{source, m}]; t != nil {
			if v, ok = t.At(at); ok {
				return v, true
			}
		}
	}
	return 0, false
}

// Moving is how many connections of a host move data now. Where it is more than one and
// no load generator tells the sum, goodput is that of one of them.
func (s *Session) Moving(host string) int {
	return moving(s.Flows(), host, func(f *FlowState, m sources.Metric) (float64, bool) { return f.Now(m, s.now) })
}

// MovingAt is Moving at a past time.
func (s *Session) MovingAt(host string, at time.Time) int {
	return moving(s.FlowsAt(at), host, func(f *FlowState, m sources.Metric) (float64, bool) { return f.At(m, at) })
}

func moving(flows []*FlowState, host string, figure func(*FlowState, sources.Metric) (float64, bool)) (n int) {
	for _, f := range flows {
		out, _ := figure(f, sources.Goodput)
		in, _ := figure(f, sources.RxGood)
		if f.Host == host && out+in > leastSent {
			n++
		}
	}
	return n
}

// OfConnection says whether a Track's figures are those of one connection, not of a load
// with all its streams.
func (t *Track) OfConnection() bool { return flowSources[t.Origin.Source] }

// rateAt orders flows as rate does, by what they did at a past time.
func (f *FlowState) rateAt(at time.Time) (sum float64) {
	for _, m := range []sources.Metric{sources.Goodput, sources.RxGood, sources.Sampled, sources.RxSampled} {
		v, _ := f.At(m, at)
		sum += v
	}
	if sum == 0 && f.goodput.IsZero() {
		sum, _ = f.At(sources.Inflight, at)
	}
	return sum
}

// Records is how many records of a flow a source's log has a second now.
func (f *FlowState) Records(source string, now time.Time) float64 {
	t := f.told[Origin{source, sources.Records}]
	if t == nil || now.Sub(t.Last.At) >= 2*time.Second {
		return 0
	}
	v, _ := t.Now()
	return v
}

// OnlyReceives says whether a host has connections that are alive, and none of them
// sends.
func (s *Session) OnlyReceives(host string) bool {
	lives := false
	for _, f := range s.flows.all {
		if f.Host != host || !f.alive(s.now) {
			continue
		}
		if f.sends() {
			return false
		}
		lives = true
	}
	return lives
}
