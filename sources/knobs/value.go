package knobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"netwatch/sources"
)

// variables are the kernel's variables by name, as words. Errors satisfy errors.Is
// for os.ErrNotExist (no such name: a module that is not loaded), os.ErrPermission
// and errors.ErrUnsupported.
type variables interface {
	get(name string) (string, error)
	set(name, value string) error
}

// Sysctl makes a knob of any sysctl, named "sysctl:NAME". Without values it takes
// what the kernel takes.
func Sysctl(name string, values ...string) sources.Knob {
	return variable{spec: sources.KnobSpec{Name: "sysctl:" + name, Label: name, Values: values,
		Command: "sudo sysctl " + name + "=%s", Locked: mayTurn()}, name: name, kernel: openVariables()}
}

// A variable is a knob that is one kernel variable (a sysctl). Without values in
// its spec, and when they are only those known now, it takes what the kernel takes.
type variable struct {
	spec   sources.KnobSpec
	name   string
	kernel variables
	open   bool // the kernel may take others too: it loads a congestion control by name
}

func (k variable) Spec() sources.KnobSpec { return k.spec }

func (k variable) Get(context.Context) (string, error) { return k.kernel.get(k.name) }

func (k variable) Set(_ context.Context, value string) error {
	return k.kernel.set(k.name, value)
}

func (k variable) check(value string) error {
	if k.open || len(k.spec.Values) == 0 || slices.Contains(k.spec.Values, value) {
		return nil
	}
	return notAmong(k.spec, value)
}

// absent is a knob that this interface does not have; its spec says why.
type absent struct{ spec sources.KnobSpec }

func (k absent) Spec() sources.KnobSpec { return k.spec }

func (k absent) Get(context.Context) (string, error) {
	return "", fmt.Errorf("%s: %w", k.spec.Locked, errors.ErrUnsupported)
}

func (k absent) Set(context.Context, string) error {
	return fmt.Errorf("%s: %w", k.spec.Locked, errors.ErrUnsupported)
}
