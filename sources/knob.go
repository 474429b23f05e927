package sources

import (
	"context"
	"errors"
)

// A Disruption says what turning a knob does to the link.
type Disruption uint8

const (
	Gentle    Disruption = iota // acts at once, no packet is lost
	LinkReset                   // the driver re-initialises the interface: the link goes down for seconds
)

// A KnobSpec describes a knob. Values are the kernel's own words.
type KnobSpec struct {
	Name       string     `json:"name"`              // "aim", "tso", "lro", "tcp.tso": what `netwatch set` takes
	Label      string     `json:"label"`             // what the screen says: "aim", "TSO"
	Subject    string     `json:"subject,omitempty"` // the interface, or "" for the whole host
	Values     []string   `json:"values,omitempty"`
	Meanings   []string   `json:"meanings,omitempty"`   // one per value, may be shorter
	Disruption Disruption `json:"disruption,omitempty"` // what a turn does to the link
	Command    string     `json:"command,omitempty"`    // what a person would type to turn it, with %s for the value
	Locked     string     `json:"locked,omitempty"`     // why it cannot be turned here ("" = it can); words for the screen
	Note       string     `json:"note,omitempty"`       // what a person should know ("new connections only")
	Aside      bool       `json:"aside,omitempty"`      // no part of a setting: a log's file name changes nothing that is measured
}

// A Knob can be read by anyone and turned with the right privilege.
//
// Get and Set return errors that satisfy errors.Is for os.ErrPermission,
// os.ErrNotExist and errors.ErrUnsupported where that is what the kernel said.
type Knob interface {
	Spec() KnobSpec
	Get(context.Context) (string, error)
	Set(context.Context, string) error
}

// Everywhere is the host of a turn that is meant for all ends at once. Only a Turner
// that has several ends takes it.
const Everywhere = "*"

// ErrUnanswered is the error of a turn that was asked for and not answered: whether the
// knob is turned is not known.
var ErrUnanswered = errors.New("no answer")

// ErrAway is the error of a turn on a host that is not there: it was not asked, and what
// its knobs are is not known.
var ErrAway = errors.New("it is not connected")

// A Turner turns knobs by name on a host ("" = here). The result comes back as
// Events in the stream; the error is only for a turn that could not be tried.
type Turner interface {
	Turn(ctx context.Context, host, knob, value string) error
}
