package ends

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netwatch/sources"
)

// A beginner must begin before its first turn.
type beginner struct {
	fakeEnd
	needs time.Duration
	fails error
	begun bool
}

func (b *beginner) Ready(context.Context) error {
	if !b.begun {
		time.Sleep(b.needs)
	}
	b.begun = b.fails == nil
	return b.fails
}

func (b *beginner) Turn(ctx context.Context, host, knob, value string) error {
	if err := b.Ready(ctx); err != nil {
		return err
	}
	return b.fakeEnd.Turn(ctx, host, knob, value)
}

// An end that has to begin first does not turn later than the others.
func TestEndsAreReadyBeforeTheyAreTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &log{}
		e := New(out, "s1")
		here := &beginner{fakeEnd: fakeEnd{sink: e, value: "1"}, needs: 40 * time.Millisecond}
		far := &fakeEnd{sink: e, value: "1", takes: 3 * time.Millisecond}
		e.Add("", here)
		e.Add("r1", far)
		began := time.Now()
		if err := e.Turn(t.Context(), sources.Everywhere, "aim", "2"); err != nil {
			t.Fatal(err)
		}
		if both := out.events[len(out.events)-1]; both.Span != 3*time.Millisecond || time.Since(began) != 43*time.Millisecond {
			t.Errorf("skew %v, %v in all; want 3ms and 43ms", both.Span, time.Since(began))
		}
	})
}

// Where one end cannot begin no other is turned, and each is told to be as it was.
func TestAnEndThatCannotBegin(t *testing.T) {
	out := &log{}
	e := New(out, "s1")
	here, far := &beginner{fakeEnd: fakeEnd{sink: e}, fails: os.ErrPermission}, &fakeEnd{sink: e, value: "1"}
	e.Add("", here)
	e.Add("r1", far)
	for _, host := range []string{"", "r1"} {
		e.Event(sources.Event{Kind: sources.KnobSeen, Host: host, Subject: "aim", New: "1"})
	}
	err := e.Turn(t.Context(), sources.Everywhere, "aim", "2")
	if !errors.Is(err, os.ErrPermission) || err.Error() != "s1: permission denied" || len(far.turns) > 0 {
		t.Errorf("%v; the other end was turned to %v", err, far.turns)
	}
	want := []string{"knob-both  >", "knob-failed  1>1", "knob-failed r1 1>1", "knob-seen  >1", "knob-seen r1 >1", "knob-turning  1>", "knob-turning r1 1>"}
	if d := cmp.Diff(want, out.kinds()); d != "" {
		t.Error(d)
	}
}

// An end that answers without a word of what came of it has perhaps turned: it is asked to
// put back, and what it has then is not known.
func TestAnEndThatDoesNotTell(t *testing.T) {
	out := &log{}
	e := New(out, "s1")
	e.Event(sources.Event{Kind: sources.KnobSeen, Host: "r1", Subject: "aim", New: "1"})
	here, far := &fakeEnd{sink: e, value: "1"}, &fakeEnd{sink: e, value: "1", mute: true}
	e.Add("", here)
	e.Add("r1", far)
	err := e.Turn(t.Context(), sources.Everywhere, "aim", "2")
	const want = "r1 did not answer: its aim is not known; s1 put back to 1; r1 is NOT put back, it is unknown: it did not answer: its aim is not known"
	if !errors.Is(err, sources.ErrUnanswered) || err.Error() != want || far.value != "1" {
		t.Errorf("%v; it has %s", err, far.value)
	}
}
