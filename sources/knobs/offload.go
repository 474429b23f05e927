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

// Set takes "off", "on" (all the hardware can do) or the word of one part.
func (k offload) Set(_ context.Context, value string) error {
	_, can, err := k.hw.get()
	if err != nil {
		return err
	}
	switch value {
	case "off":
		return k.hw.set(0)
	case "on":
		if can == 0 {
			return fmt.Errorf("%s cannot do %s: %w", k.spec.Subject, k.spec.Label, errors.ErrUnsupported)
		}
		return k.hw.set(can)
	}
	if bit := slices.Index(k.parts, value); bit >= 0 {
		return k.hw.set(1 << bit)
	}
	return notAmong(k.spec, value)
}

func (k offload) check(value string) error {
	if value == "off" || value == "on" || (len(k.parts) > 1 && slices.Contains(k.parts, value)) {
		return nil
	}
	return notAmong(k.spec, value)
}

// other is the value that a turn of another offload of the card would give it.
func (k offload) other(value string) string {
	for _, v := range k.spec.Values {
		if v != value {
			return v
		}
	}
	return value
}

// word is the value as a person says it: "off", "on" for all parts, else the parts.
func word(parts []string, on uint32) string {
	var words []string
	for bit, part := range parts {
		if on&(1<<bit) != 0 {
			words = append(words, part)
		}
	}
	switch len(words) {
	case 0:
		return "off"
	case len(parts):
		return "on"
	}
	return strings.Join(words, "+")
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
	return offload{spec, parts, hw}
}
