package hub

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
)

var rx = &sources.Series{Source: "nic", Subject: "em4", Metric: sources.RxOctets}

type source struct {
	name string
	run  func(context.Context, sources.Sink) error
}

func (s source) Name() string                                  { return s.name }
func (s source) Run(ctx context.Context, k sources.Sink) error { return s.run(ctx, k) }

// collect runs a hub with the sources for d of fake time and returns its batches.
func collect(t *testing.T, d time.Duration, all ...sources.Source) []sources.Batch {
	t.Helper()
	return collectFrom(t, New(), d, all...)
}

func collectFrom(t *testing.T, h *Hub, d time.Duration, all ...sources.Source) []sources.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for _, s := range all {
		h.Go(ctx, s)
	}
	go h.Run(ctx)
	var out []sources.Batch
	for b := range h.Batches() {
		out = append(out, b)
	}
	return out
}

func TestBatchEachTickAlsoWhenSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := collect(t, 1050*time.Millisecond)
		if len(got) != 11 { // ten ticks and the last one at the end
			t.Fatalf("%d batches, want 11", len(got))
		}
		for i, b := range got[:10] {
			if want := start.Add(time.Duration(i+1) * Tick); !b.At.Equal(want) {
				t.Errorf("batch %d at %v, want %v", i, b.At, want)
			}
		}
	})
}

// A taker who wants a Batch each second, or more seldom, gets one each second, but
// an event waits no longer than a Tick.
func TestBatchEachSecond(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			said := start.Add(2300 * time.Millisecond)
			got := collectFrom(t, Every(every), 4500*time.Millisecond, source{"nic", func(ctx context.Context, k sources.Sink) error {
				k.Sample(sources.Reading(rx, time.Now(), Tick, 1))
				time.Sleep(time.Until(said))
				k.Event(sources.Event{Kind: sources.LinkDown})
				k.Event(sources.Event{Kind: sources.LinkUp})
				<-ctx.Done()
				return nil
			}})
			var at []time.Duration
			for _, b := range got {
				at = append(at, b.At.Sub(start))
			}
			want := []time.Duration{time.Second, 2 * time.Second, 2400 * time.Millisecond, 3400 * time.Millisecond, 4400 * time.Millisecond, 4500 * time.Millisecond}
			if !slices.Equal(at, want) {
				t.Fatalf("every %v: batches at %v, want %v", every, at, want)
			}
			if len(got[0].Samples) != 1 || len(got[2].Events) != 2 {
				t.Errorf("%d samples in the first, %d events in the third", len(got[0].Samples), len(got[2].Events))
			}
		})
	}
}

func TestSamplesKeepTheirOrderAndNoneIsLostBySlowTaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		h := New()
		h.Go(ctx, source{"nic", func(ctx context.Context, k sources.Sink) error {
			for i := range 50 {
				k.Sample(sources.Reading(rx, time.Now(), Tick, float64(i)))
				time.Sleep(Tick)
			}
			<-ctx.Done()
			return nil
		}})
		go h.Run(ctx)
		var got []float64
		for b := range h.Batches() {
			for _, s := range b.Samples {
				got = append(got, s.Last)
			}
			time.Sleep(700 * time.Millisecond)
		}
		if len(got) != 50 {
			t.Fatalf("%d samples, want 50", len(got))
		}
		for i, v := range got {
			if v != float64(i) {
				t.Fatalf("sample %d is %v", i, v)
			}
		}
	})
}

func TestShedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := collect(t, 150*time.Millisecond, source{"flood", func(ctx context.Context, k sources.Sink) error {
			for range maxSamples + 7 {
				k.Sample(sources.Reading(rx, time.Now(), Tick, 1))
			}
			<-ctx.Done()
			return nil
		}})
		n, shed := 0, 0
		for _, b := range got {
			n += len(b.Samples)
			shed += b.Shed
		}
		if n != maxSamples || shed != 7 {
			t.Errorf("%d samples and %d shed, want %d and 7", n, shed, maxSamples)
		}
	})
}

func TestHowASourceEnds(t *testing.T) {
	var nilMap map[string]int
	for _, c := range []struct {
		name  string
		run   func(context.Context, sources.Sink) error
		text  string // "" = no event
		error bool
	}{
		{"with the context", func(ctx context.Context, _ sources.Sink) error { <-ctx.Done(); return ctx.Err() }, "", false},
		{"input ended", func(context.Context, sources.Sink) error { return io.EOF }, "ended", false},
		{"in words", func(context.Context, sources.Sink) error { return errors.New("no such log: /x") }, "no such log: /x", true},
		{"by a panic", func(context.Context, sources.Sink) error { nilMap["x"] = 1; return nil }, "a bug in netwatch: assignment to entry in nil map (hub_test.go:", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var events []sources.Event
				for _, b := range collect(t, 250*time.Millisecond, source{"x", c.run}) {
					events = append(events, b.Events...)
				}
				if c.text == "" {
					if len(events) != 0 {
						t.Fatalf("events %+v, want none", events)
					}
					return
				}
				if len(events) != 1 {
					t.Fatalf("%d events, want 1", len(events))
				}
				e := events[0]
				if e.Kind != sources.SourceGone || e.Source != "x" || !strings.HasPrefix(e.Text, c.text) || e.Error != c.error {
					t.Errorf("got %+v, want text %q error %v", e, c.text, c.error)
				}
			})
		})
	}
}
