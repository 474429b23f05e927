package main

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// No test reads the config of whoever runs it, nor a program that it starts.
func init() {
	os.Setenv("XDG_CONFIG_HOME", os.DevNull)
	for _, s := range settings {
		os.Unsetenv(s.variable())
	}
}

// configured makes a config file of a person.
func configured(t *testing.T, text string) (path string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path = filepath.Join(dir, "netwatch", "config.toml")
	must(t, os.Mkdir(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A flag goes before a variable, that before the file, and a list takes the place of
// another.
func TestWhichSettingHolds(t *testing.T) {
	path := configured(t, "# mine\ninterval = \"3s\"\nunits = \"byte\"\nascii = true\nkeep = true\n"+
		"knob = [\n  \"sysctl:a.b=1 2 3,4 5 6\",\n  \"sysctl:c\",\n]\npeer = [\"r1:em4\"]\n")
	other := filepath.Join(t.TempDir(), "other.toml")
	must(t, os.WriteFile(other, []byte(`interval = "7s"`), 0o644))
	t.Setenv("NETWATCH_UNITS", "bit")
	t.Setenv("NETWATCH_KEEP", "")
	t.Setenv("NETWATCH_E2E", "whatever is no setting")
	for _, c := range []struct {
		name, peers string // the variable NETWATCH_PEER
		args        []string
		want        options
	}{
		{"the file and the environment", "", nil, options{interval: 3 * time.Second, units: "bit", ascii: true, keep: true, peers: []string{"r1:em4"}, knob: []string{"sysctl:a.b=1 2 3,4 5 6", "sysctl:c"}}},
		{"a list in the environment", "r2;r3:em0", nil, options{interval: 3 * time.Second, units: "bit", ascii: true, keep: true, peers: []string{"r2", "r3:em0"}, knob: []string{"sysctl:a.b=1 2 3,4 5 6", "sysctl:c"}}},
		{"the command line", "r2", []string{"-i", "5s", "--units", "byte", "--ascii=false", "--peer", "r4", "--peer", "r5", "--knob", "sysctl:d"},
			options{interval: 5 * time.Second, units: "byte", keep: true, peers: []string{"r4", "r5"}, knob: []string{"sysctl:d"}}},
		{"another file", "", []string{"--config", other}, options{interval: 7 * time.Second, units: "bit"}},
		{"this file by name", "", []string{"--config", path, "-i", "1s"}, options{interval: time.Second, units: "bit", ascii: true, keep: true, peers: []string{"r1:em4"}, knob: []string{"sysctl:a.b=1 2 3,4 5 6", "sysctl:c"}}},
		{"none", "r2", []string{"--config", ""}, options{interval: time.Second, units: "bit"}},
		{"none, in short", "r2", []string{noConfig}, options{interval: time.Second, units: "bit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NETWATCH_PEER", c.peers)
			got := optionsOf(t, c.args...)
			if got.interval != c.want.interval || got.units != c.want.units || got.ascii != c.want.ascii || got.keep != c.want.keep ||
				!slices.Equal(got.peers, c.want.peers) || !slices.Equal(got.knob, c.want.knob) {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}

// optionsOf are the options of netwatch with some arguments.
func optionsOf(t *testing.T, args ...string) *options {
	t.Helper()
	root := newRoot()
	o := &options{}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.shared(f)
	o.live(f)
	must(t, f.Parse(args))
	root.ResetFlags()
	root.Flags().AddFlagSet(f)
	must(t, applySettings(root))
	return o
}

// What the file says reaches the command, and what it says of others is no hindrance.
func TestSettingsOfTheDemo(t *testing.T) {
	configured(t, "units = \"byte\"\ninterval = \"200ms\"\nsiftr = [\"/nowhere\"]\n")
	status, stdout, stderr := cli("demo", "-o", "text", "-d", "1s")
	if status != exitOK || !strings.Contains(stdout, "MB/s") || strings.Count(stdout, "aim=1") < 3 {
		t.Errorf("status %d, %q:\n%s", status, stderr, stdout)
	}
}

// What is wrong is told with its place, and is wrong usage, for every command that takes
// settings, also one that has no such flag.
func TestWrongSettings(t *testing.T) {
	for _, c := range []struct{ name, text, line, want string }{
		{"unknown, and near", "# c\n\nperr = [\"r1\"]\n", "3: ", `no setting "perr"; did you mean peer? there are: interval `},
		{"unknown", "x = 1\n", "1: ", `no setting "x"; there are: interval `},
		{"a flag that does not last", "units = \"bit\"\nduration = \"1s\"\n", "2: ", `"duration" is no lasting setting: give --duration on the command line`},
		{"a table", "[peer]\nhost = \"r1\"\n", "1: ", `peer: it takes a list of texts, as in ["r1:em4"]`},
		{"a dotted key", "peer.every = \"1s\"\n", "1: ", `no setting "peer.every"; did you mean peer-every?`},
		{"a number for a time", "\ninterval = 1\n", "2: ", `interval: it takes a time, as in "1s"`},
		{"no time", "interval = \"soon\"\n", "1: ", `interval: "soon": it takes a time, as in "1s"`},
		{"a text for a switch", "ascii = \"yes\"\n", "1: ", `ascii: it takes true or false`},
		{"a text for a list", "peer = \"r1\"\n", "1: ", `peer: it takes a list of texts, as in ["r1:em4"]`},
		{"a number in a list", "knob = [1]\n", "1: ", `knob: it takes a list of texts`},
		{"a list for a text", "units = [\"bit\"]\n", "1: ", `units: it takes text in quotes`},
		{"too short", "interval = \"1ms\"\n", "1: ", "interval: 1ms: the least is 100ms"},
		{"negative", "settle = \"-1s\"\n", "1: ", "settle: a time cannot be negative"},
		{"units", "units = \"furlong\"\n", "1: ", "units: furlong: bit or byte"},
		{"a knob that is none", "knob = [\"sysctl:a\", \"aim=1\"]\n", "1: ", `knob: "aim=1": sysctl:NAME=VALUE,VALUE`},
		{"a peer that no shell should see", "peer = [\"r1;reboot\"]\n", "1: ", `peer: "r1;reboot": HOST or HOST:IFACE`},
		{"ssh", "ssh = \" \"\n", "1: ", "ssh: needs a command"},
		{"a path that no shell should see", "peer-path = \"$HOME/netwatch\"\n", "1: ", `peer-path: "$HOME/netwatch" cannot be passed on`},
		{"peers too seldom", "peer-every = \"1h\"\n", "1: ", "peer-every: 1h0m0s: from 100ms to 10s"},
		{"escapes", "ping = \"\\u001b[2J\"\n", "1: ", `ping: "\x1b[2J" has control characters`},
		{"no TOML", "units = \"bit\"\nkeep = \n", "2: ", "unexpected character"},
		{"twice", "keep = true\nkeep = false\n", "2: ", `"keep": key keep is already defined`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := configured(t, c.text)
			for _, args := range [][]string{{}, {"demo", "-o", "text"}, {"knobs", "lo"}, {"set", "lo", "tso=on"}, {"restore"}} {
				status, _, stderr := cli(args...)
				if status != exitUsage || !strings.HasPrefix(stderr, "netwatch: "+path+":"+c.line+c.want) {
					t.Errorf("%v: status %d, %q\nwant %q", args, status, stderr, path+":"+c.line+c.want)
				}
			}
		})
	}
	for variable, want := range map[string]string{
		"NETWATCH_INTERVAL": `"x;y": it takes a time, as in "1s"`, "NETWATCH_READ_ONLY": `"x;y": it takes true or false`,
		"NETWATCH_UNITS": "x;y: bit or byte", "NETWATCH_KNOB": `"x": sysctl:NAME`,
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "x;y")
			if status, _, stderr := cli(); status != exitUsage || !strings.HasPrefix(stderr, "netwatch: $"+variable+": "+want) {
				t.Errorf("status %d, %q", status, stderr)
			}
		})
	}
}

// What has nothing to do with settings does not read them: an agent is told everything
// by who starts it.
func TestWhoReadsNoConfig(t *testing.T) {
	configured(t, "broken")
	for _, args := range [][]string{{"agent", "--check"}, {"--help"}, {"--version"}, {"--print-config"}, {"demo", "-o", "text", "-d", "100ms", "--config", ""}} {
		if status, _, stderr := cli(args...); status != exitOK || stderr != "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}

func TestConfigThatCannotBeRead(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if status, _, stderr := cli(); status != exitOK || stderr != "" {
		t.Errorf("none at all: status %d, %q", status, stderr)
	}
	path := configured(t, "")
	dir := filepath.Dir(path)
	if status, _, stderr := cli("--config", path+"x"); status != exitFailure || !strings.Contains(stderr, path+"x: no such file") || !strings.Contains(stderr, "--config '' does without") {
		t.Errorf("one that is not there: status %d, %q", status, stderr)
	}
	if status, _, stderr := cli("--config", dir); status != exitFailure || !strings.Contains(stderr, dir+": is a directory") {
		t.Errorf("a directory: status %d, %q", status, stderr)
	}
	must(t, os.WriteFile(path, []byte(strings.Repeat("#\n", configMost)), 0o644))
	if status, _, stderr := cli(); status != exitFailure || !strings.Contains(stderr, "longer than") {
		t.Errorf("a long one: status %d, %q", status, stderr)
	}
	must(t, os.WriteFile(path, nil, 0o644))
	must(t, os.Chmod(path, 0o666))
	if status, _, stderr := cli(); os.Geteuid() == 0 && (status != exitFailure || !strings.Contains(stderr, path+": anybody may write it")) {
		t.Errorf("one that is not root's alone: status %d, %q", status, stderr)
	}
	if status, _, stderr := cli("--config", path); status != exitOK {
		t.Errorf("the same by name: status %d, %q", status, stderr)
	}
	must(t, os.Remove(path))
	must(t, syscall.Mkfifo(path, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		cli()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("it waits for somebody to write into a pipe")
	}
}

// The template holds every setting at its default, and loads; so do the examples in it.
func TestPrintConfig(t *testing.T) {
	status, template, stderr := cli("--print-config")
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	if all, err := parseConfig("template", []byte(template)); err != nil || len(all) > 0 {
		t.Errorf("as it is printed it sets %v, %v", all, err)
	}
	setting := regexp.MustCompile(`(?m)^#([a-z-]+ = )`)
	live := setting.ReplaceAllString(template, "$1")
	all, err := parseConfig("template", []byte(live))
	must(t, err)
	flags, _ := allFlags()
	var keys []string
	for _, g := range all {
		must(t, g.verify())
		f := flags.Lookup(g.name)
		must(t, g.set(f))
		if f.Value.String() != f.DefValue {
			t.Errorf("%s = %s is not its default %s", g.name, f.Value, f.DefValue)
		}
		if _, words := pflag.UnquoteUsage(f); !strings.Contains(template, "# "+strings.TrimSuffix(words, " (may be given again)")+"\n#"+g.name+" = ") {
			t.Errorf("%s is not told as --help tells it", g.name)
		}
		keys = append(keys, g.name)
	}
	if !slices.Equal(keys, settingNames()) || len(keys) < 10 {
		t.Errorf("it has %v", keys)
	}
	example := regexp.MustCompile(`(?m)^#([a-z-]+ = ).*# as in (.*)$`)
	all, err = parseConfig("examples", []byte(example.ReplaceAllString(template, "$1$2")))
	must(t, err)
	if len(all) < 4 {
		t.Errorf("only %d examples", len(all))
	}
	for _, g := range all {
		must(t, g.verify())
	}
}

// Every setting is a flag of netwatch, and its variable is nobody else's.
func TestSettingsAreFlags(t *testing.T) {
	flags, root := (*pflag.FlagSet)(nil), newRoot()
	flags = root.Flags()
	taken := []string{"NETWATCH_STATE", "NETWATCH_E2E"}
	for _, s := range settings {
		f := flags.Lookup(s.name)
		if f == nil {
			t.Fatalf("no flag --%s", s.name)
		}
		if isList(f) && s.example == "" {
			t.Errorf("%s: a list wants an example", s.name)
		}
		if slices.Contains(taken, s.variable()) || strings.HasPrefix(s.variable(), "NETWATCH_TEST_") {
			t.Errorf("$%s is something else", s.variable())
		}
	}
}

func TestConfigPath(t *testing.T) {
	environment := func(pairs ...string) func(string) string {
		return func(name string) string {
			for _, p := range pairs {
				if k, v, _ := strings.Cut(p, "="); k == name {
					return v
				}
			}
			return ""
		}
	}
	daemon, err := user.Lookup("daemon")
	if err != nil {
		t.Skip("this system has no user to be: ", err)
	}
	theirs := daemon.HomeDir + "/.config/netwatch/config.toml"
	for _, c := range []struct {
		name   string
		getenv func(string) string
		euid   int
		want   string
	}{
		{"a person", environment("HOME=/home/a"), 1000, "/home/a/.config/netwatch/config.toml"},
		{"elsewhere", environment("HOME=/home/a", "XDG_CONFIG_HOME=/x"), 1000, "/x/netwatch/config.toml"},
		{"a relative place is none", environment("HOME=/home/a", "XDG_CONFIG_HOME=x"), 1000, "/home/a/.config/netwatch/config.toml"},
		{"no home", environment(), 1000, ""},
		{"root", environment("HOME=/root"), 0, "/root/.config/netwatch/config.toml"},
		{"under sudo", environment("HOME=/root", "SUDO_UID="+daemon.Uid), 0, theirs},
		{"under doas", environment("HOME=/root", "DOAS_USER=daemon"), 0, theirs},
		{"under sudo -u of somebody", environment("HOME=/home/b", "SUDO_UID="+daemon.Uid), 1000, "/home/b/.config/netwatch/config.toml"},
		{"a sudo of nobody known", environment("HOME=/root", "SUDO_UID=4294967293"), 0, "/root/.config/netwatch/config.toml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := configPath(c.getenv, invoker(c.getenv, c.euid)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A foundFile is what stat says of a file.
type foundFile struct {
	fs.FileInfo
	uid  uint32
	mode fs.FileMode
}

func (f foundFile) Mode() fs.FileMode { return f.mode }
func (f foundFile) Sys() any          { return &syscall.Stat_t{Uid: f.uid} }

func TestWhatRootDoesNotTakeForSettings(t *testing.T) {
	person := &user.User{Uid: "1000", Username: "a"}
	for _, c := range []struct {
		name string
		file foundFile
		who  *user.User
		want string
	}{
		{"the person's", foundFile{nil, 1000, 0o600}, person, ""},
		{"of the person's group", foundFile{nil, 1000, 0o664}, person, ""},
		{"root's, for all", foundFile{nil, 0, 0o644}, person, ""},
		{"root's own", foundFile{nil, 0, 0o600}, nil, ""},
		{"root's own, by a link", foundFile{nil, 0, 0o640}, person, "it is not for a to read"},
		{"another's", foundFile{nil, 1001, 0o644}, person, "it belongs to another user"},
		{"a person's, for root", foundFile{nil, 1000, 0o644}, nil, "it belongs to another user"},
		{"anybody's", foundFile{nil, 1000, 0o646}, person, "anybody may write it"},
		{"a device", foundFile{nil, 0, fs.ModeDevice | 0o644}, nil, "it is no file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := distrust(c.file, c.who); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
