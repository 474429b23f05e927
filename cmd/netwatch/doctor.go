package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/cpu"
	"netwatch/sources/hub"
	"netwatch/sources/irq"
	"netwatch/sources/knobs"
	"netwatch/sources/nic"
	"netwatch/sources/proc"
	"netwatch/sources/tcp"
)

// lookTime is how long doctor listens to a source: the slowest speaks each second,
// and needs two readings.
const lookTime = 2500 * time.Millisecond

// A finding is one line of doctor: what works, or what is missing and what mends it.
type finding struct{ what, state, words, mend string }

// The states of a finding.
const (
	isOK         = "ok"
	needsRoot    = knobs.NeedsRoot
	notHere      = "not on this driver"
	notLoaded    = "module not loaded"
	notInstalled = "not installed"
	fails        = "fails"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [IFACE]",
		Short: "say which sources and knobs work here, and what each missing one needs",
		Args:  asUsage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := examine(cmd.Context(), args)
			if err != nil {
				return err
			}
			return writeFindings(cmd.OutOrStdout(), all)
		},
	}
}

// examine looks at this host, and at the interface if there is one in args.
func examine(ctx context.Context, args []string) ([]finding, error) {
	var o options
	list := []sources.Source{cpu.New(hub.Tick)}
	var turned []sources.Knob
	for _, iface := range args {
		if err := checkInterface(iface); err != nil {
			return nil, err
		}
		found, err := o.knobs(iface)
		if err != nil {
			return nil, err
		}
		turned = found
		list = append(list, nic.New(iface, hub.Tick), irq.New(iface, hub.Tick), tcp.New(iface, hub.Tick, true))
	}
	r, err := newRights(append(turned, knobs.Sysctl("any")))
	if err != nil {
		return nil, err
	}
	all := append(lookAtSources(ctx, list), o.lookAtLogs()...)
	turning := lookAtRights(ctx, r)
	all = append(append(append(all, lookAtTools()...), turning), lookAtJournal())
	for _, k := range turned {
		all = append(all, lookAtKnob(ctx, k, turning.state == isOK))
	}
	return all, nil
}

func writeFindings(out io.Writer, all []finding) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range all {
		words := f.words
		if f.mend != "" {
			words += ": " + f.mend
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.what, f.state, strings.TrimPrefix(words, ": "))
	}
	return w.Flush()
}

// lookAtSources runs what measures this host for a moment.
func lookAtSources(ctx context.Context, list []sources.Source) []finding {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found := make([]finding, len(list))
	var looking sync.WaitGroup
	for i, src := range list {
		looking.Go(func() { found[i] = lookAtSource(ctx, src) })
	}
	looking.Wait()
	return found
}

func lookAtSource(ctx context.Context, src sources.Source) finding {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := &listener{enough: cancel}
	err := src.Run(ctx, heard)
	f := finding{what: src.Name(), state: isOK, words: heard.words()}
	if err != nil {
		f.words = err.Error()
		f.state = fails
		switch {
		case errors.Is(err, os.ErrPermission):
			f.state, f.mend = needsRoot, "sudo netwatch doctor"
		case errors.Is(err, errors.ErrUnsupported):
			f.state = notHere
		case errors.Is(err, os.ErrNotExist):
			f.state, f.words = notHere, knobError(err)
		}
	}
	return f
}

// A listener hears a source until it has measured something.
type listener struct {
	mu      sync.Mutex
	samples int
	note    string
	enough  func()
}

func (l *listener) Sample(sources.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples++
	l.enough()
}

func (l *listener) Event(e sources.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == sources.SourceNote {
		l.note = e.Text
	}
}

func (l *listener) words() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.samples == 0 && l.note == "" {
		return "nothing to measure just now"
	}
	return l.note
}

// lookAtTools asks for the programs that netwatch starts.
func lookAtTools() []finding {
	var all []finding
	for _, t := range []struct{ name, flag, without string }{
		{"ping", "-V", "no --ping"}, {"iperf3", "--version", "no iperf3 load"}, {"iperf", "--version", "no iperf2 load"},
	} {
		f := finding{what: t.name, state: isOK}
		if _, err := proc.Ask(askLimit, t.name, t.flag); err != nil {
			f = finding{what: t.name, state: notInstalled, words: t.without, mend: install(t.name)}
		}
		all = append(all, f)
	}
	return all
}

// lookAtRights says how knobs are turned here.
func lookAtRights(ctx context.Context, r *rights) finding {
	f := finding{what: "turning", state: isOK, words: "this process has the rights"}
	switch prefix, err := r.prefix(ctx); {
	case err != nil:
		f.state, f.words, f.mend = needsRoot, err.Error(), "run netwatch as root, or sudo -v before it"
	case len(prefix) > 0:
		f.words = "by " + strings.Join(prefix, " ")
	}
	return f
}

func lookAtJournal() finding {
	f := finding{what: "journal", state: isOK, words: knobs.StateDir()}
	j, err := knobs.OpenJournal(knobs.StateDir(), "", nil)
	var entries []knobs.Entry
	if err == nil {
		entries, err = j.Entries()
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		f.state, f.words, f.mend = needsRoot, "what stands in it is not known", "sudo netwatch doctor"
	case err != nil:
		f.state, f.words = fails, err.Error()
	default:
		for _, words := range standings(entries, j.Standing) {
			f.words += "; " + words
		}
	}
	return f
}

// standings say what stands in the journal and what mends it, each kind once.
func standings(entries []knobs.Entry, of func(knobs.Entry) knobs.Standing) []string {
	var all []string
	for _, k := range []struct {
		standing    knobs.Standing
		words, mend string
	}{
		{knobs.Restorable, "not as netwatch found it", "netwatch restore"},
		{knobs.BeforeBoot, "turned before this boot", "netwatch restore --force"},
		{knobs.Running, "turned by a netwatch that runs", "it puts that back"},
		{knobs.Elsewhere, "turned in another network namespace or jail", "netwatch restore there"},
	} {
		var names []string
		for _, e := range entries {
			if e.Turned() && of(e) == k.standing {
				names = append(names, e.Knob)
			}
		}
		if len(names) > 0 {
			all = append(all, k.words+": "+strings.Join(names, ", ")+": "+k.mend)
		}
	}
	return all
}

func lookAtKnob(ctx context.Context, k sources.Knob, mayTurn bool) finding {
	spec := k.Spec()
	value, err := k.Get(ctx)
	f := finding{what: "knob " + spec.Name, state: isOK, words: value}
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.state, f.words = notHere, "this kernel has no such variable"
		switch module, _, leaf := strings.Cut(spec.Name, "."); {
		case module != "siftr" && module != "siftr2":
		case leaf: // an older module has fewer switches
			f.words = knobError(err)
		default:
			f.state, f.words, f.mend = notLoaded, "", "sudo kldload "+module
		}
	case spec.Locked == knobs.NeedsRoot && !mayTurn:
		f.state, f.mend = needsRoot, strings.ReplaceAll(spec.Command, "%s", "VALUE")
	case spec.Locked != "" && spec.Locked != knobs.NeedsRoot:
		f.state, f.words = notHere, spec.Locked
	case err != nil:
		f.state, f.words = fails, err.Error()
	}
	return f
}

// lookAtLogs says whether the siftr logs can be read.
func (o *options) lookAtLogs() []finding {
	var all []finding
	for _, path := range o.siftrLogs() {
		f := finding{what: "siftr log", state: isOK, words: path}
		file, err := os.Open(path)
		switch {
		case errors.Is(err, os.ErrPermission):
			f.state, f.mend = needsRoot, "sudo chmod a+r "+path
		case errors.Is(err, os.ErrNotExist):
			f.words += " is not written yet; key S, or the knob, switches logging on"
		case err != nil:
			f.state, f.words = fails, err.Error()
		default:
			file.Close()
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		all = append(all, noSiftr)
	}
	return all
}
