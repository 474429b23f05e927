package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/recording"
	"netwatch/experiment/report"
	"netwatch/sources"
)

// A face shows a session that is fed with Batches until they end.
type face func(ctx context.Context, s *experiment.Session, batches <-chan sources.Batch) error

// linesBegin is when the first interval of lines begins. Polls of each second are made
// on the second: told there, too, a line would have the figures of two or of none.
const linesBegin = 300 * time.Millisecond

// linesFace writes text or CSV lines.
func linesFace(l *report.Lines) face {
	return func(_ context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
		for b := range batches {
			s.Apply(b)
			if s.Now().Sub(s.Start) < linesBegin { // lines fall between the polls of each second
				continue
			}
			if err := l.Tick(s); err != nil {
				return fmt.Errorf("output: %w", err)
			}
		}
		if err := l.Finish(s); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		return nil
	}
}

// jsonFace writes the recording codec, one Batch an interval: what came within
// it is merged.
func jsonFace(w io.Writer, h recording.Header, interval time.Duration) face {
	return func(_ context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
		out, err := recording.NewWriter(w, h)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		var due time.Time
		var sum sources.Batch
		for b := range batches {
			s.Apply(b)
			if due.IsZero() {
				due = b.At.Add(interval - 100*time.Millisecond)
			}
			sum.At = b.At
			sum.Samples = append(sum.Samples, b.Samples...)
			sum.Events = append(sum.Events, b.Events...)
			sum.Shed += b.Shed
			if b.At.Before(due) {
				continue
			}
			due = due.Add(interval)
			if err := out.WriteBatch(sum); err != nil {
				return fmt.Errorf("output: %w", err)
			}
			sum = sources.Batch{Samples: sum.Samples[:0], Events: sum.Events[:0]}
		}
		if len(sum.Samples)+len(sum.Events) == 0 {
			return nil
		}
		return out.WriteBatch(sum)
	}
}

// quietFace says nothing while it watches.
func quietFace(_ context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
	for b := range batches {
		s.Apply(b)
	}
	return nil
}
