package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/agent"
	"netwatch/sources/cpu"
	"netwatch/sources/hub"
	"netwatch/sources/irq"
	"netwatch/sources/knobs"
	"netwatch/sources/nic"
	"netwatch/sources/tcp"
)

const agentLong = `agent is the part of netwatch that turns knobs. netwatch starts it itself, with root's
rights, at the first turn, and talks to it over standard input and output: one JSON line
a request, recording lines as answers.

It writes each turn into the journal before it makes it, reads it back, and puts back
what it turned when its input ends, unless it was told to keep it. It is deaf to
SIGHUP and SIGINT; SIGTERM makes it put back and end. Over ssh it does so, too, when the
other end has not said a word for 10 s: the link is lost, or netwatch there was stopped.`

func newAgent() *cobra.Command {
	var o options
	var check bool
	cmd := &cobra.Command{
		Use:    "agent IFACE",
		Short:  "turn knobs for another netwatch (internal)",
		Long:   agentLong,
		Hidden: true,
		Args:   asUsage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case check:
				_, err := fmt.Fprintln(cmd.OutOrStdout(), checkWords)
				return err
			case len(args) == 0:
				return usageError("which interface? netwatch agent IFACE")
			}
			return runAgent(cmd, &o, args[0])
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only say that it can be started")
	cmd.Flags().StringVar(&o.way, "ssh-connection", "", "SSH_CONNECTION, which sudo and doas take away")
	o.knobFlag(cmd.Flags())
	return cmd
}

// checkWords are what agent --check says: whoever asks knows that it was this program
// that ran.
const checkWords = "netwatch agent " + version

// batchEvery is the least time between Batches of samples: the screen draws four
// frames a second, and each Batch is a packet on the wire.
const batchEvery = 200 * time.Millisecond

func runAgent(cmd *cobra.Command, o *options, iface string) error {
	// A terminal that goes away, or a pipe that nobody reads any more, must not end
	// what has knobs to put back.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	if err := checkInterface(iface); err != nil {
		return err
	}
	list, err := o.knobs(iface)
	if err != nil {
		return err
	}
	h := hostHeader()
	h.Interface, h.Options = iface, map[string]string{sshOption: o.sshConnection()}
	if f, err := nic.Describe(iface); err == nil {
		h.Driver = f.Driver
	}
	err = agent.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), agent.Config{
		Header: h, Knobs: list, State: knobs.StateDir(),
		Watch: func(every time.Duration) (agent.Hub, []sources.Source) {
			return hub.Every(max(every, batchEvery)), o.hostSources(iface, every)
		},
	})
	if errors.As(err, new(*agent.SilenceError)) { // all is put back
		return err
	}
	if err != nil {
		return &exitError{exitUnrestored, err}
	}
	return nil
}

// knobs are those of an interface and those named by --knob.
func (o *options) knobs(iface string) ([]sources.Knob, error) {
	list, err := knobs.For(iface)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("knobs of %s: %w", iface, err)
	}
	for _, text := range o.knob {
		name, values, err := parseKnob(text)
		if err != nil {
			return nil, err
		}
		list = append(list, knobs.Sysctl(name, values...))
	}
	return list, nil
}

// parseKnob reads sysctl:NAME=v1,v2 or sysctl:NAME. With peers it is a knob of all ends,
// which both: says in words.
func parseKnob(text string) (name string, values []string, err error) {
	name, ok := strings.CutPrefix(strings.TrimPrefix(text, "both:"), "sysctl:")
	name, list, _ := strings.Cut(name, "=")
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' }) {
		return "", nil, usageError("--knob %q: sysctl:NAME=VALUE,VALUE", text)
	}
	for v := range strings.SplitSeq(list, ",") {
		if v != "" {
			values = append(values, v)
		}
	}
	return name, values, nil
}

// hostSources are what is measured of a host besides loads and pings, each so often.
func (o *options) hostSources(iface string, every time.Duration) []sources.Source {
	connections := tcp.New(iface, every, true)
	if w, ok := tcp.ParseWay(o.sshConnection()); ok {
		connections.LeaveOut("", w)
	}
	list := []sources.Source{nic.New(iface, every), irq.New(iface, every), cpu.New(every), connections}
	return append(list, o.siftrSources()...)
}

// sshOption is the option of an agent's header that tells by which connection of ssh it
// is reached.
const sshOption = "ssh"

// sshConnection is the connection of ssh that this netwatch hangs on, "" for none.
func (o *options) sshConnection() string { return cmp.Or(o.way, os.Getenv("SSH_CONNECTION")) }

// agentCommand is how an agent is started here. prefix makes it root.
func (o *options) agentCommand(prefix []string, exe, iface string) []string {
	argv := append(append([]string(nil), prefix...), exe, "agent")
	for _, k := range o.knob {
		argv = append(argv, "--knob", k)
	}
	return append(argv, "--", iface)
}

// newClient is for an agent of this host.
func (o *options) newClient(ctx context.Context, iface string, r *rights) (*agent.Client, error) {
	prefix, err := r.prefix(ctx)
	if err != nil {
		return nil, err
	}
	return agent.NewClient(agent.ClientConfig{Argv: o.agentCommand(prefix, r.exe, iface), Version: version}), nil
}
