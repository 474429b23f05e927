package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netwatch/experiment/recording"
)

// With a peer every line of text, CSV, JSON and of a recording names a host, and both
// hosts are named.
func TestEveryLineWithAPeerNamesItsHost(t *testing.T) {
	h := newHosts(t)
	rec := filepath.Join(t.TempDir(), "x.nwr")
	args := []string{"veth0", "--peer", ipB + ":veth1", "--ssh", h.sshd(), "--peer-path", binary(t), "--record", rec, "-d", "3s", "-o"}
	here := called(hostHeader())
	said := func(output string) string {
		os.Remove(rec) // a recording is not written over
		out, status := h.run(append(args, output)...)
		if status != exitOK {
			t.Fatalf("%s: status %d:\n%s", output, status, out)
		}
		return out
	}

	named := map[string]int{}
	words := regexp.MustCompile(`^(?:# )?\d\d:\d\d:\d\d(?:\.\d+)? (\S+) `)
	for line := range strings.Lines(said("text")) {
		m := words.FindStringSubmatch(line)
		switch {
		case m != nil:
			named[m[1]]++
		case !strings.HasPrefix(line, "veth0 ") && !strings.HasPrefix(line, "time "):
			t.Errorf("text: %q", line)
		}
	}
	both(t, "text", named, here)

	named = map[string]int{}
	rows, err := csv.NewReader(strings.NewReader(said("csv"))).ReadAll()
	must(t, err)
	for _, r := range rows[1:] {
		named[r[1]]++
	}
	both(t, "csv", named, here)

	both(t, "json", hostsOf(t, said("json")), here)
	recorded, err := os.ReadFile(rec)
	must(t, err)
	both(t, "the recording", hostsOf(t, string(recorded)), here)
}

// both fails unless this host and the peer, and no other, were named.
func both(t *testing.T, what string, named map[string]int, here string) {
	t.Helper()
	if len(named) != 2 || named[here] == 0 || named[ipB] == 0 {
		t.Errorf("%s names %v, want %s and %s", what, named, here, ipB)
	}
}

// hostsOf counts the hosts that the lines of a recording name, and their events.
func hostsOf(t *testing.T, text string) map[string]int {
	t.Helper()
	head, rest, _ := strings.Cut(text, "\n")
	var h recording.Header
	must(t, json.Unmarshal([]byte(head), &h))
	if h.Host == "" {
		t.Errorf("the header names no host: %s", head)
	}
	named := map[string]int{}
	for line := range strings.Lines(rest) {
		var l struct {
			Host   string                  `json:"host"`
			Events []struct{ Host string } `json:"e"`
		}
		must(t, json.Unmarshal([]byte(line), &l))
		named[l.Host]++
		for _, e := range l.Events {
			named[e.Host]++
		}
	}
	return named
}
