package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// TestCollect holds the feed to one message for a quarter of a second of batches,
// none for silence, and one for the end.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := make(chan sources.Batch)
		f := &feed{in: in}
		var begin time.Time
		news := make(chan time.Duration, 8)
		go func() {
			for f.collect(t.Context(), frameTime)() != nil {
				news <- time.Since(begin)
				if _, ended := f.take(); ended {
					return
				}
			}
		}()
		time.Sleep(10 * time.Second)
		if len(news) != 0 {
			t.Fatal("a message without a batch")
		}
		begin = time.Now()
		for range 5 { // at 0, 100, … 400 ms
			in <- sources.Batch{}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		for _, want := range []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond} {
			if got := <-news; got != want {
				t.Errorf("a message after %v, want %v", got, want)
			}
		}
		if len(news) != 0 {
			t.Error("a message too many")
		}
		close(in)
		synctest.Wait()
		if len(news) != 1 {
			t.Errorf("%d messages at the end, want 1", len(news))
		}
	})
}

// TestSilentOnEnd holds a cancelled collector to no message.
func TestSilentOnEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if msg := (&feed{}).collect(ctx, 0)(); msg != nil {
		t.Errorf("got %v", msg)
	}
}

// TestNews applies what was collected, keeps the screen when the input ends, and
// hands out the same string while nothing changes.
func TestNews(t *testing.T) {
	b := newBench(nil)
	b.feed.keep(sources.Batch{At: start.Add(11 * time.Minute)}, true)
	if _, cmd := b.Update(newsMsg{}); cmd == nil {
		t.Error("nobody listens any more")
	}
	if got := b.cfg.Session.Now(); got != start.Add(11*time.Minute) {
		t.Errorf("the batch was not applied: it is %v", got)
	}
	before := b.View().Content
	b.Update(tea.FocusMsg{})
	b.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	if b.View().Content != before {
		t.Error("the screen changed and nothing had")
	}
	b.feed.keep(sources.Batch{}, false)
	if _, cmd := b.Update(newsMsg{}); cmd != nil {
		t.Error("an ended input is listened to")
	}
	if !strings.Contains(b.View().Content, "ENDED") {
		t.Error("the screen does not say that the input ended")
	}
}

// TestPauseGoesOn holds a paused screen still while data go on.
func TestPauseGoesOn(t *testing.T) {
	b := newBench(nil)
	b.press("space")
	b.feed.keep(sources.Batch{At: start.Add(10*time.Minute + 12*time.Second)}, true)
	b.Update(newsMsg{})
	if !strings.Contains(b.View().Content, "PAUSED 12.0s behind") {
		t.Errorf("the header says %q", strings.SplitN(b.View().Content, "\n", 2)[0])
	}
	if got := b.frame.View.End; got != start.Add(10*time.Minute) {
		t.Errorf("the view moved to %v", got)
	}
}

func TestNoticeGoes(t *testing.T) {
	b := newBench(nil)
	b.press("x")
	b.feed.keep(sources.Batch{At: b.cfg.Session.Now().Add(noticeTime + time.Second)}, true)
	b.Update(newsMsg{})
	if !strings.HasPrefix(b.footer(), "q quit") {
		t.Errorf("footer still says %q", b.footer())
	}
}

func TestMark(t *testing.T) {
	b := newBench(nil)
	b.press("m m")
	events := b.cfg.Session.Events()
	if len(events) != 2 || events[1].Kind != sources.Mark || events[1].Text != "2" {
		t.Errorf("got %+v", events)
	}
}

// TestSystemKeys are Bubble Tea's own.
func TestSystemKeys(t *testing.T) {
	b := newBench(nil)
	if _, ok := b.key("ctrl+z")().(tea.SuspendMsg); !ok {
		t.Error("Ctrl-Z does not suspend")
	}
	if got, want := b.key("ctrl+l")(), tea.ClearScreen(); got != want {
		t.Errorf("Ctrl-L gives %T", got)
	}
}

// TestRun runs the real program on a pipe: it ends by a key and with its context,
// and what the feed said last is in the session.
func TestRun(t *testing.T) {
	run := func(ctx context.Context, feed chan sources.Batch, in io.Reader) (*experiment.Session, Result, error) {
		s := experiment.New(experiment.Options{Start: start, Interface: "em4"})
		r, err := Run(ctx, Config{Session: s, Feed: feed, Theme: theme.Options{}, Input: in, Output: &bytes.Buffer{}})
		return s, r, err
	}
	t.Run("a key", func(t *testing.T) {
		r, w := io.Pipe()
		feed := make(chan sources.Batch)
		go func() {
			feed <- sources.Batch{At: start.Add(time.Minute)}
			w.Write([]byte("\x03"))
		}()
		s, res, err := run(t.Context(), feed, r)
		if err != nil || !res.Interrupted || res.Answered {
			t.Errorf("got %+v, %v", res, err)
		}
		if s.Now() != start.Add(time.Minute) {
			t.Errorf("the last batch is lost: it is %v", s.Now())
		}
	})
	t.Run("its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		feed := make(chan sources.Batch)
		go func() {
			feed <- sources.Batch{At: start.Add(time.Minute)}
			cancel()
		}()
		r, _ := io.Pipe()
		if s, res, err := run(ctx, feed, r); err != nil || res.Interrupted || res.Answered || s.Now() != start.Add(time.Minute) {
			t.Errorf("got %+v, %v at %v", res, err, s.Now())
		}
	})
}

// TestAskIsOnTheScreen holds a question to every size that has a line.
func TestAskIsOnTheScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {59, 39}, {40, 8}, {30, 4}} {
		b := newBench(nil)
		b.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		b.press("a")
		if !strings.Contains(b.View().Content, "aim") || !strings.Contains(b.View().Content, "[1]") {
			t.Errorf("%v: the question is not there:\n%s", size, b.View().Content)
		}
	}
}
