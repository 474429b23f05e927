package hub

import (
	"context"
	"errors"
	"io"
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
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	h := New()
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
