package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A setting is a flag that means something for longer than one session: it may stand in
// the config file and in the environment. What a session is about, as its load, its
// length and its output, does not.
type setting struct {
	name    string
	example string               // in TOML, where the default does not show what to write
	check   func(*options) error // of its values alone; nil: all of its type will do
}

var settings = []setting{
	{"interval", "", (*options).checkInterval},
	{"settle", "", (*options).checkTimes},
	{"units", "", (*options).checkUnits},
	{"ascii", "", nil},
	{"no-color", "", nil},
	{"siftr", `["/var/log/siftr2.log"]`, nil},
	{"ping", `"r1"`, nil},
	{"read-only", "", nil},
	{"keep", "", nil},
	{"knob", `["sysctl:net.inet.tcp.cc.algorithm=cubic,newreno"]`, (*options).checkKnobs},
	{"peer", `["r1:em4"]`, (*options).checkPeerNames},
	{"ssh", `"ssh -p 2222"`, (*options).checkSSH},
	{"peer-path", "", (*options).checkPeerPath},
	{"peer-every", "", (*options).checkPeers},
}

func settingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// variable is the name that a setting has in the environment.
func (s setting) variable() string {
	return "NETWATCH_" + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// betweenWords parts the members of a list in the environment: values of knobs have
// commas and blanks.
const betweenWords = ";"

// A given is what the config file or the environment has for a setting.
type given struct {
	setting
	words []string // each as the flag would be given it
	where string
}

// allFlags are the flags of every setting, on options of their own.
func allFlags() (*pflag.FlagSet, *options) {
	o, f := &options{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	o.shared(f)
	o.live(f)
	return f, o
}

// configFlag is of every command that reads the config file. An agent does not: whoever
// starts it tells it everything.
func (o *options) configFlag(f *pflag.FlagSet) {
	if f.Lookup("config") == nil {
		f.StringVar(&o.config, "config", "", "lasting settings: `FILE` instead of "+configPlace+"; '' for none, not from NETWATCH_ variables either")
	}
}

// noConfig is for a netwatch that this one starts to do a part: the settings of whoever
// it runs as, peers among them, are not meant.
const noConfig = "--config="

// applySettings gives the flags that the command line does not name what the
// environment has for them, or else the config file. A value that is wrong is an error
// also where this command has no such flag, or was told another value.
func applySettings(cmd *cobra.Command) error {
	named := cmd.Flags().Lookup("config")
	if named == nil || named.Changed && named.Value.String() == "" || cmd.Flags().Changed("print-config") {
		return nil
	}
	all, err := readConfig(named.Value.String())
	if err != nil {
		return err
	}
	for _, g := range append(all, fromEnvironment(os.Getenv)...) {
		if err := g.verify(); err != nil {
			return err
		}
		if f := cmd.Flags().Lookup(g.name); f != nil && !f.Changed {
			if err := g.set(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// fromEnvironment takes a variable that is empty for one that is not there.
func fromEnvironment(getenv func(string) string) []given {
	flags, _ := allFlags()
	var all []given
	for _, s := range settings {
		value := getenv(s.variable())
		if value == "" {
			continue
		}
		words := []string{value}
		if isList(flags.Lookup(s.name)) {
			words = strings.Split(value, betweenWords)
		}
		all = append(all, given{s, words, "$" + s.variable()})
	}
	return all
}

// verify says where a value stands that the flag would refuse.
func (g given) verify() error {
	flags, o := allFlags()
	f := flags.Lookup(g.name)
	for _, w := range g.words {
		if strings.ContainsFunc(w, unicode.IsControl) {
			return usageError("%s: %q has control characters", g.where, w)
		}
	}
	if err := g.set(f); err != nil {
		return usageError("%s: %q: it takes %s", g.where, g.words[0], wanted(f, g.setting))
	}
	if g.check == nil {
		return nil
	}
	if err := g.check(o); err != nil {
		return usageError("%s: %s", g.where, strings.TrimPrefix(err.Error(), "--"+g.name+" "))
	}
	return nil
}

// set puts the words in the place of what the flag has, and leaves it unchanged in
// pflag's sense: the command line did not name it.
func (g given) set(f *pflag.Flag) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(g.words)
	}
	return f.Value.Set(g.words[0])
}

func isList(f *pflag.Flag) bool {
	_, ok := f.Value.(pflag.SliceValue)
	return ok
}

// wanted is what a setting takes, in words.
func wanted(f *pflag.Flag, s setting) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a time, as in " + strconv.Quote(f.DefValue)
	case "string":
		return "text in quotes"
	}
	return "a list of texts, as in " + s.example
}

const configHead = `# netwatch takes these settings from
#   %s
# Every key is the long name of a flag and has that flag's default here. The variable
# NETWATCH_PEER_EVERY goes before the key peer-every, and a flag before both; the members
# of a list in a variable are parted by %s
`

// printConfig writes a config file that changes nothing, from the flags' own words.
func printConfig(out io.Writer) error {
	flags, _ := allFlags()
	var b strings.Builder
	fmt.Fprintf(&b, configHead, configPlace, betweenWords)
	for _, s := range settings {
		f := flags.Lookup(s.name)
		_, words := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "\n# %s\n#%s = %s", strings.TrimSuffix(words, " (may be given again)"), s.name, inTOML(f))
		if s.example != "" {
			fmt.Fprintf(&b, "  # as in %s", s.example)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// inTOML is the default of a flag.
func inTOML(f *pflag.Flag) string {
	if isList(f) || f.Value.Type() == "bool" {
		return f.DefValue
	}
	return strconv.Quote(f.DefValue)
}

// settingNamed finds a key of the config file, or says what is near it.
func settingNamed(key string) (setting, error) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == key })
	if i >= 0 {
		return settings[i], nil
	}
	if flags, _ := allFlags(); flags.Lookup(key) != nil {
		return setting{}, fmt.Errorf("%q is no lasting setting: give --%s on the command line", key, key)
	}
	hint := ""
	if n := nearest(key, settingNames()); n != "" {
		hint = fmt.Sprintf("did you mean %s? ", n)
	}
	return setting{}, fmt.Errorf("no setting %q; %sthere are: %s", key, hint, strings.Join(settingNames(), " "))
}
