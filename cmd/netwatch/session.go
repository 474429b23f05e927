package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"netwatch/experiment"
	"netwatch/experiment/recording"
	"netwatch/experiment/report"
	"netwatch/sources"
	"netwatch/sources/ends"
	"netwatch/sources/hub"
	"netwatch/sources/iperf"
	"netwatch/sources/knobs"
	"netwatch/sources/siftr"
	"netwatch/tui"
)

// restoreLimit is how long putting the knobs back may take: a link reset blocks
// for seconds, and there may be several.
const restoreLimit = 30 * time.Second

// A plan is what a session watches.
type plan struct {
	*options
	iface     string
	second    string        // the other interface of a forwarding host, or ""
	facts     string        // about the card, for the header line
	describe  func() string // tells them anew; nil where they never change
	driver    string
	simulated bool
	command   []string
	sources   []sources.Source
	knobs     []sources.Knob
	peers     []*peer
	kept      []tui.Turned        // what a person chose to keep, where not all
	load      starter             // nil when there is no load to start again
	awaited   []awaited           // files that are followed beside siftr's
	result    func() iperf.Result // of a load whose end is the session's where there is no screen, else nil
}

// An awaited is a file that need not be there yet.
type awaited interface {
	Missing() string // its path, when it never was; else ""
}

// A starter is a load that key i starts and Ctrl-C stops.
type starter interface {
	Start() error
	Stop()
	Running() bool
}

// run watches until the person, the load, the clock or a signal ends it, puts the
// knobs back and prints the table.
func (p *plan) run(cmd *cobra.Command, h *hub.Hub, watch context.Context, unwatch func()) error {
	defer unwatch()
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	if p.duration > 0 {
		ctx, stop = context.WithTimeout(ctx, p.duration)
		defer stop()
	}
	show := &showing{options: p.options, header: p.header(), facts: p.facts, describe: p.describe, load: p.load, out: cmd.OutOrStdout()}
	rec, err := show.openRecording()
	if err != nil {
		return err
	}
	both := ends.New(h, show.header.Here)
	turn, err := p.hand(h, both, watch)
	if err != nil {
		return err
	}
	both.Add("", turn)
	for _, peer := range p.peers {
		both.Add(peer.host, peer)
		h.Go(watch, both.Hear(peer))
	}
	if !p.readOnly {
		show.turner, show.restorer, show.check = both, pending{turn, p.peers, both}, p.check
		if p.output == "tui" && !p.simulated {
			show.logger = siftrLogger(turn, p.command)
			h.Go(watch, show.logger)
		}
	}
	for _, src := range p.sources {
		ended := h.Go(watch, src)
		if p.endsWith(src) {
			go func() { <-ended; loadEnded(src, stop) }()
		}
	}
	go h.Run(watch)

	restore := sync.OnceValue(func() error { return p.restoreAll(cmd.ErrOrStderr(), turn) })
	defer restore() // also when the screen panics
	if p.output != "tui" {
		defer context.AfterFunc(ctx, func() { restore(); unwatch() })()
	}
	s := show.session(p.settle, rec)
	err = show.run(ctx, s, h.Batches())
	p.decide(show.result)
	restored := restore()
	unwatch()
	for b := range h.Batches() {
		s.Apply(b)
	}
	s.Finish()
	err = errors.Join(err, show.closeRecording(rec), show.table(s))
	for _, peer := range p.peers {
		err = errors.Join(err, peer.unpush())
	}
	if bySignal(cmd.Context()) { // the terminal may be gone: what could not be shown is no failure
		return restored
	}
	return errors.Join(restored, err, p.verdictOnLoad(), p.verdictOnSources(s), p.verdictOnPeers())
}

// hand is what turns the knobs, and tells them: a board where they are simulated or
// only read, as always where there are no keys, else an agent.
func (p *plan) hand(h *hub.Hub, both *ends.Ends, watch context.Context) (hand, error) {
	if !p.simulated && !p.readOnly && p.output == "tui" {
		return p.newAgentHand(h, both, watch)
	}
	board := knobs.New(both, p.knobs...)
	if !p.simulated {
		board = reader(both, p.iface, p.knobs)
	}
	h.Go(watch, both.Hear(board))
	return board, nil
}

// check is what netwatch set asks before it turns. Of a peer alone its agent says it.
func (p *plan) check(host, knob, value string) error {
	if host != "" && host != sources.Everywhere {
		return nil
	}
	return knobs.New(nil, p.knobs...).Check(knob, value)
}

func bySignal(ctx context.Context) bool {
	var sig signalCause
	return errors.As(context.Cause(ctx), &sig)
}

// endsWith says whether the session is over when src is.
func (p *plan) endsWith(src sources.Source) bool {
	switch src.(type) {
	case *iperf.Load, *iperf.Stream:
		return p.result != nil && p.output != "tui"
	}
	return false
}

// loadEnded ends a session without a screen a little after its load, so that the
// last rows are told.
func loadEnded(src sources.Source, stop func()) {
	time.Sleep(2 * hub.Tick)
	if l, isLoad := src.(*iperf.Load); !isLoad || !l.Running() {
		stop()
	}
}

// verdictOnLoad passes on the status of a load that failed; on the screen the
// person has seen it.
func (p *plan) verdictOnLoad() error {
	if p.result == nil || p.output == "tui" {
		return nil
	}
	r := p.result()
	if !r.Ended || !r.Failed {
		return nil
	}
	return &exitError{max(r.Status.Code, exitFailure), fmt.Errorf("load failed: %s", r.Text)}
}

// verdictOnSources is an error for a source that was asked for and could not start, or
// failed, and for a file that never came.
func (p *plan) verdictOnSources(s *experiment.Session) error {
	asked := map[string]bool{"ping": p.ping != "" || p.pingLog != "", "siftr": len(p.siftr) > 0, "siftr2": len(p.siftr) > 0}
	for _, e := range s.Events() {
		gone := e.Kind == sources.SourceGone || e.Kind == sources.SourceNone
		if gone && e.Error && e.Host == "" && asked[e.Source] {
			return &exitError{exitFailure, fmt.Errorf("%s: %s", e.Source, e.Text)}
		}
	}
	if text := noLog(s.Events()); text != "" && asked["siftr"] {
		return &exitError{exitFailure, errors.New(text)}
	}
	all := p.awaited
	for _, src := range p.sources {
		if log, is := src.(*siftr.Source); is {
			all = append(all, log)
		}
	}
	for _, file := range all {
		if path := file.Missing(); path != "" {
			return &exitError{exitFailure, fmt.Errorf("%s never came, or could not be read: it was waited for all the while", path)}
		}
	}
	return nil
}

// noLog is what was said of a file here that turned out to be no siftr log, "" if none
// did. One that begins with something else and is a log all the same has been said to
// be up, or to be finished.
func noLog(events []sources.Event) string {
	isLog := func(label string) bool {
		return slices.ContainsFunc(events, func(e sources.Event) bool {
			up := e.Kind == sources.SourceUp || strings.Contains(e.Text, "use netwatch review")
			return up && e.Host == "" && strings.HasPrefix(e.Text, label+": ")
		})
	}
	for _, e := range events {
		label, _, no := strings.Cut(e.Text, " is no siftr log")
		if no && e.Kind == sources.SourceNote && e.Error && e.Host == "" && !isLog(label) {
			return e.Text
		}
	}
	return ""
}

// peerOption begins the option of a recording's header that tells the interface of a peer.
const peerOption = "peer "

func (p *plan) header() recording.Header {
	h := hostHeader()
	h.Interface, h.Driver, h.Command = p.iface, p.driver, p.command
	h.Options = map[string]string{"settle": p.settle.String()}
	if p.second != "" {
		h.Options["second"] = p.second
	}
	for _, peer := range p.peers {
		h.Options[peerOption+peer.host] = peer.iface
	}
	h.Here = called(h)
	if p.simulated {
		h.Simulated = "SIMULATED"
	}
	return h
}

// A showing is one session in one of its faces.
type showing struct {
	*options
	header   recording.Header
	facts    string
	describe func() string
	turner   sources.Turner // nil: nothing can be turned
	check    tui.Check      // of values that are typed
	restorer tui.Restorer   // what leaving would put back
	logger   *siftr.Logger  // nil: nothing can be logged
	load     starter
	out      io.Writer
	result   tui.Result // how a person left the screen
}

func (v *showing) session(settle time.Duration, rec sources.Recorder) *experiment.Session {
	peers := map[string]string{}
	for name, iface := range v.header.Options {
		if host, ok := strings.CutPrefix(name, peerOption); ok {
			peers[host] = iface
		}
	}
	return experiment.New(experiment.Options{
		Start: v.header.Start, Interface: v.header.Interface, Second: v.header.Options["second"], PeerInterfaces: peers,
		Settle: settle, Simulated: v.header.Simulated != "", Recorder: rec,
	})
}

// run shows the session until its Batches end or, on the screen, the person quits.
func (v *showing) run(ctx context.Context, s *experiment.Session, batches <-chan sources.Batch) error {
	switch v.output {
	case "tui":
		return v.screen(ctx, s, batches)
	case "json":
		return jsonFace(v.out, v.header, v.interval)(ctx, s, batches)
	case "csv":
		return linesFace(v.inUnits(report.NewCSV(v.out, v.interval, v.header.Here)))(ctx, s, batches)
	case "md":
		return quietFace(ctx, s, batches)
	}
	return linesFace(v.inUnits(report.NewText(v.out, v.interval, v.header.Here)))(ctx, s, batches)
}

// inUnits has lines tell throughput as the screen does.
func (v *showing) inUnits(l *report.Lines) *report.Lines {
	if v.units == "byte" {
		l.InBytes()
	}
	return l
}

// table prints the table of settings where people or wikis want it.
func (v *showing) table(s *experiment.Session) error {
	counted := slices.ContainsFunc(s.Table("").Rows, func(r experiment.Row) bool { return r.Seconds > 0 })
	if v.output == "md" || v.output == "tui" && counted {
		return report.Markdown(v.out, s, v.header.Here)
	}
	return nil
}
