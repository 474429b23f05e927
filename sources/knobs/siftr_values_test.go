package knobs

import (
	"errors"
	"os"
	"strings"
	"testing"

	"netwatch/parsers/bsd"
)

// The values of every siftr and siftr2 that were seen, by root and by a user: the knobs
// whose names the module has read as its list says, the others are not there.
func TestSiftrValues(t *testing.T) {
	for file, want := range map[string]int{
		"siftr-1.2.4-values.txt": 4, "siftr-1.3.0-values.txt": 4, // genhashes is no knob
		"siftr2-2.2-alq-values.txt": 5, "siftr2-2.2-ring-values.txt": 6, "siftr2-2.3-values.txt": 6,
		"siftr2-2.4-values.txt": 7 - 1, "siftr2-2.5-values.txt": 7 - 1, // enable_binary_record neither
		"made-siftr-12-values.txt": 4, "made-siftr-siftr2-values.txt": 5 + 6, "made-siftr-notloaded.txt": 0,
	} {
		k := newFake()
		for line := range strings.Lines(table(t, file)) {
			if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": "); ok && strings.HasPrefix(name, "net.inet.") {
				k.values[name] = value
			}
		}
		read := 0
		for _, knob := range freebsdList(device{"em0", "em", 0, &fakeCaps{}}, k, nil, "") {
			v, ok := knob.(variable)
			if !ok || !strings.HasPrefix(v.name, "net.inet.siftr") {
				continue
			}
			got, err := knob.Get(t.Context())
			switch value, there := k.values[v.name]; {
			case !there && !errors.Is(err, os.ErrNotExist), there && (err != nil || got != value):
				t.Errorf("%s: %s reads %q, %v", file, v.name, got, err)
			case there:
				read++
			}
		}
		if read != want {
			t.Errorf("%s: %d knobs", file, read)
		}
	}
}

// The congestion controls of 14.0 and 15.0 as their lists of net.inet.tcp have them.
func TestAlgorithmsOfReleases(t *testing.T) {
	for _, file := range []string{"14.0-net.inet.tcp.txt", "15.0-net.inet.tcp.txt"} {
		_, list, _ := strings.Cut(table(t, file), "net.inet.tcp.cc.available: ")
		list, now, _ := strings.Cut(list, "\nnet.inet.tcp.cc.algorithm: ")
		got, err := bsd.ParseCCAvailable([]byte(list))
		if err != nil || len(got) != 1 || got[0] != (bsd.CCModule{Name: "cubic", Default: true, PCBs: 2}) || !strings.HasPrefix(now, "cubic\n") {
			t.Errorf("%s: %+v, %v of %q", file, got, err, list)
		}
	}
}
