package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netwatch/sources/proc"
)

// pushLimit is how long copying the program to a peer may take.
const pushLimit = 2 * time.Minute

// push copies a netwatch to a private temporary place on the peer and uses it there.
func (p *peer) push(ctx context.Context) error {
	file := p.program
	if file == pushThis {
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		file = exe
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pushLimit)
	defer cancel()
	script := "umask 077 && d=`mktemp -d /tmp/netwatch.XXXXXXXX` && cat >$d/netwatch && chmod 700 $d/netwatch && echo pushed to $d/netwatch"
	c, err := proc.Start(proc.Spec{Argv: p.argv("sh", "-c", "'"+script+"'"), Input: true})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.Stop)()
	go func() {
		_, _ = io.Copy(c.Input(), bytes.NewReader(program)) // what went wrong shows in what it says
		c.Input().Close()
	}()
	var said strings.Builder
	for o := range c.Output() {
		said.Write(o.Data)
	}
	st := c.Wait()
	_, path, ok := strings.Cut(said.String(), "pushed to ")
	if path = strings.TrimSpace(path); !st.OK() || !ok || path == "" || strings.ContainsFunc(path, unsafeInShell) {
		return fmt.Errorf("%s: the program could not be copied there: %s %s", p.host, st, strings.TrimSpace(said.String()))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.path, p.pushed = path, strings.TrimSuffix(path, "/netwatch")
	return nil
}

// unpush removes what push left there, should it not have removed itself.
func (p *peer) unpush() error {
	p.mu.Lock()
	pushed := p.pushed
	p.mu.Unlock()
	if pushed == "" {
		return nil
	}
	said, err := proc.Ask(askLimit, p.argv("rm", "-rf", pushed)...)
	if err == nil && strings.TrimSpace(said) != "" {
		err = errors.New(strings.TrimSpace(said))
	}
	if err != nil {
		return fmt.Errorf("%s: %s may still be there: %w", p.host, pushed, err)
	}
	return nil
}

// there runs a command of netwatch on the peer, with its lines marked by the host.
func (p *peer) there(ctx context.Context, stdout, stderr io.Writer, words ...string) error {
	for _, w := range words {
		if strings.ContainsFunc(w, unsafeInShell) {
			return usageError("%q cannot be passed on to %s", w, p.host)
		}
	}
	c, err := proc.Start(proc.Spec{Argv: p.rootCommand(strings.Join(words, " "))})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.Stop)()
	var out, errs bytes.Buffer
	for o := range c.Output() {
		if o.Stderr {
			errs.Write(o.Data)
		} else {
			out.Write(o.Data)
		}
	}
	st := c.Wait()
	for _, part := range []struct {
		text string
		to   io.Writer
	}{{out.String(), stdout}, {errs.String(), stderr}} {
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(part.to, "%s: %s\n", p.host, strings.TrimRight(line, "\r\n"))
		}
	}
	if !st.OK() {
		if advice := p.advice(ctx, errs.String()); advice != "" {
			return &exitError{exitFailure, fmt.Errorf("%s: %s", p.host, advice)}
		}
		code := st.Code
		if code < exitFailure || code > exitUnrestored { // ssh's own, or the shell's there
			code = exitFailure
		}
		return &exitError{code, nil}
	}
	return nil
}

// onPeers runs a command of netwatch on every peer. iface is what a peer watches
// that names no interface of its own.
func (o *options) onPeers(cmd *cobra.Command, iface string, words func(*peer) []string) error {
	peers, err := o.openPeers(cmd.Context(), iface)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range peers {
		failed = append(failed, p.there(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), words(p)...), p.unpush())
	}
	return errors.Join(failed...)
}
