package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// options are the flags of the modes that watch: live, demo and replay.
type options struct {
	siftr     []string
	load      string // "-" or a file
	ping      string
	pingLog   string
	record    string
	output    string // tui, text, csv, json, md
	interval  time.Duration
	duration  time.Duration
	settle    time.Duration
	units     string // bit or byte
	ascii     bool
	noColor   bool
	readOnly  bool
	keep      bool
	knob      []string // sysctl:NAME=v1,v2
	peers     []string // HOST or HOST:IFACE
	ssh       string
	peerPath  string
	peerEvery time.Duration
	push      string // noPush, pushThis, or a file
	way       string // of an agent: SSH_CONNECTION, where sudo has taken it away
	config    string // a file for lasting settings
}

var outputs = []string{"tui", "text", "csv", "json", "md"}

func (o *options) shared(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "", "tui, text, csv, json or md (default: tui on a terminal, else text)")
	f.DurationVarP(&o.interval, "interval", "i", time.Second, "time between lines of text, csv and json")
	f.DurationVarP(&o.duration, "duration", "d", 0, "stop after this time (0: never)")
	f.DurationVar(&o.settle, "settle", 2*time.Second, "time that does not count after a turn and at the start of a run")
	f.StringVar(&o.units, "units", "bit", "throughput in bit or byte")
	f.BoolVar(&o.ascii, "ascii", false, "draw with plain ASCII")
	f.BoolVar(&o.noColor, "no-color", false, "no colours (also NO_COLOR=1)")
	f.StringVar(&o.record, "record", "", "write a recording to `FILE`")
	o.configFlag(f)
}

func (o *options) live(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.siftr, "siftr", "f", nil, "follow this siftr or siftr2 log (may be given again)")
	f.StringVar(&o.load, "load", "", "read iperf3 or iperf output from `FILE` (followed), or - for standard input")
	f.StringVar(&o.ping, "ping", "", "ping `HOST` all the while")
	f.StringVar(&o.pingLog, "ping-log", "", "read ping output from `FILE` (followed)")
	f.BoolVar(&o.readOnly, "read-only", false, "turn nothing")
	f.BoolVar(&o.keep, "keep", false, "keep turned knobs at the end instead of putting them back")
	o.knobFlag(f)
	o.peerFlags(f)
	f.DurationVar(&o.peerEvery, "peer-every", peerLeast, "time between samples of peers, up to 10s: 1s costs them less")
}

// Peers are sampled as often as this end, or more seldom to disturb them less.
const (
	peerLeast = 100 * time.Millisecond
	peerMost  = 10 * time.Second
)

// checkPeers refuses what is no time between samples of peers.
func (o *options) checkPeers() error {
	if o.peerEvery < peerLeast || o.peerEvery > peerMost {
		return usageError("--peer-every %v: from %v to %v", o.peerEvery, peerLeast, peerMost)
	}
	return nil
}

// checkPeerNames refuses a peer that is none, whatever else is asked for.
func (o *options) checkPeerNames() error {
	alone := &options{peers: o.peers, ssh: sshCommand, peerPath: peerProgram}
	_, err := alone.parsePeers("em0")
	return err
}

func (o *options) checkSSH() error {
	if len(strings.Fields(o.ssh)) == 0 {
		return usageError("--ssh needs a command")
	}
	return nil
}

func (o *options) checkPeerPath() error {
	if o.peerPath == "" || strings.ContainsFunc(o.peerPath, unsafeInShell) {
		return usageError("--peer-path %q cannot be passed on", o.peerPath)
	}
	return nil
}

func (o *options) checkKnobs() error {
	for _, text := range o.knob {
		if _, _, err := parseKnob(text); err != nil {
			return err
		}
	}
	return nil
}

// How a peer is reached where nothing else is said.
const (
	sshCommand  = "ssh"
	peerProgram = "netwatch"
)

// What --push stands for when it is not given, and when it names no file.
const (
	noPush   = "no"
	pushThis = "this"
)

func (o *options) peerFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.peers, "peer", nil, "watch and turn `HOST[:IFACE]` too, by ssh; [ADDRESS]:IFACE for IPv6 (may be given again)")
	f.StringVar(&o.ssh, "ssh", sshCommand, "the ssh `COMMAND` that reaches peers, with options")
	f.StringVar(&o.peerPath, "peer-path", peerProgram, "`PATH` of netwatch on peers")
	f.StringVar(&o.push, "push", noPush, "copy this program (or --push=`FILE`, for another system) to peers, and remove it at the end")
	f.Lookup("push").NoOptDefVal = pushThis
	o.configFlag(f)
}

func (o *options) knobFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&o.knob, "knob", nil, "make a knob of a sysctl: `[both:]sysctl:NAME=VALUE,VALUE`, of every end with --peer (may be given again)")
}

// check refuses what does not fit and settles the output.
func (o *options) check() error {
	if err := cmp.Or(o.checkInterval(), o.checkTimes(), o.checkUnits()); err != nil {
		return err
	}
	if o.output == "" {
		o.output = "text"
		if isTerminal(os.Stdout) && os.Getenv("TERM") != "dumb" {
			o.output = "tui"
		}
	}
	for _, v := range outputs {
		if o.output == v {
			return o.checkTUI()
		}
	}
	return usageError("--output %s: one of %s", o.output, strings.Join(outputs, ", "))
}

func (o *options) checkInterval() error {
	if o.interval < 100*time.Millisecond {
		return usageError("--interval %v: the least is 100ms", o.interval)
	}
	return nil
}

func (o *options) checkTimes() error {
	if o.duration < 0 || o.settle < 0 {
		return usageError("a time cannot be negative")
	}
	return nil
}

func (o *options) checkUnits() error {
	if o.units != "bit" && o.units != "byte" {
		return usageError("--units %s: bit or byte", o.units)
	}
	return nil
}

func (o *options) checkTUI() error {
	if o.output == "tui" && !isTerminal(os.Stdout) {
		return fmt.Errorf("the screen needs a terminal on standard output (use -o text)")
	}
	if os.Getenv("NO_COLOR") != "" && os.Getenv("CLICOLOR_FORCE") == "" {
		o.noColor = true
	}
	if !utf8Locale() {
		o.ascii = true
	}
	return nil
}

// utf8Locale says whether the terminal takes more than ASCII. No locale at all
// is taken for UTF-8: ssh often forwards none, and terminals today are.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToUpper(v)
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return true
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
