package siftr

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 30, 16, 49, 0, 0, time.Local)
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{{10 * time.Minute, "16:39:00"}, {17 * time.Hour, "2026-11-29 23:49:00"}, {365 * 24 * time.Hour, "2025-11-30 16:49:00"}} {
		if got := clock(now.Add(-c.ago), now); got != c.want {
			t.Errorf("%v ago: %s, want %s", c.ago, got, c.want)
		}
	}
}
