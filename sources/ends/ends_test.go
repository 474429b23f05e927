package ends

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/sources"
)

// A fakeEnd is a host with the knob aim. It says what its turns did to a sink, as a
// board does, and takes its time.
type fakeEnd struct {
	host    string
	sink    sources.Sink
	takes   time.Duration
	value   string
	refuses string // what its kernel says to the value 2
	clamps  string // what it grants instead of 2
	stuck   string // what it says to the value 1, once it has another
	untried error  // a turn cannot be tried
	mute    bool   // it says nothing
	lost    error  // how it ends once it has turned, after which it is away
	once    bool   // it takes its time only for the first turn
	turns   []string
}

func (f *fakeEnd) Turn(ctx context.Context, host, knob, value string) error {
	f.turns = append(f.turns, value)
	if f.lost != nil && len(f.turns) > 1 {
		return sources.ErrAway
	}
	if f.untried != nil {
		return f.untried
	}
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		if f.once {
			f.takes = 0
		}
		return ctx.Err()
	}
	e := sources.Event{At: time.Now(), Span: f.takes, Kind: sources.KnobTurned, Host: host, Subject: knob, Old: f.value, Asked: value, New: value}
	switch {
	case value == "2" && f.refuses != "":
		e.Kind, e.Text, e.New = sources.KnobFailed, f.refuses, f.value
	case value == "1" && f.stuck != "":
		e.Kind, e.Text, e.New = sources.KnobFailed, f.stuck, f.value
	case value == "2" && f.clamps != "":
		e.New = f.clamps
	}
	f.value = e.New
	if !f.mute {
		f.sink.Event(e)
	}
	return f.lost
}

type log struct {
	mu     sync.Mutex
	events []sources.Event
}

func (l *log) Sample(sources.Sample) {}
func (l *log) Event(e sources.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// kinds are what was said, without the order in which the ends said it.
func (l *log) kinds() []string {
	var out []string
	for _, e := range l.events {
		out = append(out, string(e.Kind)+" "+e.Host+" "+e.Old+">"+e.New)
	}
	slices.Sort(out)
	return out
}

func TestTurnEverywhere(t *testing.T) {
	notTried := errors.New("r1 is gone")
	tests := []struct {
		name      string
		here, far fakeEnd
		hereTurns []string
		farTurns  []string
		text      string // of the refusal
		both      sources.Event
	}{
		{
			name: "both turn",
			here: fakeEnd{takes: time.Millisecond}, far: fakeEnd{takes: 10 * time.Millisecond},
			hereTurns: []string{"2"}, farTurns: []string{"2"},
			both: sources.Event{Old: "1", Asked: "2", New: "2", Span: 9 * time.Millisecond},
		},
		{
			name: "from different values",
			here: fakeEnd{}, far: fakeEnd{value: "0"},
			hereTurns: []string{"2"}, farTurns: []string{"2"},
			both: sources.Event{Old: "1|0", Asked: "2", New: "2"},
		},
		{
			name: "the far kernel refuses",
			here: fakeEnd{}, far: fakeEnd{refuses: "operation not permitted"},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1: operation not permitted; s1 put back to 1",
		},
		{
			name: "the near one cannot be tried",
			here: fakeEnd{untried: os.ErrPermission}, far: fakeEnd{},
			hereTurns: []string{"2"}, farTurns: []string{"2", "1"},
			text: "s1: permission denied; r1 put back to 1",
		},
		{
			name: "the far one is gone",
			here: fakeEnd{}, far: fakeEnd{untried: notTried},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1: r1 is gone; s1 put back to 1",
		},
		{
			name: "both refuse",
			here: fakeEnd{refuses: "no"}, far: fakeEnd{refuses: "never"},
			hereTurns: []string{"2"}, farTurns: []string{"2"},
			text: "s1: no; r1: never",
		},
		{
			name: "another value is granted",
			here: fakeEnd{}, far: fakeEnd{clamps: "7"},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2", "1"},
			text: "r1: asked 2, granted 7; s1 put back to 1; r1 put back to 1",
		},
		{
			name: "the near one cannot be put back",
			here: fakeEnd{stuck: "device busy"}, far: fakeEnd{refuses: "no"},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1: no; s1 is NOT put back, it is 2: device busy",
		},
		{
			name: "it does not tell",
			here: fakeEnd{}, far: fakeEnd{mute: true},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1 did not answer: its aim is not known; s1 put back to 1",
		},
		{
			name: "it hangs",
			here: fakeEnd{}, far: fakeEnd{takes: time.Hour},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1 did not answer: its aim is not known; s1 put back to 1",
		},
		{
			name: "its link is lost when it was asked",
			here: fakeEnd{}, far: fakeEnd{untried: fmt.Errorf("no word for 8s: %w", sources.ErrUnanswered)},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2"},
			text: "r1 did not answer: its aim is not known; s1 put back to 1",
		},
		{
			name: "its link is lost when it has turned",
			here: fakeEnd{}, far: fakeEnd{lost: fmt.Errorf("the agent is gone: %w", sources.ErrUnanswered)},
			hereTurns: []string{"2", "1"}, farTurns: []string{"2", "1"},
			text: "r1: the agent is gone: no answer; s1 put back to 1; r1 is gone: its aim is not known",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &log{}
				e := New(out, "s1")
				for _, f := range []*fakeEnd{&c.here, &c.far} {
					f.sink = e
					if f.value == "" {
						f.value = "1"
					}
				}
				e.Add("", &c.here)
				e.Add("r1", &c.far)
				began := time.Now()
				err := e.Turn(t.Context(), sources.Everywhere, "aim", "2")
				if c.text == "" && err != nil || c.text != "" && (err == nil || err.Error() != c.text) {
					t.Errorf("error %q, want %q", err, c.text)
				}
				if d := cmp.Diff(c.hereTurns, c.here.turns); d != "" {
					t.Errorf("turns here: %s", d)
				}
				if d := cmp.Diff(c.farTurns, c.far.turns); d != "" {
					t.Errorf("turns there: %s", d)
				}
				last := out.events[len(out.events)-1]
				want := c.both
				want.Kind, want.Source, want.Subject, want.Asked, want.At = sources.KnobBoth, "knobs", "aim", "2", last.At
				if c.text != "" {
					want.Text, want.Error, want.Span = c.text, true, last.At.Sub(began)
				}
				if d := cmp.Diff(want, last); d != "" {
					t.Errorf("last event: %s", d)
				}
				if c.text == "" && last.At.Sub(began) != max(c.here.takes, c.far.takes) {
					t.Errorf("the ends were not turned at once: it took %v", last.At.Sub(began))
				}
			})
		})
	}
}

// Each end is said to be turning before any of them is turned, and each has an end
// of its turn, also one that was never tried.
func TestEveryTurnThatBeginsEnds(t *testing.T) {
	out := &log{}
	e := New(out, "")
	e.Event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "0"})
	here := &fakeEnd{sink: e, value: "1"}
	e.Add("", here)
	e.Add("r1", &fakeEnd{sink: e, untried: os.ErrPermission})
	err := e.Turn(t.Context(), sources.Everywhere, "aim", "2")
	var r *Refusal
	if !errors.Is(err, os.ErrPermission) || !errors.As(err, &r) {
		t.Errorf("error %v is no refusal for want of permission", err)
	}
	want := []string{
		"knob-both  >", "knob-failed r1 0>0", "knob-seen r1 >0", "knob-turned  1>2", "knob-turned  2>1",
		"knob-turning  >", "knob-turning r1 0>",
	}
	if d := cmp.Diff(want, out.kinds()); d != "" {
		t.Error(d)
	}
	for i, e := range out.events[1:3] {
		if e.Kind != sources.KnobTurning {
			t.Errorf("event %d is %s, want both ends turning first", i+1, e.Kind)
		}
	}
}

// An end that takes too long is asked to put back, too: it does so when it comes to it.
func TestAnEndThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &log{}
		e := New(out, "s1")
		e.Event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "1"})
		here, far := &fakeEnd{sink: e, value: "1"}, &fakeEnd{sink: e, value: "1", takes: time.Hour, once: true}
		e.Add("", here)
		e.Add("r1", far)
		err := e.Turn(t.Context(), sources.Everywhere, "aim", "2")
		const want = "r1 did not answer: its aim is not known; s1 put back to 1; r1 put back to 1"
		if err == nil || err.Error() != want || here.value != "1" || far.value != "1" {
			t.Errorf("here %s, there %s, %v", here.value, far.value, err)
		}
		failed := slices.IndexFunc(out.events, func(v sources.Event) bool { return v.Kind == sources.KnobFailed })
		if failed < 0 || out.events[failed].Host != "r1" || out.events[failed].New != "" {
			t.Errorf("what is not known is told as known: %+v", out.events)
		}
	})
}

// What the knob of a host is that is away is not known, whatever it said before.
func TestAnEndThatIsAway(t *testing.T) {
	out := &log{}
	e := New(out, "s1")
	e.Event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "2"})
	e.Add("", &fakeEnd{sink: e, value: "2"})
	e.Add("r1", &fakeEnd{sink: e, untried: sources.ErrAway})
	if err := e.Turn(t.Context(), sources.Everywhere, "aim", "1"); err == nil || err.Error() != "r1: it is not connected; s1 put back to 2" {
		t.Errorf("error %q", err)
	}
	if !slices.Contains(out.kinds(), "knob-failed r1 2>") {
		t.Errorf("what is not known is told as known: %q", out.kinds())
	}
}

func TestTurnOfOneEnd(t *testing.T) {
	out := &log{}
	e := New(out, "")
	here, far := &fakeEnd{sink: e, value: "1"}, &fakeEnd{sink: e, value: "1"}
	e.Add("", here)
	e.Add("r1", far)
	if err := e.Turn(t.Context(), "r1", "aim", "2"); err != nil || here.value != "1" || far.value != "2" {
		t.Errorf("here %s, there %s, %v", here.value, far.value, err)
	}
	if err := e.Turn(t.Context(), "r9", "aim", "2"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a host that is no end: %v", err)
	}
	if len(out.events) != 1 {
		t.Errorf("said %v", out.events)
	}
}

type speaker struct{}

func (speaker) Name() string { return "agent" }
func (speaker) Run(_ context.Context, sink sources.Sink) error {
	sink.Event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "0"})
	sink.Sample(sources.Sample{})
	return nil
}

func TestHear(t *testing.T) {
	out := &log{}
	e := New(out, "")
	src := e.Hear(speaker{})
	if err := src.Run(t.Context(), nil); err != nil || src.Name() != "agent" {
		t.Errorf("%s: %v", src.Name(), err)
	}
	if len(out.events) != 1 || e.last("r1", "aim") != "0" {
		t.Errorf("said %v, heard %q", out.events, e.last("r1", "aim"))
	}
}
