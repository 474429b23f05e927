package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/experiment"
	"netwatch/sources"
)

// frameTime is how long batches are collected before they are drawn.
const frameTime = 250 * time.Millisecond

// newsMsg says that the feed has batches, or has ended.
type newsMsg struct{}

// A feed collects batches off the screen's goroutine.
type feed struct {
	in      <-chan sources.Batch
	waiting sync.Mutex // held by the collector

	mu    sync.Mutex
	got   []sources.Batch
	ended bool
}

// collect takes what comes within a time, at least one batch however long that
// takes, and reports. It reports nothing when ctx ends, and the end of the feed once.
func (f *feed) collect(ctx context.Context, during time.Duration) tea.Cmd {
	return func() tea.Msg {
		f.waiting.Lock()
		defer f.waiting.Unlock()
		due := time.After(during)
		for any := false; ; {
			select {
			case <-ctx.Done():
				return nil
			case <-due:
				if any {
					return newsMsg{}
				}
				due = nil // the next batch is late already
			case b, open := <-f.in:
				any = true
				if !f.keep(b, open) || due == nil {
					return newsMsg{}
				}
			}
		}
	}
}

func (f *feed) keep(b sources.Batch, open bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if open {
		f.got = append(f.got, b)
	} else {
		f.ended = true
	}
	return open
}

// take hands out what was collected.
func (f *feed) take() (got []sources.Batch, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	got, f.got = f.got, nil
	return got, f.ended
}

// rest applies what was collected and never drawn. The collector's ctx has ended.
func (f *feed) rest(s *experiment.Session) {
	f.waiting.Lock()
	defer f.waiting.Unlock()
	got, _ := f.take()
	for _, b := range got {
		s.Apply(b)
	}
}
