package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/knobs"
)

const restoreLong = `restore puts back, from the journal, what a netwatch turned that could not do so
itself, or what netwatch set has kept. A knob is put back only if its value is still the
one netwatch gave it.

What was turned before the host was booted, or by a netwatch that still runs, is only
told; --force puts it back.`

func newRestore() *cobra.Command {
	var o options
	var force bool
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "put back from the journal what netwatch turned",
		Long:  restoreLong,
		Args:  asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			words := []string{"restore"}
			if force {
				words = append(words, "--force")
			}
			return errors.Join(runRestore(cmd, force), o.onPeers(cmd, "-", func(*peer) []string { return words }))
		},
	}
	o.peerFlags(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "also what was turned before the last boot, or by a netwatch that still runs")
	return cmd
}

func runRestore(cmd *cobra.Command, force bool) error {
	if os.Geteuid() != 0 && os.Getenv("NETWATCH_STATE") == "" {
		args := []string{"restore"}
		if force {
			args = append(args, "--force")
		}
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		return asRoot(exe).runAsRoot(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args...)
	}
	j, err := knobs.OpenJournal(knobs.StateDir(), "", func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "netwatch: %s\n", text) })
	if err != nil {
		return err
	}
	outcomes, err := j.Restore(cmd.Context(), force, knobOf)
	failed := false
	for _, o := range outcomes {
		fmt.Fprintln(cmd.OutOrStdout(), o.Text)
		failed = failed || o.Fate == knobs.Failed
	}
	switch {
	case err != nil:
		return err
	case failed:
		return &exitError{exitUnrestored, errors.New("not everything could be put back")}
	case len(outcomes) == 0:
		fmt.Fprintln(cmd.OutOrStdout(), "nothing to put back")
	}
	return nil
}

// knobOf finds the knob of an entry of the journal. One of the whole host is found
// by any interface.
func knobOf(e knobs.Entry) (sources.Knob, error) {
	if name, ok := strings.CutPrefix(e.Knob, "sysctl:"); ok {
		return knobs.Sysctl(name), nil
	}
	ifaces := []string{e.Interface}
	if e.Subject == "" {
		all, err := net.Interfaces()
		if err != nil {
			return nil, fmt.Errorf("list of interfaces: %w", err)
		}
		for _, i := range all {
			ifaces = append(ifaces, i.Name)
		}
	}
	var failed error
	for _, iface := range ifaces {
		list, err := knobs.For(iface)
		if err != nil {
			failed = err
			continue
		}
		for _, k := range list {
			if s := k.Spec(); s.Name == e.Knob && s.Subject == e.Subject {
				return k, nil
			}
		}
	}
	if failed == nil {
		failed = fmt.Errorf("%s has no knob %s now", e.Interface, e.Knob)
	}
	return nil, failed
}
