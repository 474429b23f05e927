package knobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"netwatch/sources"
)

// This file is the knobs of a card that are no features: interrupt moderation and
// flow control.

// lockedBy is why a knob cannot be turned: the error of reading it, where the driver
// has no such thing, or the lock of this process.
func lockedBy(iface, what, locked string, err error) string {
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return iface + "'s driver has no " + what
	case err != nil:
		return printable(err.Error())
	}
	return locked
}

var onOff = []string{"off", "on"}

// moderation is the knob "aim": adaptive receive interrupt moderation.
type moderation struct {
	spec sources.KnobSpec
	card card
}

func newModeration(iface string, c card, locked string) moderation {
	_, err := c.coalesce(adaptiveRx)
	return moderation{sources.KnobSpec{Name: "aim", Label: "aim", Subject: iface,
		Values: onOff, Meanings: []string{"a fixed hold-off", "the driver adapts the hold-off to the traffic"},
		Command: fmt.Sprintf("sudo ethtool -C %s adaptive-rx %%s", iface),
		Locked:  lockedBy(iface, "interrupt moderation", locked, err)}, c}
}

func (k moderation) Spec() sources.KnobSpec { return k.spec }

func (k moderation) Get(context.Context) (string, error) {
	on, err := k.card.coalesce(adaptiveRx)
	if err != nil {
		return "", err
	}
	return onOff[min(on, 1)], nil
}

func (k moderation) Set(_ context.Context, value string) error {
	if err := k.check(value); err != nil {
		return err
	}
	return k.card.setCoalesce(adaptiveRx, flag(value == "on"))
}

func (k moderation) check(value string) error {
	if value != "on" && value != "off" {
		return notAmong(k.spec, value)
	}
	return nil
}

// A holdOff is the time by which interrupts of one direction are held back. A card
// may round it.
type holdOff struct {
	spec sources.KnobSpec
	card card
	word int
}

func newHoldOff(iface, name string, c card, word int, locked string) holdOff {
	_, err := c.coalesce(word)
	return holdOff{sources.KnobSpec{Name: name, Label: name, Subject: iface, Note: "microseconds; the card may round them",
		Command: fmt.Sprintf("sudo ethtool -C %s %s %%s", iface, name),
		Locked:  lockedBy(iface, "interrupt moderation", locked, err)}, c, word}
}

func (k holdOff) Spec() sources.KnobSpec { return k.spec }

func (k holdOff) Get(context.Context) (string, error) {
	usecs, err := k.card.coalesce(k.word)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(uint64(usecs), 10), nil
}

func (k holdOff) Set(_ context.Context, value string) error {
	usecs, err := k.parse(value)
	if err != nil {
		return err
	}
	return k.card.setCoalesce(k.word, usecs)
}

func (k holdOff) check(value string) error {
	_, err := k.parse(value)
	return err
}

func (k holdOff) parse(value string) (uint32, error) {
	usecs, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s takes whole microseconds, not %q: %w", k.spec.Name, value, ErrValue)
	}
	return uint32(usecs), nil
}

// flowControl is the knob "fc": pause frames. Whether they are negotiated with the
// other end stays as it is. For a turn drivers set the card up again, or have the link
// negotiated anew.
type flowControl struct {
	spec sources.KnobSpec
	card card
}

// pauses are the values in the order of two bits: heeds pause frames, sends them.
var pauses = []string{"off", "rx", "tx", "on"}

func newFlowControl(iface string, c card, locked string) flowControl {
	_, _, err := c.pause()
	return flowControl{sources.KnobSpec{Name: "fc", Label: "fc", Subject: iface, Values: pauses,
		Meanings: []string{"", "heeds pause frames", "sends them", "both"}, Disruption: sources.LinkReset,
		Note:    "where it is negotiated, the other end has to agree",
		Command: fmt.Sprintf("sudo ethtool -A %s rx on|off tx on|off", iface),
		Locked:  lockedBy(iface, "flow control", locked, err)}, c}
}

func (k flowControl) Spec() sources.KnobSpec { return k.spec }

func (k flowControl) Get(context.Context) (string, error) {
	rx, tx, err := k.card.pause()
	if err != nil {
		return "", err
	}
	return pauses[flag(rx)|flag(tx)<<1], nil
}

func (k flowControl) Set(_ context.Context, value string) error {
	for bits, word := range pauses {
		if word == value {
			return k.card.setPause(bits&1 != 0, bits&2 != 0)
		}
	}
	return notAmong(k.spec, value)
}

func (k flowControl) check(value string) error {
	if !slices.Contains(pauses, value) {
		return notAmong(k.spec, value)
	}
	return nil
}
