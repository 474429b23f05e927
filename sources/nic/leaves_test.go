package nic

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The rows of drivers that no test has seen have the names that the drivers' sources
// give, with the same meaning, and no others.
func TestDocumentedLeaves(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "leaves.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{} // by driver: "leaf is metric"
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		column := strings.Split(line, "  ")
		if len(column) != 3 {
			t.Fatalf("line %q", line)
		}
		for _, name := range strings.Fields(column[0]) {
			want[name] = append(want[name], column[1]+" is "+column[2])
		}
	}
	have := map[string][]string{}
	for _, d := range drivers {
		for _, l := range slices.Concat(d.mac, d.queues) {
			for _, name := range d.names {
				if d.documented {
					have[name] = append(have[name], l.name+" is "+l.metric.Name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		slices.Sort(have[name])
		slices.Sort(want[name])
		if !slices.Equal(have[name], want[name]) {
			t.Errorf("%s has\n%s\nwant\n%s", name, strings.Join(have[name], "\n"), strings.Join(want[name], "\n"))
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no rows for %v", want)
	}
}
