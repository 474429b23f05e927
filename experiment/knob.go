package experiment

import (
	"strings"
	"time"

	"netwatch/sources"
)

// A KnobState is a knob as it stands.
type KnobState struct {
	Host    string
	Spec    sources.KnobSpec
	Value   string // the value last read
	Start   string // the value when the Session began
	Turning string // what was asked for and is not yet answered
	Since   time.Time
	values  []string // every value it had in this Session, in order of appearance
}

type knobTable struct {
	order []*KnobState
}

// Knobs returns every knob that was seen, in the order they were.
func (s *Session) Knobs() []*KnobState { return s.knobs.order }

// Knob returns one knob by host and name, or nil.
func (s *Session) Knob(host, name string) *KnobState { return s.knobs.find(host, name) }

// Turned returns the knobs whose value is not the one they had at the start.
func (s *Session) Turned() []*KnobState {
	var out []*KnobState
	for _, k := range s.knobs.order {
		if k.Value != k.Start {
			out = append(out, k)
		}
	}
	return out
}

func (t *knobTable) find(host, name string) *KnobState {
	for _, k := range t.order {
		if k.Host == host && k.Spec.Name == name {
			return k
		}
	}
	return nil
}

func (t *knobTable) seen(e sources.Event) {
	if e.Knob == nil {
		return
	}
	k := t.find(e.Host, e.Knob.Name)
	if k == nil {
		k = &KnobState{Host: e.Host, Start: e.New, Since: e.At}
		t.order = append(t.order, k)
	}
	k.Spec = *e.Knob
	k.set(e.New, e.At)
}

func (t *knobTable) turning(e sources.Event) *KnobState {
	k := t.find(e.Host, e.Subject)
	if k != nil {
		k.Turning = e.Asked
	}
	return k
}

func (t *knobTable) turned(e sources.Event) *KnobState {
	k := t.find(e.Host, e.Subject)
	if k != nil {
		k.Turning = ""
		k.set(e.New, e.At)
	}
	return k
}

func (k *KnobState) set(value string, at time.Time) {
	if value == "" || value == k.Value {
		return
	}
	k.Value, k.Since = value, at
	for _, v := range k.values {
		if v == value {
			return
		}
	}
	k.values = append(k.values, value)
}

// A Setting is the state of all knobs on all ends, written out.
type Setting []KnobValue

// A KnobValue is one knob's part of a Setting.
type KnobValue struct{ Host, Name, Value string }

func (t *knobTable) setting() Setting {
	var s Setting
	for _, k := range t.order {
		s = append(s, KnobValue{k.Host, k.Spec.Name, k.Value})
	}
	return s
}

// key identifies the Setting among others of the same Session.
func (s Setting) key() string {
	var b strings.Builder
	for _, v := range s {
		b.WriteString(v.Host + "\x00" + v.Name + "\x00" + v.Value + "\x00")
	}
	return b.String()
}

// label names a Setting by the knobs that ever changed; where none did, by the
// first knob there is (interrupt moderation, where the card has it).
func (t *knobTable) label(s Setting) string {
	var parts []string
	for i, v := range s {
		if k := t.order[i]; len(k.values) > 1 {
			name := v.Name + "=" + v.Value
			if v.Host != "" {
				name = v.Host + ":" + name
			}
			parts = append(parts, name)
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	for _, v := range s {
		if v.Value != "" { // a knob that the driver does not have names nothing
			return v.Name + "=" + v.Value
		}
	}
	return "as found"
}
