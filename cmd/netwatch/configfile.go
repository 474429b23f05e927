package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
)

// configPlace is where the config file is, in words.
const configPlace = "$XDG_CONFIG_HOME/netwatch/config.toml (~/.config)"

// configMost is more than anybody writes, and little enough to read whole.
const configMost = 1 << 20

// readConfig reads the file that --config names, or else this person's own, which need
// not be there.
func readConfig(named string) ([]given, error) {
	who := invoker(os.Getenv, os.Geteuid())
	path := cmp.Or(named, configPath(os.Getenv, who))
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer does not stop it
	if named == "" && (errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	if named == "" && os.Geteuid() == 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, unreadable(err)
		}
		if why := distrust(info, who); why != "" {
			return nil, unreadable(fmt.Errorf("%s: %s", path, why))
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, configMost+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(text) > configMost {
		return nil, unreadable(fmt.Errorf("%s: longer than %d bytes", path, configMost))
	}
	return parseConfig(path, text)
}

// unreadable ends netwatch: a file that says read-only must not be passed over.
func unreadable(err error) error {
	return fmt.Errorf("the config file cannot be read: %w; --config '' does without", err)
}

// invoker is who typed sudo or doas, nil where nobody did: then it is who this is.
func invoker(getenv func(string) string, euid int) *user.User {
	if euid != 0 {
		return nil
	}
	if u, err := user.LookupId(getenv("SUDO_UID")); err == nil {
		return u
	}
	if u, err := user.Lookup(getenv("DOAS_USER")); err == nil {
		return u
	}
	return nil
}

// configPath is the config file of a person, "" where there is no home to have one in.
func configPath(getenv func(string) string, who *user.User) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // as the XDG specification has it
		home := getenv("HOME")
		if who != nil {
			home = who.HomeDir
		}
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "netwatch", "config.toml")
}

// distrust says why root does not take a file for a person's own settings: they name the
// command that reaches peers, and what is wrong in them is told.
func distrust(info os.FileInfo, who *user.User) string {
	owner := "0"
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = strconv.FormatUint(uint64(stat.Uid), 10)
	}
	own := who != nil && who.Uid == owner
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return "it is no file"
	case !own && owner != "0":
		return "it belongs to another user"
	case mode.Perm()&0o002 != 0:
		return "anybody may write it"
	case !own && who != nil && mode.Perm()&0o004 == 0:
		return "it is not for " + who.Username + " to read"
	}
	return ""
}

// parseConfig reads the settings of a file in the order of its lines.
func parseConfig(path string, text []byte) ([]given, error) {
	lines, err := keyLines(text)
	if err != nil {
		return nil, usageError("%s:%w", path, err)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	flags, _ := allFlags()
	var all []given
	for _, l := range lines {
		at := fmt.Sprintf("%s:%d: ", path, l.line)
		s, err := settingNamed(l.key)
		if err != nil {
			return nil, usageError("%s%w", at, err)
		}
		words, ok := wordsOf(flags.Lookup(s.name).Value.Type(), values[l.key])
		if !ok {
			return nil, usageError("%s%s: it takes %s", at, s.name, wanted(flags.Lookup(s.name), s))
		}
		all = append(all, given{s, words, at + s.name})
	}
	return all, nil
}

// A keyLine is a key at the top of a file.
type keyLine struct {
	key  string
	line int
}

// keyLines finds where each key stands: a strict decoder that expects none of them tells
// of each.
func keyLines(text []byte) ([]keyLine, error) {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&struct{}{})
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var lines []keyLine
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			lines = append(lines, keyLine{strings.Join(e.Key(), "."), line})
		}
		slices.SortStableFunc(lines, func(a, b keyLine) int { return cmp.Compare(a.line, b.line) })
		return lines, nil
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, _ := bad.Position()
		key := ""
		if k := strings.Join(bad.Key(), "."); k != "" {
			key = strconv.Quote(k) + ": "
		}
		return nil, fmt.Errorf("%d: %s%s", line, key, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	return nil, err
}

// wordsOf is a value of TOML as a flag of a type would be given it.
func wordsOf(flagType string, value any) (words []string, ok bool) {
	switch v := value.(type) {
	case bool:
		return []string{strconv.FormatBool(v)}, flagType == "bool"
	case string:
		return []string{v}, flagType == "string" || flagType == "duration"
	case []any:
		words = []string{}
		for _, each := range v {
			w, is := each.(string)
			if !is {
				return nil, false
			}
			words = append(words, w)
		}
		return words, flagType == "stringArray"
	}
	return nil, false
}
