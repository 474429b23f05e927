// Command netwatch is a live monitor for TCP and network card experiments. This
// package is only the command: flags, wiring and exit codes; what it wires is in
// the rooms beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK         = 0
	exitFailure    = 1 // a source that was asked for cannot start, the load failed, a file is unusable
	exitUsage      = 2
	exitUnrestored = 3 // a knob could not be put back
	exitSignal     = 128
)

// An exitError ends netwatch with a code of its own.
type exitError struct {
	code int
	err  error // nil: nothing more to say
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// A signalCause is the context's cause when a signal ended netwatch.
type signalCause struct{ sig syscall.Signal }

func (s signalCause) Error() string { return s.sig.String() }

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is netwatch as a function.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		for s := range signals {
			if sig, ok := s.(syscall.Signal); ok {
				cancel(signalCause{sig})
			}
		}
	}()

	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // cobra takes those of the process instead of nil
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var say *exitError
	code := exitOK
	switch {
	case errors.As(err, &say):
		code = say.code
		err = say.err
	case err != nil:
		code = exitFailure
	}
	if err != nil {
		fmt.Fprintf(stderr, "netwatch: %v\n", err)
		if code == exitUsage {
			fmt.Fprintln(stderr, "see netwatch --help")
		}
	}
	var sig signalCause
	if code == exitOK && errors.As(context.Cause(ctx), &sig) {
		code = exitSignal + int(sig.sig)
	}
	return code
}

// usage makes the flag library's complaints usage errors, which say what is wanted.
func usage(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	var lacks *pflag.ValueRequiredError
	switch {
	case errors.As(err, &bad) && bad.GetFlag().Value.Type() == "duration":
		return usageError("--%s %s: wanted is a time such as 500ms, 10s or 2m", bad.GetFlag().Name, bad.GetValue())
	case errors.As(err, &bad) && bad.GetFlag().Value.Type() == "bool":
		return usageError("--%s takes no value, not %s", bad.GetFlag().Name, bad.GetValue())
	case errors.As(err, &lacks):
		return usageError("--%s needs a value: %s", lacks.GetFlag().Name, lacks.GetFlag().Usage)
	}
	return &exitError{exitUsage, err}
}

// asUsage does so for those about arguments.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs { return args(check) }

// args makes a complaint about arguments a usage error, which says what is wanted.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) != nil {
			return usageError("wanted is %s, not %s", cmd.UseLine(), many(len(given), "argument"))
		}
		return nil
	}
}
