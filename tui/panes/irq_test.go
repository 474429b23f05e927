package panes

import (
	"strings"
	"testing"
	"time"

	"netwatch/tui/theme"
)

// A card with two lines, one shared, and one with more than a row holds.
func TestGoldenQueues(t *testing.T) {
	few, many := []string{"rxq0", "aq"}, strings.Fields("TxRx-0 TxRx-1 TxRx-2 TxRx-3 TxRx-4 TxRx-5 TxRx-6 TxRx-7 other")
	for _, c := range []struct {
		name   string
		w, h   int
		queues []string
		set    func(*Frame)
	}{
		{"queues-120x40", 120, 40, few, nil},
		{"queues-99x49", 99, 49, few, nil},
		{"queues-59x39", 59, 39, few, nil},
		{"queues-80x24", 80, 24, few, nil},
		{"queues-many-120x40", 120, 40, many, nil},
		{"queues-flows-59x20", 59, 20, many, func(f *Frame) { f.View.Page = Flows }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			s.queues = c.queues
			f := frame(s.tell(well), theme.Options{})
			if c.set != nil {
				c.set(f)
			}
			golden(t, c.name, Screen(f, c.w, c.h)+"\n")
		})
	}
}

// The cap is of the moment: where nothing tells it any more, or two states fell into the
// second that is looked at, it is not shown.
func TestCapIsOfTheMoment(t *testing.T) {
	s := newStory()
	s.queues = []string{"irq0"}
	f := frame(s.tell(29), theme.Options{})
	want := func(cap, state string) {
		t.Helper()
		screen := Screen(f, 120, 40)
		if strings.Contains(screen, "cap") != (cap != "") || !strings.Contains(screen, cap) || !strings.Contains(screen, state) {
			t.Errorf("want %q %q:\n%s", cap, state, screen)
		}
	}
	want("cap 8004", "default")
	s.tell(40)
	want("cap 71.02", "lowest lat")
	f.View.End = storyStart.Add(20 * time.Second)
	want("cap 8.004", "default") // beside a mean of 20.32 k/s
	f.View.End = time.Time{}
	s.tell(trouble)
	want("", "")
}
