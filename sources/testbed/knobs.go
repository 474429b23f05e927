package testbed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netwatch/sources"
)

// A knob acts on the testbed's state.
type knob struct {
	t    *Testbed
	spec sources.KnobSpec
	get  func(*state) string
	set  func(*state, string)
}

func (k *knob) Spec() sources.KnobSpec { return k.spec }

func (k *knob) Get(context.Context) (string, error) {
	k.t.mu.Lock()
	defer k.t.mu.Unlock()
	return k.get(&k.t.s), nil
}

// Set takes as long as the kernel's call would: a capability turn blocks while
// the driver re-initialises the interface.
func (k *knob) Set(ctx context.Context, value string) error {
	if !slices.Contains(k.spec.Values, value) {
		return fmt.Errorf("%s=%s: invalid argument", k.spec.Name, value)
	}
	k.t.mu.Lock()
	same := k.get(&k.t.s) == value
	k.set(&k.t.s, value)
	if !same && k.spec.Disruption == sources.LinkReset {
		k.t.s.reset(time.Now())
	}
	k.t.mu.Unlock()
	if same || k.spec.Disruption != sources.LinkReset {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(ioctlTime):
		return nil
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Knobs are the simulated knobs: enable_aim, interface TSO and LRO, the stack's
// TSO switch, and which log the kernel writes.
func (t *Testbed) Knobs() []sources.Knob {
	switches, sense := []string{"off", "on"}, []string{"off", "on"}
	return []sources.Knob{
		&knob{t, sources.KnobSpec{
			Name: "aim", Label: "aim", Subject: Interface, Values: []string{"0", "1", "2"},
			Meanings: []string{"off: fixed 8000/s", "normal", "low latency"}, Command: "sysctl dev.em.4.enable_aim=%s",
		}, func(s *state) string { return fmt.Sprint(s.aim) }, func(s *state, v string) { s.aim = int(v[0] - '0') }},
		&knob{t, sources.KnobSpec{
			Name: "tso", Label: "TSO", Subject: Interface, Values: switches, Meanings: sense, Disruption: sources.LinkReset,
			Command: "ifconfig em4 tso %s", Note: "on: only for new connections",
		}, func(s *state) string { return onOff(s.ifTSO) }, func(s *state, v string) { s.ifTSO = v == "on" }},
		&knob{t, sources.KnobSpec{
			Name: "lro", Label: "LRO", Subject: Interface, Values: switches, Meanings: sense, Disruption: sources.LinkReset,
			Command: "ifconfig em4 lro %s",
		}, func(s *state) string { return onOff(s.lro) }, func(s *state, v string) { s.lro = v == "on" }},
		&knob{t, sources.KnobSpec{
			Name: "tcp.tso", Label: "stack TSO", Values: []string{"0", "1"}, Meanings: switches,
			Command: "sysctl net.inet.tcp.tso=%s", Note: "running connections follow at once",
		}, func(s *state) string { return map[bool]string{false: "0", true: "1"}[s.tcpTSO] }, func(s *state, v string) { s.tcpTSO = v == "1" }},
		&knob{t, sources.KnobSpec{
			Name: "log", Label: "log", Values: []string{"off", "siftr", "siftr2"},
			Meanings: []string{"none", "stock siftr 1.3.0", "siftr2 2.5"}, Command: "sysctl net.inet.%s.enabled=1",
		}, func(s *state) string { return s.log }, func(s *state, v string) { s.log = v }},
	}
}
