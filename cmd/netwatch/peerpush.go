package main

import (
	"bytes"
	"cmp"
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

const (
	pushLimit    = 2 * time.Minute  // for copying the program to a peer
	peerAskLimit = 15 * time.Second // for a short command there: names are looked up, sshd thinks
)

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
	go func() {
		_, _ = io.Copy(c.Input(), bytes.NewReader(program)) // what went wrong shows in what it says
		c.Input().Close()
	}()
	out, errs, st := heard(ctx, c)
	_, path, ok := strings.Cut(out, "pushed to ")
	path, _, _ = strings.Cut(path, "\n")
	if path = strings.TrimSpace(path); !st.OK() || !ok || path == "" || strings.ContainsFunc(path, unsafeInShell) {
		return fmt.Errorf("%s: the program could not be copied there: %s %s", p.host, st, strings.TrimSpace(errs+out))
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
	ctx, cancel := context.WithTimeout(context.Background(), peerAskLimit)
	defer cancel()
	_, errs, st, err := runToEnd(ctx, p.argv("rm", "-rf", pushed))
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer within %v", peerAskLimit)
	case !st.OK():
		err = errors.New(cmp.Or(strings.TrimSpace(errs), st.String()))
	}
	if err != nil {
		return fmt.Errorf("%s: %s may still be there: %w", p.host, pushed, err)
	}
	return nil
}

// runToEnd runs a program to its end, or until ctx ends, and tells what it said.
func runToEnd(ctx context.Context, argv []string) (stdout, stderr string, st proc.Status, err error) {
	c, err := proc.Start(proc.Spec{Argv: argv})
	if err != nil {
		return "", "", proc.Status{}, err
	}
	stdout, stderr, st = heard(ctx, c)
	return stdout, stderr, st, nil
}

// heard is what a child says until its end. When ctx ends it is stopped.
func heard(ctx context.Context, c *proc.Child) (stdout, stderr string, st proc.Status) {
	defer context.AfterFunc(ctx, c.Stop)()
	var out, errs strings.Builder
	for o := range c.Output() {
		if o.Stderr {
			errs.Write(o.Data)
		} else {
			out.Write(o.Data)
		}
	}
	return out.String(), errs.String(), c.Wait()
}

// there runs a command of netwatch on the peer, with its lines marked by the host.
func (p *peer) there(ctx context.Context, stdout, stderr io.Writer, words ...string) error {
	for _, w := range words {
		if strings.ContainsFunc(w, unsafeInShell) {
			return usageError("%q cannot be passed on to %s", w, p.host)
		}
	}
	out, errs, st, err := runToEnd(ctx, p.rootCommand(strings.Join(words, " ")))
	if err != nil {
		return err
	}
	for _, part := range []struct {
		text string
		to   io.Writer
	}{{out, stdout}, {errs, stderr}} {
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(part.to, "%s: %s\n", p.host, strings.TrimRight(line, "\r\n"))
		}
	}
	if !st.OK() {
		if advice := p.advice(ctx, strings.TrimSpace(st.String()+" "+errs)); advice != "" {
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
