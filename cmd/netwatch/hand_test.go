package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"netwatch/sources"
	"netwatch/sources/knobs"
)

// A fakeHand has turned TSO off; still is what it would put back after a Restore.
type fakeHand struct {
	still   []knobs.Change
	err     error
	asked   bool
	knob    *value // what a Restore turns, nil for nothing
	becomes string // its value then
}

func (h *fakeHand) Turn(context.Context, string, string, string) error { return nil }
func (h *fakeHand) Keep(context.Context, ...string) error              { return nil }
func (h *fakeHand) Restore(context.Context) error {
	if h.asked = true; h.knob != nil {
		h.knob.is = h.becomes
	}
	return h.err
}
func (h *fakeHand) Changed() []knobs.Change {
	if h.asked {
		return h.still
	}
	return []knobs.Change{{Knob: "tso", Start: "on", Value: "off"}}
}

// What is not put back is said, and is an exit status.
func TestRestoreSaysWhatIsLeft(t *testing.T) {
	tso := knobs.Change{Knob: "tso", Start: "on", Value: "off"}
	for _, c := range []struct {
		name, value string
		hand        fakeHand
		code        int
		said, err   string
	}{
		{"put back", "on", fakeHand{}, exitOK, "netwatch: put back tso=on (was turned to off)\n", ""},
		{"another netwatch turned it", "off", fakeHand{}, exitUnrestored,
			"netwatch: tso is left at off: another netwatch turned it since (it was on at first)\n", ""},
		{"refused", "off", fakeHand{still: []knobs.Change{tso}, err: errors.New("tso is off and was on: busy")}, exitUnrestored,
			"", "not everything could be put back: tso is off and was on: busy"},
		{"somebody else's value", "tso4", fakeHand{}, exitOK, "netwatch: tso is left at tso4: it is not the off netwatch had set (it was on at first)\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said strings.Builder
			c.hand.knob, c.hand.becomes = &value{"tso", "off"}, c.value
			p := &plan{options: &options{}, knobs: []sources.Knob{c.hand.knob}}
			err := p.restoreAll(&said, &c.hand)
			code, words := exitOK, ""
			var e *exitError
			if errors.As(err, &e) {
				if code = e.code; e.err != nil {
					words = e.err.Error()
				}
			}
			if code != c.code || said.String() != c.said || words != c.err {
				t.Errorf("code %d, said %q, error %q (%v)", code, said.String(), words, err)
			}
		})
	}
}
