package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/sources/agent"
	"netwatch/sources/ends"
	"netwatch/sources/knobs"
)

func newSet() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "set IFACE KNOB=VALUE...",
		Short: "turn knobs and keep them turned; netwatch restore puts them back",
		Args:  asUsage(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSet(cmd, &o, args[0], args[1:])
		},
	}
	o.knobFlag(cmd.Flags())
	o.peerFlags(cmd.Flags())
	return cmd
}

func runSet(cmd *cobra.Command, o *options, iface string, words []string) error {
	if err := checkInterface(iface); err != nil {
		return err
	}
	list, err := o.knobs(iface)
	if err != nil {
		return err
	}
	turns, err := parseTurns(list, words)
	if err != nil {
		return err
	}
	if _, err := o.parsePeers(iface); err != nil {
		return err
	}
	r, err := newRights(list)
	if err != nil {
		return err
	}
	client, err := o.newClient(cmd.Context(), iface, r)
	if err != nil {
		return fmt.Errorf("%w; type: sudo %s set %s %s", err, r.exe, iface, strings.Join(words, " "))
	}
	clients := []*agent.Client{client}
	peers, err := o.openPeers(cmd.Context(), iface)
	if err != nil {
		return err
	}
	for _, p := range peers {
		clients = append(clients, p.newClient(0))
	}
	tell := &setSink{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
	err = setAll(cmd.Context(), clients, tell, turns)
	for _, p := range peers {
		err = errors.Join(p.advisedOf(cmd.Context(), err), p.unpush())
	}
	if bySignal(cmd.Context()) { // the agents have put back what they turned
		return err
	}
	return cmp.Or(err, tell.refused())
}

// setAll makes the turns on all ends together and keeps them.
func setAll(parent context.Context, clients []*agent.Client, tell sources.Sink, turns []turnWord) error {
	both := ends.New(tell, "")
	ctx, stop := context.WithCancel(context.WithoutCancel(parent))
	var running sync.WaitGroup
	ended := make([]error, len(clients))
	host := ""
	for i, c := range clients {
		both.Add(c.Host(), c)
		running.Go(func() { ended[i] = c.Run(ctx, both) })
		if i > 0 {
			host = sources.Everywhere
		}
	}
	var failed []error
	for _, c := range clients {
		failed = append(failed, c.Ready(parent))
	}
	for _, t := range turns {
		if errors.Join(failed...) != nil {
			break
		}
		failed = append(failed, both.Turn(parent, host, t.knob, t.value))
	}
	failed = append(failed, keepAll(ctx, parent, clients, errors.Join(failed...)))
	stop()
	running.Wait()
	if bySignal(parent) {
		return errors.Join(ended...)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return errors.Join(ended...)
}

// keepAll has all ends keep what was turned. An end that did not answer, or whose link is
// lost now, puts back: then the others must, too. A signal puts back as well.
func keepAll(ctx, parent context.Context, clients []*agent.Client, failed error) error {
	if errors.Is(failed, sources.ErrUnanswered) {
		return errors.New("nothing is kept")
	}
	for _, c := range slices.Backward(clients) { // this host last: its link cannot be lost
		if c.Ready(ctx) != nil || parent.Err() != nil {
			continue
		}
		if err := c.Keep(ctx); err != nil {
			return fmt.Errorf("nothing more is kept: %w", err)
		}
	}
	return nil
}

// A turnWord is KNOB=VALUE.
type turnWord struct{ knob, value string }

// parseTurns refuses, before anything is turned, what no kernel needs to be asked.
func parseTurns(list []sources.Knob, words []string) ([]turnWord, error) {
	board := knobs.New(nil, list...)
	var turns []turnWord
	for _, w := range words {
		i := strings.LastIndexByte(w, '=')
		if i <= 0 {
			return nil, usageError("%q: KNOB=VALUE, as in aim=2", w)
		}
		t := turnWord{w[:i], w[i+1:]}
		switch err := board.Check(t.knob, t.value); {
		case errors.Is(err, os.ErrNotExist):
			var names []string
			for _, s := range board.Specs() {
				names = append(names, s.Name)
			}
			if n := nearest(t.knob, names); n != "" {
				return nil, usageError("no knob %q; did you mean %s? there are: %s", t.knob, n, strings.Join(names, " "))
			}
			return nil, usageError("no knob %q; there are: %s", t.knob, strings.Join(names, " "))
		case errors.Is(err, knobs.ErrValue):
			return nil, &exitError{exitUsage, err}
		case err != nil:
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}

// A setSink prints how turns ended.
type setSink struct {
	out, err io.Writer
	mu       sync.Mutex
	failed   int
}

// Sample implements sources.Sink; nobody asks for samples.
func (s *setSink) Sample(sources.Sample) {}

// Event implements sources.Sink.
func (s *setSink) Event(e sources.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := e.Span.Round(10 * time.Microsecond)
	if e.Host != "" {
		e.Subject, e.Text = e.Host+" "+e.Subject, e.Host+": "+e.Text
	}
	switch e.Kind {
	case sources.KnobTurned:
		note := ""
		if e.New != e.Asked {
			note = ": not what was asked"
			if e.Text != "" {
				note += ": " + e.Text
			}
		}
		fmt.Fprintf(s.out, "%s: %s -> %s (asked %s, granted %s, verified in %v)%s\n", e.Subject, e.Old, e.New, e.Asked, e.New, took, note)
	case sources.KnobFailed:
		s.failed++
		if e.New == "" {
			fmt.Fprintf(s.out, "%s: asked %s: %s\n", e.Subject, e.Asked, e.Text)
			break
		}
		fmt.Fprintf(s.out, "%s: asked %s, refused: %s; it is %s\n", e.Subject, e.Asked, e.Text, e.New)
	case sources.KnobBoth:
		if e.Error {
			s.failed++
		}
		fmt.Fprintln(s.out, experiment.Sentence(e))
	case sources.KnobDrifted:
		fmt.Fprintf(s.out, "%s: %s -> %s (%s)\n", e.Subject, e.Old, e.New, e.Text)
	case sources.SourceNote:
		fmt.Fprintf(s.err, "netwatch: %s\n", e.Text)
	}
}

// refused is exit status 1 for a turn that the kernel did not make.
func (s *setSink) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == 0 {
		return nil
	}
	return &exitError{exitFailure, nil}
}
