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

// usage makes cobra's own complaints usage errors.
func usage(_ *cobra.Command, err error) error { return &exitError{exitUsage, err} }

// asUsage does so for those about arguments.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
}

// args makes a complaint about arguments a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return &exitError{exitUsage, err}
		}
		return nil
	}
}
