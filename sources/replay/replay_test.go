package replay

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

func tape(t *testing.T, at ...time.Duration) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := recording.NewWriter(&buf, recording.Header{Host: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range at {
		if err := w.WriteBatch(sources.Batch{At: time.Unix(1_700_000_000, 0).Add(d)}); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		name  string
		speed float64
		want  time.Duration
	}{{"as recorded", 1, 10 * time.Second}, {"four times", 4, 2500 * time.Millisecond}, {"at once", 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := Open(bytes.NewReader(tape(t, 0, time.Second, 10*time.Second)), "x.nwr", c.speed)
				if err != nil {
					t.Fatal(err)
				}
				start, n := time.Now(), 0
				go p.Play(t.Context())
				for range p.Batches() {
					n++
				}
				if took := time.Since(start); took != c.want || n != 3 {
					t.Errorf("%d batches in %v, want 3 in %v", n, took, c.want)
				}
			})
		})
	}
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p, err := Open(bytes.NewReader(tape(t, 0, time.Hour)), "x.nwr", 1)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- p.Play(ctx) }()
		for range p.Batches() {
		}
		if err := <-done; err == nil {
			t.Error("a replay that was stopped says it reached the end")
		}
	})
}
