package agent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/hub"
)

// A far end that says nothing more, while ssh still lives, is given up after a few
// seconds; what it was asked last is not known, and no Go words tell so.
func TestAFarEndThatGoesSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, ClientConfig{Host: "r1"}, answering(1))
		began := time.Now()
		err := p.Turn(t.Context(), "r1", "aim", "2")
		if !errors.Is(err, sources.ErrUnanswered) || !strings.Contains(err.Error(), "no word for 8s, while turning aim to 2") {
			t.Errorf("the turn: %v", err)
		}
		if end := <-p.end; end == nil || !strings.Contains(end.Error(), "the agent on r1 is gone") {
			t.Errorf("the end: %v", end)
		}
		if took := time.Since(began); took < silenceHere || took > silenceHere+2*look {
			t.Errorf("given up after %v", took)
		}
	})
}

// answering is an agent that answers so many questions about the clock and then only
// listens.
func answering(n int) func(in io.Reader, out io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		w, err := recording.NewWriter(out, header())
		if err != nil {
			return err
		}
		requests := recording.NewRequests(in)
		for {
			q, err := requests.Next()
			if err != nil {
				return nil
			}
			if n--; q.Clock != nil && n >= 0 {
				if err := w.WriteAnswer(recording.Answer{Clock: q.Clock}); err != nil {
					return err
				}
			}
		}
	}
}

// Before the limit it is asked for nothing new: that would lie in the pipe.
func TestWhatIsSilentIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, ClientConfig{Host: "r1"}, answering(1))
		must(t, p.Ready(t.Context()))
		time.Sleep(silenceTold + 2*look)
		if q := p.Quiet(); q < silenceTold {
			t.Errorf("silent for %v", q)
		}
		err := p.Turn(t.Context(), "r1", "aim", "2")
		if err == nil || errors.Is(err, sources.ErrUnanswered) || !strings.Contains(err.Error(), "has not said a word for") {
			t.Errorf("the turn: %v", err)
		}
		<-p.end
	})
}

// One that never says a word, like an ssh whose packets are dropped, is given up, too.
func TestAFarEndThatNeverSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, ClientConfig{Host: "r1"}, func(in io.Reader, _ io.Writer) error {
			io.Copy(io.Discard, in)
			return nil
		})
		if err := <-p.end; err == nil || err.Error() != "the agent on r1 did not start: no word for 30s" {
			t.Error(err)
		}
	})
}

// A link with nothing to tell stays up, for both sides, and a slow turn is no silence.
func TestAQuietLinkHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		p := newPair(t, ClientConfig{Host: "r1"}, serving(t.Context(), Config{Knobs: []sources.Knob{aim}}))
		time.Sleep(10 * time.Minute)
		must(t, p.Turn(t.Context(), "r1", "aim", "2"))
		time.Sleep(10 * time.Minute)
		aim.is(t, "2")
		p.stop()
		must(t, <-p.end)
		aim.is(t, "1")
	})
}

// asked is an agent asked by hand: its words are dropped, or not even taken.
func askedByHand(t *testing.T, k sources.Knob, taken bool) (ask func(format string, args ...any), done chan error) {
	in, asker := io.Pipe()
	out, said := io.Pipe()
	done = make(chan error, 1)
	go func() { done <- Serve(t.Context(), in, said, Config{Header: header(), Knobs: []sources.Knob{k}}) }()
	t.Cleanup(func() { asker.Close(); out.Close() })
	if taken {
		go io.Copy(io.Discard, out)
	} else {
		go io.CopyN(io.Discard, out, 400)
	}
	return func(format string, args ...any) { fmt.Fprintf(asker, format+"\n", args...); synctest.Wait() }, done
}

// An asker that promised to speak and does not is gone: what it turned is put back.
func TestAnAskerThatGoesSilent(t *testing.T) {
	for _, taken := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			aim := &fakeKnob{name: "aim", value: "1"}
			ask, done := askedByHand(t, aim, taken)
			for range 3 {
				ask(`{"clock":{"id":1,"at":1,"silence":10000000}}`)
			}
			ask(`{"turn":{"id":1,"knob":"aim","value":"2"}}`)
			aim.is(t, "2")
			began := time.Now()
			var err error
			select {
			case err = <-done:
			case <-time.After(time.Minute):
				t.Fatal("it waits for ever")
			}
			aim.is(t, "1")
			if took := time.Since(began); took < silenceThere || took > silenceThere+look+farewell {
				t.Errorf("put back after %v", took)
			}
			var silent *SilenceError
			if !errors.As(err, &silent) || silent.Limit != silenceThere {
				t.Errorf("its end: %v", err)
			}
		})
	}
}

// Who promised nothing, like a person at a pipe, may be silent for as long as that takes.
func TestAnAskerThatPromisedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		ask, done := askedByHand(t, aim, true)
		ask(`{"clock":{"id":1,"at":1}}`)
		ask(`{"turn":{"id":1,"knob":"aim","value":"2"}}`)
		time.Sleep(time.Hour)
		select {
		case err := <-done:
			t.Errorf("it ended: %v", err)
		default:
		}
		aim.is(t, "2")
	})
}

// What was under way for so long that its asker has given up is not done any more.
func TestRequestsThatComeLate(t *testing.T) {
	for _, c := range []struct {
		name string
		keep bool
		wait time.Duration
		want string
	}{
		{"a turn in time", false, 5 * time.Second, "2"},
		{"a turn too late", false, 15 * time.Second, "1"},
		{"keep in time", true, 5 * time.Second, "2"},
		{"keep too late", true, 15 * time.Second, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				aim := &fakeKnob{name: "aim", value: "1"}
				in, asker := io.Pipe()
				out, said := io.Pipe()
				done := make(chan error, 1)
				go func() { done <- Serve(t.Context(), in, said, Config{Header: header(), Knobs: []sources.Knob{aim}}) }()
				go io.Copy(io.Discard, out)
				time.Sleep(time.Second)
				if c.keep {
					fmt.Fprintln(asker, `{"turn":{"id":1,"knob":"aim","value":"2"}}`)
				}
				time.Sleep(c.wait) // since the asker heard that the agent is up for 1 s
				request := `{"turn":{"id":2,"knob":"aim","value":"2","seen":1000000}}`
				if c.keep {
					request = `{"keep":{"id":2,"seen":1000000}}`
				}
				fmt.Fprintln(asker, request)
				synctest.Wait()
				if c.keep {
					asker.Close()
					<-done
				}
				aim.is(t, c.want)
				asker.Close()
				out.Close()
			})
		})
	}
}

// A far end whose first answer takes long was not silent meanwhile: it is watched and
// turned as any other.
func TestAFarEndThatIsSlowToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		src := &ticking{series: &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}}
		serve := serving(t.Context(), Config{Knobs: []sources.Knob{aim}, Watch: func(every time.Duration) (Hub, []sources.Source) {
			return hub.Every(every), []sources.Source{src}
		}})
		p := newPair(t, ClientConfig{Host: "r1", Watch: 100 * time.Millisecond}, func(in io.Reader, out io.Writer) error {
			time.Sleep(silenceHere + look/2)
			return serve(in, out)
		})
		time.Sleep(silenceHere)
		if q := p.Quiet(); q != 0 {
			t.Errorf("silent for %v before it came", q)
		}
		must(t, p.Ready(t.Context()))
		must(t, p.Turn(t.Context(), "r1", "aim", "2"))
		time.Sleep(time.Second)
		p.stop()
		must(t, <-p.end)
		if n := len(p.sink.samples); n < 5 {
			t.Errorf("%d samples in 1 s, one each 100 ms", n)
		}
	})
}

// One that is silent when it should be watched is asked again when it speaks.
func TestWatchingIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient(ClientConfig{Host: "r1", Watch: time.Second})
		requests := make(chan string, 10)
		c.child = &recordingChild{requests: requests}
		c.comes()
		c.quiet.Store(int64(silenceTold))
		var told sink
		go c.watch(t.Context(), &told)
		time.Sleep(2 * look)
		if len(requests) > 0 {
			t.Errorf("it was asked while it was silent: %s", <-requests)
		}
		c.quiet.Store(0)
		time.Sleep(2 * look)
		synctest.Wait()
		if len(requests) != 1 || !strings.Contains(<-requests, `"watch"`) {
			t.Error("it was not asked to be watched")
		}
		c.answered(recording.Done{ID: 1})
		synctest.Wait()
		told.expect(t)
	})
}

// A recordingChild takes requests and says nothing.
type recordingChild struct {
	child
	requests chan string
}

func (r *recordingChild) Send(b []byte) error { r.requests <- string(b); return nil }
