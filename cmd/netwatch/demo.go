package main

import (
	"context"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/hub"
	"netwatch/sources/iperf"
	"netwatch/sources/ping"
	"netwatch/sources/siftr"
	"netwatch/sources/testbed"
)

func newDemo() *cobra.Command {
	var o options
	var seed uint64
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "watch a simulated em4 testbed: nothing is measured, everything is labelled SIMULATED",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return runDemo(cmd, &o, seed)
		},
	}
	o.shared(cmd.Flags())
	cmd.Flags().BoolVar(&o.readOnly, "read-only", false, "turn nothing")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "fixes the noise")
	return cmd
}

func runDemo(cmd *cobra.Command, o *options, seed uint64) error {
	h := hub.New()
	watch, unwatch := context.WithCancel(context.WithoutCancel(cmd.Context()))
	bed := testbed.New(seed)
	p := &plan{
		options: o, iface: testbed.Interface, facts: testbed.Facts, driver: "em", simulated: true,
		knobs: bed.Knobs(), load: bed,
		sources: []sources.Source{
			siftr.FromReader("siftr2", bed.Siftr2()), siftr.FromReader("siftr", bed.Siftr()),
			iperf.FromReader("iperf3", bed.Iperf()), ping.FromReader("ping", bed.Ping()), bed,
		},
	}
	return p.run(cmd, h, watch, unwatch)
}
