package main

import (
	"errors"
	"fmt"
	"io"
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
			if _, err := o.parsePeers("-"); err != nil {
				return err
			}
			words := []string{"restore", noConfig}
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
	args := []string{"restore"}
	if force {
		args = append(args, "--force")
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	state := os.Getenv("NETWATCH_STATE")
	if os.Geteuid() != 0 && state == "" {
		return asRoot(exe).runAsRoot(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), append(args, noConfig)...)
	}
	j, err := knobs.OpenJournal(knobs.StateDir(), "", func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "netwatch: %s\n", text) })
	if err != nil {
		return err
	}
	outcomes, err := j.Restore(cmd.Context(), force, knobOf)
	err = withRootsCommand(err, os.Geteuid(), state, exe, args)
	if err != nil && len(outcomes) == 0 {
		return err
	}
	return errors.Join(tellOutcomes(cmd.OutOrStdout(), outcomes), err)
}

// withRootsCommand adds what a person types where a journal of $NETWATCH_STATE is not
// this user's.
func withRootsCommand(err error, uid int, state, exe string, args []string) error {
	if uid == 0 || !errors.Is(err, os.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w; type: sudo env NETWATCH_STATE=%s %s %s", err, state, exe, strings.Join(args, " "))
}

// tellOutcomes says what became of each knob. One that is left, because another netwatch
// puts it back or a person must decide, is no failure.
func tellOutcomes(out io.Writer, all []knobs.Outcome) error {
	fates := map[knobs.Fate]int{}
	for _, o := range all {
		fmt.Fprintln(out, o.Text)
		fates[o.Fate]++
	}
	switch {
	case fates[knobs.Failed] > 0:
		return &exitError{exitUnrestored, errors.New("not everything could be put back")}
	case fates[knobs.PutBack] == 0 && fates[knobs.Left] > 0:
		fmt.Fprintln(out, "nothing was put back")
	case len(all) == 0:
		fmt.Fprintln(out, "nothing to put back")
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
