package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"netwatch/sources"
	"netwatch/sources/knobs"
	"netwatch/sources/proc"
)

// askLimit is how long sudo may think.
const askLimit = 5 * time.Second

// rights is how this netwatch gets root's rights for its agent, found out once.
type rights struct {
	exe  string // this program
	have bool   // this process has them itself
	find func() ([]string, error)
}

// newRights looks at the knobs whether this process may turn them.
func newRights(list []sources.Knob) (*rights, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := asRoot(exe)
	r.have = !slices.ContainsFunc(list, func(k sources.Knob) bool { return k.Spec().Locked == knobs.NeedsRoot })
	return r, nil
}

// asRoot is for a process that has no rights itself.
func asRoot(exe string) *rights {
	return &rights{exe: exe, find: sync.OnceValues(func() ([]string, error) { return findRoot(exe) })}
}

// prefix is what stands before a command of ours to run it as root: nothing, or
// "sudo -n". The error tells why there is none.
func (r *rights) prefix(ctx context.Context) ([]string, error) {
	if r.have {
		return nil, nil
	}
	type found struct {
		words []string
		err   error
	}
	c := make(chan found, 1)
	go func() {
		words, err := r.find()
		c <- found{words, err}
	}()
	select {
	case f := <-c:
		return f.words, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// findRoot asks sudo and doas, which never ask for a password here, whether they
// would run the agent, by running what does nothing.
func findRoot(exe string) ([]string, error) {
	why := ""
	for _, words := range [][]string{{"sudo", "-n"}, {"doas", "-n"}} {
		said, err := proc.Ask(askLimit, append(words, exe, "agent", "--check")...)
		switch {
		case err == nil && strings.Contains(said, checkWords):
			return words, nil
		case err == nil && why == "":
			why = ": " + strings.TrimSpace(said)
		}
	}
	why, _, _ = strings.Cut(why, "\n")
	return nil, fmt.Errorf("cannot become root by sudo -n or doas -n%s", why)
}

// runAsRoot runs this program once more as root, with its output here.
func (r *rights) runAsRoot(ctx context.Context, stdout, stderr io.Writer, args ...string) error {
	prefix, err := r.prefix(ctx)
	if err != nil {
		return fmt.Errorf("%w; type: sudo %s %s", err, r.exe, strings.Join(args, " "))
	}
	c, err := proc.Start(proc.Spec{Argv: append(append(prefix, r.exe), args...)})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.Stop)()
	var failed error
	for o := range c.Output() {
		w := stdout
		if o.Stderr {
			w = stderr
		}
		_, err := w.Write(o.Data)
		failed = errors.Join(failed, err)
	}
	if st := c.Wait(); !st.OK() {
		return &exitError{st.Code, nil}
	}
	return failed
}

// throughAgent is a knob that this process cannot turn and its agent can.
type throughAgent struct{ sources.Knob }

func (k throughAgent) Spec() sources.KnobSpec {
	spec := k.Knob.Spec()
	if spec.Locked == knobs.NeedsRoot {
		spec.Locked = ""
	}
	return spec
}
