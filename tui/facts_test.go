package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/sources"
)

// TestFactsOfTheCard: speed and MTU in the header are those of now. Without a link there
// is no speed, and what comes back may be another card.
func TestFactsOfTheCard(t *testing.T) {
	card, asked := "em  1000baseT  mtu 1500", 0
	b := newBench(func(c *Config) {
		c.Facts = "em  1000baseT  mtu 1500"
		c.Describe = func() string { asked++; return card }
	})
	ctx, stop := context.WithCancel(context.Background())
	stop() // nothing more comes by itself
	b.ctx = ctx
	tell := func(after time.Duration, events ...sources.Event) string {
		at := b.cfg.Session.Now().Add(after)
		for i := range events {
			events[i].At = at
		}
		b.feed.got = append(b.feed.got, sources.Batch{At: at, Events: events})
		_, cmd := b.Update(newsMsg{})
		if batch, more := cmd().(tea.BatchMsg); more {
			for _, c := range batch {
				if msg, is := c().(factsMsg); is {
					b.Update(msg)
				}
			}
		}
		header, _, _ := strings.Cut(b.View().Content, "\n")
		return header
	}
	for _, c := range []struct {
		name, card   string
		after        time.Duration
		event        sources.EventKind
		text         string
		want, absent string
	}{
		{"at first", "em  1000baseT  mtu 1500", time.Second, "", "", "1000baseT  mtu 1500", "GONE"},
		{"soon after", "em  1000baseT  mtu 9000", time.Second, "", "", "mtu 1500", "mtu 9000"},
		{"a while after", "em  1000baseT  mtu 9000", 5 * time.Second, "", "", "mtu 9000", "mtu 1500"},
		{"gone", "", time.Second, sources.LinkDown, "em4 GONE", "GONE", "mtu"},
		{"still gone", "em  100baseTX  mtu 1500", 10 * time.Second, "", "", "GONE", "mtu"},
		{"back", "em  100baseTX  mtu 1500", time.Second, sources.LinkUp, "em4 link up", "100baseTX  mtu 1500", "GONE"},
	} {
		card = c.card
		var events []sources.Event
		if c.event != "" {
			events = append(events, sources.Event{Kind: c.event, Source: "nic", Subject: "em4", Text: c.text})
		}
		if got := tell(c.after, events...); !strings.Contains(got, c.want) || strings.Contains(got, c.absent) {
			t.Errorf("%s: the header is %q, want %q and no %q", c.name, got, c.want, c.absent)
		}
	}
	if asked != 3 {
		t.Errorf("the card was asked %d times, want 3: it costs a little", asked)
	}
}
