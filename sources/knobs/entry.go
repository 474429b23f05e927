package knobs

import (
	"cmp"
	"fmt"
	"time"
)

// An Entry is a knob of this host that netwatch turned and has not put back.
type Entry struct {
	Interface string    `json:"interface"`         // the one netwatch was started for
	Subject   string    `json:"subject,omitempty"` // the knob's own; "" is the whole host
	Index     int       `json:"index,omitempty"`   // the number of that interface then; 0: not known
	Knob      string    `json:"knob"`
	Start     string    `json:"start"`             // before netwatch turned it first
	Value     string    `json:"value"`             // as netwatch left it, read back
	Asked     string    `json:"asked,omitempty"`   // a turn that has begun and not ended
	Along     string    `json:"along,omitempty"`   // the turn that has begun is of this other knob, and may take this one to Asked
	Kept      string    `json:"kept,omitempty"`    // the value a person chose to keep: where a session goes back to
	Boot      string    `json:"boot"`              // which boot of the host
	Net       string    `json:"net,omitempty"`     // which network namespace or vnet jail, "" where there is none
	At        time.Time `json:"at"`                // of the last turn
	PID       int       `json:"pid,omitempty"`     // who turned it last
	Started   int64     `json:"started,omitempty"` // when that process began, in seconds since the boot; 0: not known
}

// home is the value a session puts back.
func (e Entry) home() string { return cmp.Or(e.Kept, e.Start) }

// set tells whether value is one that netwatch gave the knob.
func (e Entry) set(value string) bool {
	return value == e.Value || e.Asked != "" && value == e.Asked
}

// Turned tells whether netwatch turned the knob, or was about to. Of one that only may
// have gone along with another nobody knows yet.
func (e Entry) Turned() bool { return e.Along == "" || e.Value != e.Start || e.Kept != "" }

// Words says what netwatch made of the knob: "aim was turned from 1 to 2".
func (e Entry) Words() string { return e.words(e.Knob) }

func (e Entry) words(name string) string {
	if e.Asked == "" || e.Along != "" {
		return fmt.Sprintf("%s was turned from %s to %s", name, e.Start, e.Value)
	}
	return fmt.Sprintf("%s was being turned from %s to %s", name, e.Value, e.Asked)
}

// beside tells whether two entries are of the same boot, network and interface.
func (e Entry) beside(o Entry) bool {
	return e.Boot == o.Boot && e.Net == o.Net && e.Subject == o.Subject
}
