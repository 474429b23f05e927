package experiment

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"netwatch/sources"
)

// A KnobState is a knob as it stands.
type KnobState struct {
	Host    string
	Spec    sources.KnobSpec
	Value   string // the value last read, "" while it cannot be
	Start   string // the value when the Session began
	Turning string // what was asked for and is not yet answered
	Doubt   bool   // its host is gone, and may have put it back
	Since   time.Time
	values  []string // every value it had in this Session, in order of appearance
	left    leaving
}

// A leaving is a turn of a netwatch that is gone, which nobody has put back.
type leaving struct{ start, value string }

// leftTurned says whether an event tells of such a turn. It is no trouble of the source
// that tells it.
func leftTurned(e sources.Event) bool {
	return e.Kind == sources.SourceNote && e.Source == "knobs" && e.Old != ""
}

// leave takes what a netwatch that is gone left turned; the knob may be known later.
func (t *knobTable) leave(e sources.Event) {
	if t.left == nil {
		t.left = map[hostName]leaving{}
	}
	l := leaving{e.Old, e.New}
	t.left[hostName{e.Host, e.Subject}] = l
	if k := t.find(e.Host, e.Subject); k != nil {
		k.left = l
	}
}

// From is the value that the knob was turned from: in this Session, or by a netwatch
// that is gone and left it so. "" where it was not turned.
func (k *KnobState) From() string {
	switch {
	case k.Moved():
		return k.Start
	case k.Value != "" && k.Value == k.left.value && k.left.start != k.left.value:
		return k.left.start
	}
	return ""
}

type knobTable struct {
	order    []*KnobState
	left     map[hostName]leaving // by host and knob
	verified time.Time            // when the newest turn ended
}

// Knobs returns every knob that was seen, in the order they were.
func (s *Session) Knobs() []*KnobState { return s.knobs.order }

// Knob returns one knob by host and name, or nil.
func (s *Session) Knob(host, name string) *KnobState { return s.knobs.find(host, name) }

// Turned returns the knobs whose value is not the one they had at the start. Those
// of a host that is gone are not among them: its agent puts them back.
func (s *Session) Turned() []*KnobState {
	var out []*KnobState
	for _, k := range s.knobs.order {
		if k.Moved() && !k.Doubt {
			out = append(out, k)
		}
	}
	return out
}

// Moved says whether the value is another one than at the start. One that is not known
// is not.
func (k *KnobState) Moved() bool { return k.Value != "" && k.Value != k.Start }

func (t *knobTable) find(host, name string) *KnobState {
	for _, k := range t.order {
		if k.Host == host && k.Spec.Name == name {
			return k
		}
	}
	return nil
}

// seen takes the first words about a knob, or the first ones again: whoever asked
// for a turn before does not wait for its end any more.
func (t *knobTable) seen(e sources.Event) *KnobState {
	if e.Knob == nil {
		return nil
	}
	k := t.find(e.Host, e.Knob.Name)
	if k == nil {
		k = &KnobState{Host: e.Host, Start: e.New, Since: e.At, left: t.left[hostName{e.Host, e.Knob.Name}]}
		t.order = append(t.order, k)
	}
	k.Spec = *e.Knob
	k.Turning, k.Doubt = "", false
	k.set(e.New, e.At)
	if e.New == "" { // it cannot be read any more
		k.Value = ""
	}
	return k
}

// doubt marks the knobs of a host that is gone.
func (t *knobTable) doubt(host string) {
	for _, k := range t.order {
		if k.Host == host {
			k.Turning, k.Doubt = "", true
		}
	}
}

// forget takes the values of a host's knobs as unknown that were told before it was
// gone, and not again.
func (t *knobTable) forget(host string) (any bool) {
	for _, k := range t.order {
		if k.Host == host && k.Doubt {
			k.Value, k.Doubt, any = "", false, true
		}
	}
	return any
}

func (t *knobTable) turning(e sources.Event) *KnobState {
	k := t.find(e.Host, e.Subject)
	if k != nil {
		k.Turning = e.Asked
	}
	return k
}

// aside tells whether an event is of a knob that is no part of a setting.
func (t *knobTable) aside(e sources.Event) bool {
	k := t.find(e.Host, e.Subject)
	return k != nil && k.Spec.Aside
}

func (t *knobTable) turned(e sources.Event) *KnobState {
	k := t.find(e.Host, e.Subject)
	if k != nil {
		k.Turning = ""
		if e.Kind != sources.KnobFailed {
			k.Doubt = false
		} else if e.New == "" { // it was asked and did not answer; of here a new agent tells
			k.Doubt = k.Doubt || k.Host != ""
		}
		k.set(e.New, e.At)
		t.verified = maxTime(t.verified, e.At)
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

// A Setting is the state of all knobs on all ends, written out. The knobs of a host
// that is gone are not known, and left out.
type Setting []KnobValue

// A KnobValue is one knob's part of a Setting.
type KnobValue struct{ Host, Name, Value string }

func (t *knobTable) setting() Setting {
	var s Setting
	for _, k := range t.order {
		if !k.Spec.Aside && !k.Doubt {
			s = append(s, KnobValue{k.Host, k.Spec.Name, k.Value})
		}
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

// label names a Setting by the knobs that ever changed on any end; where none did,
// by the first knob there is (interrupt moderation, where the card has it).
func (t *knobTable) label(s Setting) string {
	var parts []string
	for i, v := range s {
		ends := s.named(v.Name)
		if first := !slices.ContainsFunc(s[:i], v.sameKnob); first && slices.ContainsFunc(ends, t.changed) {
			parts = append(parts, ends.words())
		}
	}
	if len(parts) == 0 {
		parts = append(parts, s.unchanged())
	}
	return strings.Join(append(parts, t.unknown(s)...), " ")
}

// unchanged names a Setting in which nothing was ever turned.
func (s Setting) unchanged() string {
	for _, v := range s {
		if v.Value != "" { // a knob that the driver does not have names nothing
			return s.named(v.Name).words()
		}
	}
	return "as found"
}

// unknown names the hosts whose knobs were not known then, as "r1:?", and the cards
// whose knobs could not be read.
func (t *knobTable) unknown(s Setting) []string {
	var out []string
	for _, k := range t.order {
		word := k.Host + ":?"
		same := func(v KnobValue) bool { return v.Host == k.Host && v.Name == k.Spec.Name }
		known := func(v KnobValue) bool { return v.Host == k.Host }
		lost := slices.IndexFunc(s, same)
		switch {
		case k.Spec.Aside:
			continue
		case k.Start != "" && lost >= 0 && s[lost].Value == "":
			word = cmp.Or(k.Spec.Subject, k.Spec.Name) + ":?"
		case k.Host == "" || slices.ContainsFunc(s, known):
			continue
		}
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

func (v KnobValue) sameKnob(o KnobValue) bool { return v.Name == o.Name }

// named is the part of a Setting that one knob has on all ends.
func (s Setting) named(name string) Setting {
	var out Setting
	for _, v := range s {
		if v.Name == name {
			out = append(out, v)
		}
	}
	return out
}

func (t *knobTable) changed(v KnobValue) bool {
	k := t.find(v.Host, v.Name)
	return k != nil && len(k.values) > 1
}

// words is one knob on all ends: "aim=2" where they agree, "aim=2 r1:aim=1" where
// they do not.
func (s Setting) words() string {
	var parts []string
	agree := len(s) > 1
	for _, v := range s {
		agree = agree && v.Value == s[0].Value
		name := v.Name + "=" + cmp.Or(v.Value, "-")
		if v.Host != "" {
			name = v.Host + ":" + name
		}
		parts = append(parts, name)
	}
	if agree {
		return s[0].Name + "=" + cmp.Or(s[0].Value, "-")
	}
	return strings.Join(parts, " ")
}
