package knobs

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"netwatch/sources"
)

// switches are the bits of one offload: TSO has one for IPv4 (bit 0) and one for IPv6.
type switches interface {
	// get tells which are on and which the hardware and driver can do at all.
	get() (on, can uint32, err error)
	// set makes exactly these be on.
	set(on uint32) error
}

// An offload is a knob of one or more switches that are turned together.
type offload struct {
	spec  sources.KnobSpec
	parts []string // the word for each bit, lowest first
	hw    switches
	needs string // the offload without which the driver switches this one off for good, part by part; "": none
	// habit says why a driver keeps parts off that were asked for, where that is known;
	// nil: nowhere. can is what there is.
	habit func(missing, can uint32) string
}

func (k offload) Spec() sources.KnobSpec { return k.spec }

func (k offload) Get(context.Context) (string, error) {
	on, can, err := k.hw.get()
	switch {
	case err != nil:
		return "", err
	case can == 0 && on == 0:
		return "", fmt.Errorf("%s cannot do %s: %w", k.spec.Subject, k.spec.Label, errors.ErrUnsupported)
	}
	return word(k.parts, on), nil
}

// Set takes "off", "on" (all the hardware can do) or the words of some parts: "tso4",
// "tso4+tso6".
func (k offload) Set(_ context.Context, value string) error {
	_, can, err := k.hw.get()
	if err != nil {
		return err
	}
	on, err := k.bits(value, can)
	if err != nil {
		return err
	}
	return k.hw.set(on)
}

// bits are the switches that a value has on.
func (k offload) bits(value string, can uint32) (uint32, error) {
	switch {
	case value == "off":
		return 0, nil
	case value == "on" && can == 0:
		return 0, fmt.Errorf("%s cannot do %s: %w", k.spec.Subject, k.spec.Label, errors.ErrUnsupported)
	case value == "on":
		return can, nil
	}
	var on uint32
	for part := range strings.SplitSeq(value, "+") {
		bit := slices.Index(k.parts, part)
		if bit < 0 {
			return 0, notAmong(k.spec, value)
		}
		on |= 1 << bit
	}
	return on, nil
}

func (k offload) check(value string) error {
	if len(k.parts) == 1 && value == k.parts[0] { // that is "on"
		return notAmong(k.spec, value)
	}
	_, err := k.bits(value, ^uint32(0))
	return err
}

// short says why less was granted than was asked for, "" where nobody knows. Of a turn
// that was refused that is only what the card has not.
func (k offload) short(asked, granted string, refused bool) string {
	wanted, err := k.bits(asked, 1<<len(k.parts)-1)
	if err != nil {
		return ""
	}
	on, err := k.bits(granted, 1<<len(k.parts)-1)
	missing := wanted &^ on
	if err != nil || missing == 0 {
		return ""
	}
	_, can, err := k.hw.get()
	absent := missing &^ can
	switch {
	case err != nil || refused && absent == 0:
		return ""
	case k.habit != nil:
		return k.habit(missing, can)
	case absent != 0:
		return "this card, or its driver, has no " + strings.Join(words(k.parts, absent), " and no ")
	}
	return ""
}

// without is what is left of an offload when another one is turned to value.
func (k offload) without(turned offload, value string) string {
	on, _, err := k.hw.get()
	if err != nil || k.needs != turned.spec.Name {
		return word(k.parts, on)
	}
	_, can, err := turned.hw.get()
	if err != nil {
		return word(k.parts, on)
	}
	left, err := turned.bits(value, can)
	if err != nil {
		return word(k.parts, on)
	}
	return word(k.parts, on&left)
}

// word is the value as a person says it: "off", "on" for all parts, else the parts.
func word(parts []string, on uint32) string {
	switch all := words(parts, on); len(all) {
	case 0:
		return "off"
	case len(parts):
		return "on"
	default:
		return strings.Join(all, "+")
	}
}

func words(parts []string, on uint32) (list []string) {
	for bit, part := range parts {
		if on&(1<<bit) != 0 {
			list = append(list, part)
		}
	}
	return list
}

// newOffload fills in the values of an offload from what the hardware can do: the
// second is what "on" comes to here.
func newOffload(spec sources.KnobSpec, parts []string, hw switches) offload {
	on, can, err := hw.get()
	switch {
	case err != nil || (can == 0 && on == 0):
		spec.Locked = fmt.Sprintf("%s cannot do %s", spec.Subject, spec.Label)
	case can == 0:
		spec.Locked = "fixed by the driver"
	default:
		spec.Values = []string{"off", word(parts, can)}
		if bits.OnesCount32(can) > 1 {
			spec.Note = strings.TrimPrefix(spec.Note+"; "+strings.Join(parts, " or ")+" alone can be set by name", "; ")
		}
	}
	return offload{spec: spec, parts: parts, hw: hw}
}
