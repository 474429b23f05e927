package ends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"netwatch/sources"
)

// limit is how long a turn of all ends may take: a card that resets its link needs
// seconds, a connection that hangs would take for ever.
const limit = 30 * time.Second

// A Refusal is the error of a turn that not every end made. Those that had made it
// were asked to put it back.
type Refusal struct {
	Text string  // who refused, why, and what became of the others
	errs []error // why, one for each end that refused
}

// Error is the Text.
func (r *Refusal) Error() string { return r.Text }

// Unwrap gives the reasons of the ends that refused or could not put back.
func (r *Refusal) Unwrap() []error { return r.errs }

// Ends are the hosts whose knobs can be turned. It is a Turner for each of them and
// for sources.Everywhere, and a Sink that passes on what it overhears. Its methods
// may be called from any goroutine.
type Ends struct {
	sink sources.Sink
	name string // of this host, in words

	together sync.Mutex // one turn of all ends at a time

	mu    sync.Mutex
	ends  []end
	waits map[knob]chan sources.Event // turns whose end is waited for
	value map[knob]string             // the newest value said
}

type end struct {
	host   string
	turner sources.Turner
}

type knob struct{ host, name string }

// New makes Ends without an end that pass what they overhear on to sink. here is
// what this host is called in words, "" is "here".
func New(sink sources.Sink, here string) *Ends {
	return &Ends{sink: sink, name: cmp.Or(here, "here"), waits: map[knob]chan sources.Event{}, value: map[knob]string{}}
}

// Add makes a host ("" = this one) an end. What its turns did must be said to these
// Ends, by Hear or because they are the Sink.
func (e *Ends) Add(host string, t sources.Turner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ends = append(e.ends, end{host, t})
}

// Sample implements sources.Sink.
func (e *Ends) Sample(s sources.Sample) { e.sink.Sample(s) }

// Event implements sources.Sink.
func (e *Ends) Event(v sources.Event) {
	e.overhear(v)
	e.sink.Event(v)
}

func (e *Ends) overhear(v sources.Event) {
	k := knob{v.Host, v.Subject}
	switch v.Kind {
	case sources.KnobSeen, sources.KnobDrifted, sources.KnobTurned, sources.KnobFailed:
	default:
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.value[k] = v.New
	if v.Kind != sources.KnobTurned && v.Kind != sources.KnobFailed {
		return
	}
	if w, waited := e.waits[k]; waited {
		select {
		case w <- v:
		default: // it has ended already: this is another turn
		}
	}
}

// Hear is src with these Ends between it and its Sink.
func (e *Ends) Hear(src sources.Source) sources.Source { return heard{src, e} }

type heard struct {
	sources.Source
	ends *Ends
}

// Run implements sources.Source. The sink it is given is not used: the Ends have it.
func (h heard) Run(ctx context.Context, _ sources.Sink) error { return h.Source.Run(ctx, h.ends) }

// Turn implements sources.Turner. On one host it is that host's Turn. Everywhere it
// is sent to all ends together; an end that refuses, or grants another value, has
// the others put back, and the error is a *Refusal. How all ended is said as KnobBoth.
func (e *Ends) Turn(ctx context.Context, host, name, value string) error {
	e.mu.Lock()
	ends := append([]end(nil), e.ends...)
	e.mu.Unlock()
	if host == sources.Everywhere {
		e.together.Lock()
		defer e.together.Unlock()
		return e.turnAll(ctx, ends, name, value)
	}
	for _, n := range ends {
		if n.host == host {
			return n.turner.Turn(ctx, host, name, value)
		}
	}
	return fmt.Errorf("no end %s: %w", e.word(host), errors.ErrUnsupported)
}

// An outcome is how a turn ended on one host.
type outcome struct {
	host     string
	turner   sources.Turner
	old, new string // before, and as it stands; "" where that is not known
	at       time.Time
	err      error // why it is not what was asked for
	hangs    bool  // it was asked, can still be, and did not say what came of it: what it is asked next it does afterwards
}

// A Readier is a Turner that may have to begin before it can turn. One end that begins
// only when it is asked would turn later than the others.
type Readier interface {
	Ready(context.Context) error
}

// unready is why ends cannot be asked, nil where all can.
func unready(ctx context.Context, ends []end) []error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	failed := make([]error, len(ends))
	var all sync.WaitGroup
	for i, n := range ends {
		if r, is := n.turner.(Readier); is {
			all.Go(func() { failed[i] = r.Ready(ctx) })
		}
	}
	all.Wait()
	if errors.Join(failed...) == nil {
		return nil
	}
	return failed
}

// turnAll finishes what it began, also when ctx ends: half a turn is none.
func (e *Ends) turnAll(ctx context.Context, ends []end, name, value string) error {
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	for _, n := range ends { // no end's phase may begin before all are turned
		e.sink.Event(sources.Event{At: began, Kind: sources.KnobTurning, Host: n.host, Source: "knobs", Subject: name,
			Old: e.last(n.host, name), Asked: value})
	}
	var got []outcome
	if cannot := unready(ctx, ends); cannot != nil {
		got = e.untried(ends, cannot, name, value)
	} else {
		got = each(ends, func(n end) outcome { return e.one(ctx, n, name, value) })
	}
	var failed, turned []outcome
	for _, o := range got {
		if o.err != nil {
			failed = append(failed, o)
		}
		if o.old != "" && (o.hangs || o.new != "" && o.new != o.old) {
			turned = append(turned, o)
		}
	}
	if len(failed) == 0 {
		e.sink.Event(together(got, name, value))
		return nil
	}
	back := e.putBack(ctx, turned, name)
	r := e.refusal(name, failed, back)
	now := time.Now()
	e.sink.Event(sources.Event{At: now, Span: now.Sub(began), Kind: sources.KnobBoth, Source: "knobs", Subject: name, Asked: value, Text: r.Text, Error: true})
	return r
}

// each does f for all ends at once.
func each(ends []end, f func(end) outcome) []outcome {
	got := make([]outcome, len(ends))
	var all sync.WaitGroup
	for i, n := range ends {
		all.Go(func() { got[i] = f(n) })
	}
	all.Wait()
	return got
}

// one turns a knob on one end and tells how that ended. A turn that could not be
// tried is told to everybody as one that failed, so that nobody waits for it.
func (e *Ends) one(ctx context.Context, n end, name, value string) outcome {
	k := knob{n.host, name}
	said := make(chan sources.Event, 1)
	e.mu.Lock()
	e.waits[k] = said
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := n.turner.Turn(ctx, n.host, name, value)
	e.mu.Lock()
	delete(e.waits, k)
	e.mu.Unlock()

	o := outcome{host: n.host, turner: n.turner, at: time.Now(), err: err, hangs: ctx.Err() != nil}
	select {
	case v := <-said:
		o.old, o.new, o.at, o.hangs = v.Old, v.New, v.At, false
		if err == nil {
			o.err = verify(v, value)
		}
		return o
	default:
	}
	o.old = e.last(n.host, name)
	if o.new = o.old; err == nil || o.hangs || errors.Is(err, sources.ErrUnanswered) {
		o.new, o.err = "", &unknown{name, err}
		o.hangs = o.hangs || err == nil
	} else if errors.Is(err, sources.ErrAway) {
		o.new = ""
	}
	e.Event(sources.Event{At: o.at, Kind: sources.KnobFailed, Host: n.host, Source: "knobs", Subject: name,
		Old: o.old, Asked: value, New: o.new, Text: o.err.Error(), Error: true})
	return o
}

// untried are the outcomes of a turn that nobody is asked for, since some ends cannot be.
// It is told to everybody as one that failed.
func (e *Ends) untried(ends []end, cannot []error, name, value string) []outcome {
	now := time.Now()
	got := make([]outcome, len(ends))
	for i, n := range ends {
		old := e.last(n.host, name)
		got[i] = outcome{host: n.host, turner: n.turner, old: old, new: old, at: now, err: cannot[i]}
		why := "it was not asked"
		if cannot[i] != nil {
			why = cannot[i].Error()
		}
		e.Event(sources.Event{At: now, Kind: sources.KnobFailed, Host: n.host, Source: "knobs", Subject: name,
			Old: old, Asked: value, New: old, Text: why, Error: true})
	}
	return got
}

// An unknown error is that of an end which was asked and did not say what came of it.
type unknown struct {
	name string
	why  error // nil: it answered without a word of what came of it
}

func (u *unknown) Error() string { return "it did not answer: its " + u.name + " is not known" }
func (u *unknown) Unwrap() []error {
	if u.why == nil {
		return []error{sources.ErrUnanswered}
	}
	return []error{sources.ErrUnanswered, u.why}
}

// verify says why an end's own words are not that the value was granted.
func verify(v sources.Event, value string) error {
	switch {
	case v.Kind == sources.KnobFailed:
		return errors.New(cmp.Or(v.Text, "refused"))
	case value == "on" && v.New != "off": // all that this card can: "tso4" where it has no TSO6
	case v.New != value:
		return fmt.Errorf("asked %s, granted %s", value, v.New)
	}
	return nil
}

// Value is what was said last of a knob, "" for one of which nothing was.
func (e *Ends) Value(host, name string) string { return e.last(host, name) }

func (e *Ends) last(host, name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.value[knob{host, name}]
}

// together is the event of a turn that all ends made. Old is the value they had, or
// each end's own.
func together(got []outcome, name, value string) sources.Event {
	first, last, same := got[0].at, got[0].at, true
	var olds []string
	for _, o := range got {
		if o.at.Before(first) {
			first = o.at
		}
		if o.at.After(last) {
			last = o.at
		}
		same = same && o.old == got[0].old
		olds = append(olds, o.old)
	}
	if same {
		olds = olds[:1]
	}
	return sources.Event{At: last, Span: last.Sub(first), Kind: sources.KnobBoth, Source: "knobs", Subject: name,
		Old: strings.Join(olds, "|"), Asked: value, New: value}
}

// putBack turns the ends that were turned back to what they were.
func (e *Ends) putBack(ctx context.Context, turned []outcome, name string) []outcome {
	var ends []end
	olds := map[string]string{}
	for _, o := range turned {
		ends = append(ends, end{o.host, o.turner})
		olds[o.host] = o.old
	}
	return each(ends, func(n end) outcome { return e.one(ctx, n, name, olds[n.host]) })
}

// refusal puts into words who refused and what became of the others.
func (e *Ends) refusal(name string, failed, back []outcome) *Refusal {
	r := &Refusal{}
	var parts []string
	for _, o := range failed {
		r.errs = append(r.errs, o.err)
		if errors.As(o.err, new(*unknown)) {
			parts = append(parts, e.word(o.host)+strings.TrimPrefix(o.err.Error(), "it"))
			continue
		}
		parts = append(parts, e.word(o.host)+": "+o.err.Error())
	}
	for _, o := range back {
		if o.err != nil {
			r.errs = append(r.errs, o.err)
			if errors.Is(o.err, sources.ErrAway) { // lost since it turned: it puts back by itself, or was killed
				parts = append(parts, e.word(o.host)+" is gone: its "+name+" is not known")
				continue
			}
			parts = append(parts, e.word(o.host)+" is NOT put back, it is "+cmp.Or(o.new, "unknown")+": "+o.err.Error())
			continue
		}
		parts = append(parts, e.word(o.host)+" put back to "+o.new)
	}
	r.Text = strings.Join(parts, "; ")
	return r
}

func (e *Ends) word(host string) string { return cmp.Or(host, e.name) }

var _ interface {
	sources.Turner
	sources.Sink
} = (*Ends)(nil)
