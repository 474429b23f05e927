package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"
)

const long = `netwatch watches one network card, the TCP connections over it, a load generator and
a ping on one time axis, turns the card's knobs by key, and says what changed.

  netwatch em4                                   watch em4
  netwatch em0 em1                               watch what passes between two
  netwatch em4 --ping r1 -- iperf3 -c r1 -t 60   and start a ping and a load
  iperf3 -c r1 --forceflush | netwatch em4 --load -
  netwatch demo                                  a simulated testbed, for a first look`

func newRoot() *cobra.Command {
	var o options
	var template bool
	root := &cobra.Command{
		Use:               "netwatch [flags] IFACE [IFACE] [-- LOAD COMMAND...]",
		Short:             "live monitor for TCP and network card experiments",
		Long:              long,
		Version:           versionLine(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return applySettings(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if template {
				return printConfig(cmd.OutOrStdout())
			}
			dash := cmd.ArgsLenAtDash()
			var command []string
			if dash >= 0 {
				args, command = args[:dash], args[dash:]
			}
			switch {
			case len(args) == 0 && len(command) == 0:
				return listInterfaces(cmd)
			case len(args) == 0:
				return usageError("which interface? netwatch IFACE -- %s", command[0])
			case len(args) > 2:
				return usageError("one interface, or two that packets pass between, not %d; a load command comes after --", len(args))
			case dash >= 0 && len(command) == 0:
				return usageError("no load command after --")
			}
			if err := o.check(); err != nil {
				return err
			}
			if err := o.checkPeers(); err != nil {
				return err
			}
			if len(args) == 2 && o.output != "tui" && o.output != "json" && o.record == "" {
				return usageError("two interfaces are shown on the screen and recorded by -o json and --record only")
			}
			return runLive(cmd, &o, args, command)
		},
	}
	root.SetVersionTemplate("netwatch {{.Version}}\n")
	root.Flags().BoolP("version", "V", false, "print version, commit, system and Go")
	root.SetFlagErrorFunc(usage)
	o.shared(root.Flags())
	o.live(root.Flags())
	root.Flags().BoolVar(&template, "print-config", false, "print a config file to begin with, with every setting and its default")
	root.Flags().SortFlags = false
	root.AddCommand(newDemo(), newReview(), newReplay(), newKnobs(), newSet(), newRestore(), newDoctor(), newAgent())
	return root
}

// listInterfaces is netwatch without arguments: it does not guess.
func listInterfaces(cmd *cobra.Command) error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list of interfaces: %w", err)
	}
	fmt.Fprintln(cmd.OutOrStdout(), "Which interface? netwatch IFACE")
	for _, i := range all {
		state := "down"
		if i.Flags&net.FlagRunning != 0 {
			state = "up"
		}
		addr := ""
		if a, err := i.Addrs(); err == nil && len(a) > 0 {
			addr = a[0].String()
		}
		fmt.Fprintf(cmd.OutOrStdout(), "  %-16s %-5s mtu %-6d %s\n", i.Name, state, i.MTU, addr)
	}
	return nil
}
