package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
	"netwatch/sources/hub"
	"netwatch/sources/knobs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTurnAndRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim, tso := &fakeKnob{name: "aim", value: "1", slow: 300 * time.Millisecond}, &fakeKnob{name: "tso", value: "1"}
		state := filepath.Join(t.TempDir(), "state")
		p := newPair(t, ClientConfig{}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, tso}, State: state}))
		began := time.Now()
		must(t, p.Turn(t.Context(), "", "aim", "2"))
		aim.is(t, "2")
		if took := time.Since(began); took != 300*time.Millisecond { // no tick is waited for
			t.Errorf("a turn of 300 ms took %v", took)
		}
		p.sink.expect(t, "knob-turning aim 2>", "knob-turned aim 2>2")
		must(t, p.Turn(t.Context(), "", "tso", "0"))
		want := []knobs.Change{{Knob: "aim", Start: "1", Value: "2"}, {Knob: "tso", Start: "1", Value: "0"}}
		if got := p.Changed(); !slices.Equal(got, want) {
			t.Errorf("changed %v", got)
		}
		if j, err := knobs.OpenJournal(state, "em4", nil); err == nil {
			if e, err := j.Entries(); err != nil || len(e) != 2 {
				t.Errorf("journal: %v, %v", e, err)
			}
		}
		p.sink.events = nil
		must(t, p.Restore(t.Context()))
		p.sink.expect(t, "knob-turning tso 1> restored", "knob-turned tso 1>1 restored", "knob-turning aim 1> restored", "knob-turned aim 1>1 restored")
		if got := p.Changed(); len(got) != 0 {
			t.Errorf("changed after restore: %v", got)
		}
		p.stop()
		must(t, <-p.end)
		if err := p.Turn(t.Context(), "", "aim", "2"); !errors.Is(err, errEnded) {
			t.Errorf("a turn after the end: %v", err)
		}
	})
}

// However the asker goes, what was turned is put back, and what was kept is kept.
func TestTheEndRestores(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(p *pair, term func())
		keep bool
		want string
	}{
		{name: "end of input", end: func(p *pair, _ func()) { p.stop() }, want: "1"},
		{name: "TERM", end: func(_ *pair, term func()) { term() }, want: "1"},
		{name: "kept", keep: true, end: func(p *pair, _ func()) { p.stop() }, want: "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				aim := &fakeKnob{name: "aim", value: "1"}
				ctx, term := context.WithCancel(t.Context())
				defer term()
				p := newPair(t, ClientConfig{}, serving(ctx, Config{Knobs: []sources.Knob{aim}}))
				must(t, p.Turn(t.Context(), "", "aim", "2"))
				if c.keep {
					must(t, p.Keep(t.Context()))
				}
				c.end(p, term)
				err := <-p.end
				aim.is(t, c.want)
				if len(p.Changed()) > 0 || err != nil && strings.Contains(err.Error(), "left turned") {
					t.Errorf("changed %v, %v", p.Changed(), err)
				}
				p.stop()
			})
		})
	}
}

// The asker goes in the middle of a turn: the turn is finished and undone, and the
// next one is not begun.
func TestGoneInTheMiddleOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim, tso := &fakeKnob{name: "aim", value: "1", slow: 300 * time.Millisecond}, &fakeKnob{name: "tso", value: "1"}
		p := newPair(t, ClientConfig{}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, tso}}))
		for _, name := range []string{"aim", "tso"} {
			go p.Turn(t.Context(), "", name, "2")
			time.Sleep(100 * time.Millisecond)
		}
		p.stop()
		must(t, <-p.end)
		aim.is(t, "1")
		p.sink.expect(t, "knob-turning aim 2>", "knob-turned aim 2>2", "knob-turning aim 1> restored", "knob-turned aim 1>1 restored")
	})
}

// An asker that stopped to read does not keep the knobs from being put back.
func TestAskerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		in, ask := io.Pipe()
		out, said := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(t.Context(), in, said, Config{Header: header(), Knobs: []sources.Knob{aim}}) }()
		io.CopyN(io.Discard, out, 1) // the header is under way, and that is all that is read
		go io.CopyN(io.Discard, out, 200)
		for range 500 {
			io.WriteString(ask, `{"turn":{"id":1,"knob":"aim","value":"2"}}`+"\n"+`{"clock":{"id":1,"at":1}}`+"\n")
			synctest.Wait()
		}
		aim.is(t, "2")
		ask.Close()
		must(t, <-done)
		aim.is(t, "1")
		out.Close()
	})
}

func TestBrokenPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		in, ask := io.Pipe()
		out, said := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(t.Context(), in, said, Config{Header: header(), Knobs: []sources.Knob{aim}}) }()
		go func() {
			buf := make([]byte, 4096)
			for {
				n, _ := out.Read(buf)
				if strings.Contains(string(buf[:n]), "knob-turned") {
					out.Close() // and the input stays open
					return
				}
			}
		}()
		io.WriteString(ask, `{"turn":{"id":1,"knob":"aim","value":"2"}}`+"\n")
		must(t, <-done)
		aim.is(t, "1")
		ask.Close()
	})
}

func TestWhatCannotBeTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1", refuse: errors.New("invalid argument")}
		buggy := &fakeKnob{name: "tso", value: "1", bug: true}
		p := newPair(t, ClientConfig{}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, buggy}}))
		must(t, p.Turn(t.Context(), "", "aim", "2")) // it was tried; the event tells
		p.sink.expect(t, "knob-turning aim 2>", "knob-failed aim 2>1 invalid argument")
		for knob, words := range map[string]string{"amm": "there are aim, tso", "tso": "a bug in netwatch: bug"} {
			if err := p.Turn(t.Context(), "", knob, "2"); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v", knob, err)
			}
		}
		if err := p.Turn(t.Context(), "r1", "aim", "2"); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("another host: %v", err)
		}
		if err := p.send(recording.Request{}); err == nil {
			t.Error("an empty request was sent")
		}
		p.stop()
		must(t, <-p.end)
	})
}

// What could not be put back is the error of both sides.
func TestRestoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		p := newPair(t, ClientConfig{}, serving(t.Context(), Config{Knobs: []sources.Knob{aim}}))
		must(t, p.Turn(t.Context(), "", "aim", "2"))
		aim.refuse = errors.New("device busy")
		if err := p.Restore(t.Context()); err == nil || !strings.Contains(err.Error(), "aim is 2 and was 1: device busy") {
			t.Error(err)
		}
		p.stop()
		if err := <-p.end; err == nil || !strings.Contains(err.Error(), "exit status 3") ||
			!strings.Contains(err.Error(), "netwatch restore puts back what it left turned: aim=2 (was 1)") {
			t.Error(err)
		}
	})
}

// A peer's samples come under its name, at this side's time.
func TestWatchAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 3 * time.Second
		aim := &fakeKnob{name: "aim", value: "1"}
		src := &ticking{series: &sources.Series{Source: "nic", Subject: "em4", Metric: sources.TxOctets}, ahead: ahead}
		var asked []time.Duration
		watch := func(every time.Duration) (Hub, []sources.Source) {
			asked = append(asked, every)
			return hub.Every(every), []sources.Source{src}
		}
		cfg := Config{Knobs: []sources.Knob{aim}, Watch: watch,
			now: func() time.Time { return time.Now().Add(ahead) }}
		p := newPair(t, ClientConfig{Host: "r1", Watch: time.Second}, serving(t.Context(), cfg))
		began := time.Now()
		time.Sleep(3500 * time.Millisecond)
		must(t, p.Turn(t.Context(), "r1", "aim", "2"))
		p.stop()
		must(t, <-p.end)
		if !slices.Equal(asked, []time.Duration{time.Second}) {
			t.Errorf("sources were asked for with samples each %v", asked)
		}
		if got, within, ok := p.Clock(); !ok || got != ahead || within < tick || within > tick+clockEvery*driftMost/1e6 {
			t.Errorf("clock: %v within %v", got, within)
		}
		if n := len(p.sink.samples); n < 28 || n > 36 {
			t.Errorf("%d samples in 3.5 s, one each 100 ms", n)
		}
		var series *sources.Series
		for i, s := range p.sink.samples {
			if want := began.Add(time.Duration(i+1) * 100 * time.Millisecond); s.Series.Host != "r1" || !s.At.Equal(want) {
				t.Fatalf("sample %d of %+v at %v, want %v", i, s.Series, s.At, want)
			}
			if series == nil {
				series = s.Series
			}
			if s.Series != series {
				t.Fatal("one series came as two")
			}
		}
		p.sink.expect(t, "r1 knob-turning aim 2>", "r1 knob-turned aim 2>2", "r1 knob-turning aim 1> restored", "r1 knob-turned aim 1>1 restored")
	})
}

// ticking says one sample each 100 ms, by a clock that is ahead.
type ticking struct {
	series *sources.Series
	ahead  time.Duration
}

func (s *ticking) Name() string { return "nic" }

func (s *ticking) Run(ctx context.Context, sink sources.Sink) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
			sink.Sample(sources.Amount(s.series, time.Now().Add(s.ahead), 100*time.Millisecond, 1))
		}
	}
}

func TestAgentsThatNeverSpeak(t *testing.T) {
	built := func(commit string) string {
		return `{"netwatch":1,"version":"` + version + `","commit":"` + commit + `"}` + "\n"
	}
	head := func(version string) string { return `{"netwatch":1,"version":"` + version + `"}` + "\n" }
	for _, c := range []struct {
		name, argv, out, err string
		want                 string
	}{
		{"no ticket", "sudo", "", "sudo: a password is required", "cannot become root: sudo: a password is required"},
		{"no words", "netwatch", "", "", "the agent did not start: exit status 0"},
		{"an error", "netwatch", "", "netwatch: no interface em9", "the agent did not start: exit status 3: netwatch: no interface em9"},
		{"another version", "netwatch", head("0.0.1"), "", "the agent is netwatch 0.0.1, this is 1.2.3"},
		{"another commit", "netwatch", built("bbb"), "", "the agent is netwatch 1.2.3 (bbb), this is 1.2.3 (aaa)"},
		{"one that is no line", "netwatch", strings.Repeat("x", 5000) + "\n", "", `the agent did not start: it does not speak netwatch's language, but "` + strings.Repeat("x", 120) + `..."`},
		{"another schema", "netwatch", `{"netwatch":9}` + "\n", "", "the agent did not start: recorded in schema 9"},
		{"garbage", "netwatch", strings.Repeat("\x1b[31mhello\n", 200), "", `the agent did not start: it does not speak netwatch's language, but " [31mhello"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, ClientConfig{Argv: []string{c.argv}, Commit: "aaa"}, func(in io.Reader, out io.Writer) error {
					io.WriteString(out, c.out)
					if c.err != "" {
						return errors.New(c.err)
					}
					return nil
				})
				err := p.Turn(t.Context(), "", "aim", "2")
				if err == nil || !strings.HasPrefix(err.Error(), c.want) || errors.Is(err, os.ErrPermission) != (c.argv == "sudo") {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if run := <-p.end; run == nil || run.Error() != err.Error() {
					t.Errorf("Run: %v", run)
				}
			})
		})
	}
	t.Run("no such command", func(t *testing.T) {
		c := NewClient(ClientConfig{Argv: []string{"no-such-netwatch"}, Version: version})
		if err := c.Run(t.Context(), &sink{}); err == nil || !strings.HasPrefix(err.Error(), "cannot start no-such-netwatch") {
			t.Error(err)
		}
		if err := c.Ready(t.Context()); err == nil {
			t.Error("ready without an agent")
		}
	})
	t.Run("talks for ever", func(t *testing.T) {
		c := NewClient(ClientConfig{Argv: []string{os.Args[0]}, Env: []string{part + "=talker"}, Version: version})
		if err := c.Run(t.Context(), &sink{}); err == nil || !strings.Contains(err.Error(), `language, but "y"`) {
			t.Error(err)
		}
	})
}

// The agent dies while it turns: nobody knows how far it came.
func TestDeathInTheMiddleOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, ClientConfig{}, func(in io.Reader, out io.Writer) error {
			w, err := recording.NewWriter(out, header())
			must(t, err)
			_, err = recording.NewRequests(in).Next()
			must(t, err)
			return w.WriteBatch(sources.Batch{At: time.Now(), Events: []sources.Event{
				{At: time.Now(), Kind: sources.KnobTurning, Subject: "aim", Old: "1", Asked: "2"},
			}})
		})
		err := p.Turn(t.Context(), "", "aim", "2")
		const want = "the agent is gone; netwatch restore puts back what it left turned: perhaps aim=2 (was 1) (exit status 0, while turning aim to 2)"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if got := p.Changed(); len(got) != 1 || got[0] != (knobs.Change{Knob: "aim", Start: "1", Value: "2"}) {
			t.Errorf("changed %v", got)
		}
		<-p.end
	})
}

// A peer whose ssh was killed lives on until it has put back.
func TestTheLinkIsLost(t *testing.T) {
	for _, c := range []struct {
		host string
		done bool // the turn was answered
		back string
		want string
	}{
		{"r1", true, "netwatch restore --peer r1 --push", "the agent on r1 is gone; it puts back what it turned, or netwatch restore --peer r1 --push does if it was killed: aim=2 (was 1) (exit status 0)"},
		{"r1", false, "netwatch restore --peer r1 --push", "the agent on r1 is gone; it puts back what it turned, or netwatch restore --peer r1 --push does if it was killed: perhaps aim=2 (was 1) (exit status 0, while turning aim to 2)"},
		{"", true, "", "the agent is gone; netwatch restore puts back what it left turned: aim=2 (was 1) (exit status 0)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, ClientConfig{Host: c.host, Restore: c.back}, func(in io.Reader, out io.Writer) error {
				w, err := recording.NewWriter(out, header())
				must(t, err)
				requests := recording.NewRequests(in)
				q, err := requests.Next()
				for err == nil && q.Turn == nil {
					must(t, w.WriteAnswer(recording.Answer{Clock: q.Clock}))
					q, err = requests.Next()
				}
				must(t, err)
				must(t, w.WriteBatch(sources.Batch{At: time.Now(), Events: []sources.Event{
					{At: time.Now(), Kind: sources.KnobTurning, Subject: "aim", Old: "1", Asked: "2"},
				}}))
				if !c.done {
					return nil
				}
				must(t, w.WriteAnswer(recording.Answer{Done: &recording.Done{ID: q.Turn.ID, Changed: []recording.Change{{Knob: "aim", Start: "1", Value: "2"}}}}))
				time.Sleep(time.Second) // it is killed later
				return nil
			})
			if err := p.Turn(t.Context(), c.host, "aim", "2"); (err == nil) != c.done {
				t.Errorf("the turn: %v", err)
			}
			if err := <-p.end; err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// What a login shell says before the agent is skipped, and said.
func TestBannerAndDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim := &fakeKnob{name: "aim", value: "1"}
		p := newPair(t, ClientConfig{}, func(in io.Reader, out io.Writer) error {
			io.WriteString(out, "Welcome to r1!\n\n")
			return serving(t.Context(), Config{Knobs: []sources.Knob{aim}})(in, &spoiled{out: out})
		})
		must(t, p.Turn(t.Context(), "", "aim", "2"))
		p.stop()
		must(t, <-p.end)
		story := p.sink.story()
		if len(story) < 2 || story[0] != "source-note > 2 lines before the agent spoke: Welcome to r1!" ||
			!strings.HasPrefix(story[1], "source-note > what the agent says is damaged: agent:") {
			t.Errorf("%q", story)
		}
	})
}

// spoiled writes a line of garbage after the first.
type spoiled struct {
	out io.Writer
	n   int
}

func (s *spoiled) Write(b []byte) (int, error) {
	if s.n++; s.n == 2 {
		io.WriteString(s.out, "garbage\n")
	}
	return s.out.Write(b)
}

// What a person turned over there meanwhile is left, and said to be.
func TestRestoreLeavesWhatOthersTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim, tso := &fakeKnob{name: "aim", value: "1"}, &fakeKnob{name: "tso", value: "1"}
		p := newPair(t, ClientConfig{Host: "r1"}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, tso}, State: filepath.Join(t.TempDir(), "state")}))
		must(t, p.Turn(t.Context(), "r1", "aim", "2"))
		must(t, p.Turn(t.Context(), "r1", "tso", "0"))
		must(t, aim.Set(t.Context(), "0"))
		must(t, p.Restore(t.Context()))
		aim.is(t, "0")
		tso.is(t, "1")
		if got, want := p.Left(), []knobs.Change{{Knob: "aim", Start: "1", Value: "0"}}; !slices.Equal(got, want) {
			t.Errorf("left %v", got)
		}
		if got := p.Changed(); len(got) != 0 {
			t.Errorf("changed after restore: %v", got)
		}
		p.stop()
		must(t, <-p.end)
	})
}

// One knob is kept and the other put back, in the journal too.
func TestKeepOneOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim, tso := &fakeKnob{name: "aim", value: "1"}, &fakeKnob{name: "tso", value: "1"}
		state := filepath.Join(t.TempDir(), "state")
		p := newPair(t, ClientConfig{}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, tso}, State: state}))
		must(t, p.Turn(t.Context(), "", "aim", "2"))
		must(t, p.Turn(t.Context(), "", "tso", "0"))
		must(t, p.Keep(t.Context(), "aim"))
		if got, want := p.Changed(), []knobs.Change{{Knob: "tso", Start: "1", Value: "0"}}; !slices.Equal(got, want) {
			t.Errorf("changed %v", got)
		}
		p.stop()
		must(t, <-p.end)
		aim.is(t, "2")
		tso.is(t, "1")
		j, err := knobs.OpenJournal(state, "", nil)
		must(t, err)
		entries, err := j.Entries()
		if err != nil || len(entries) != 1 || entries[0].Knob != "aim" || entries[0].Kept != "2" || entries[0].Start != "1" {
			t.Errorf("journal %+v, %v", entries, err)
		}
	})
}

// What a person put back himself is told apart from what Restore put back.
func TestRestoreFindsWhatIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aim, tso := &fakeKnob{name: "aim", value: "1"}, &fakeKnob{name: "tso", value: "1"}
		p := newPair(t, ClientConfig{Host: "r1"}, serving(t.Context(), Config{Knobs: []sources.Knob{aim, tso}, State: filepath.Join(t.TempDir(), "state")}))
		must(t, p.Turn(t.Context(), "r1", "aim", "2"))
		must(t, p.Turn(t.Context(), "r1", "tso", "0"))
		must(t, aim.Set(t.Context(), "1"))
		must(t, p.Restore(t.Context()))
		if got, want := p.Left(), []knobs.Change{{Knob: "aim", Start: "1", Value: "1"}}; !slices.Equal(got, want) {
			t.Errorf("left %v", got)
		}
		p.stop()
		must(t, <-p.end)
	})
}
