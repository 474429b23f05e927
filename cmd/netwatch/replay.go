package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"netwatch/sources/replay"
)

func newReplay() *cobra.Command {
	var o options
	var speed float64
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "play a recording back",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if speed < 0 {
				return usageError("--speed cannot be negative")
			}
			return runReplay(cmd, &o, args[0], speed)
		},
	}
	o.shared(cmd.Flags())
	cmd.Flags().Float64Var(&speed, "speed", 1, "pace: 1 as recorded, 10 ten times faster, 0 at once")
	return cmd
}

func runReplay(cmd *cobra.Command, o *options, file string, speed float64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	player, err := replay.Open(f, file, speed)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	header := player.Header()
	header.Here = cmp.Or(header.Here, called(header)) // an older recording does not say it
	show := &showing{options: o, header: header, facts: "replay of " + file, out: cmd.OutOrStdout()}
	rec, err := show.openRecording()
	if err != nil {
		return err
	}
	s := show.session(o.settle, rec)
	played := make(chan error, 1)
	go func() { played <- player.Play(ctx) }()
	err = show.run(ctx, s, player.Batches())
	stop()
	if perr := <-played; err == nil && !errors.Is(perr, context.Canceled) {
		err = perr
	}
	s.Finish()
	if bad, n := player.Damage(); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "netwatch: %d damaged lines left out, the first: %v\n", n, bad[0])
	}
	if err != nil {
		return err
	}
	if err := show.closeRecording(rec); err != nil {
		return err
	}
	return show.table(s)
}
