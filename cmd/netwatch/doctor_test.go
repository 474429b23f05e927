package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"netwatch/sources/knobs"
)

// Each entry of the journal is told with the command that mends it.
func TestStandings(t *testing.T) {
	entries := []knobs.Entry{
		{Knob: "tso", Subject: "em4", Start: "on", Value: "off"}, {Knob: "cc", Start: "cubic", Value: "newreno"},
		{Knob: "aim", Subject: "em4", Start: "1", Value: "2", Boot: "before"},
		{Knob: "lro", Subject: "em4", Start: "on", Value: "off", PID: 7}, {Knob: "tcp.tso", Start: "1", Value: "0", Net: "jail"},
		{Knob: "txcsum", Subject: "em4", Start: "on", Value: "on", Asked: "off", Along: "tso"},
	}
	of := func(e knobs.Entry) knobs.Standing {
		switch {
		case e.Boot != "":
			return knobs.BeforeBoot
		case e.PID != 0:
			return knobs.Running
		case e.Net != "":
			return knobs.Elsewhere
		}
		return knobs.Restorable
	}
	want := []string{
		"not as netwatch found it: tso, cc: netwatch restore",
		"turned before this boot: aim: netwatch restore --force",
		"turned by a netwatch that runs: lro: it puts that back",
		"turned in another network namespace or jail: tcp.tso: netwatch restore there",
	}
	if got := standings(entries, of); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := standings(nil, of); got != nil {
		t.Error(got)
	}
}

// A journal of another boot: what doctor says to type is what restore wants.
func TestDoctorOfAnotherBoot(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
		t.Skip("no journal on this system")
	}
	dir := filepath.Join(t.TempDir(), "state")
	t.Setenv("NETWATCH_STATE", dir)
	if f := lookAtJournal(); f != (finding{"journal", isOK, dir, ""}) {
		t.Errorf("without a journal: %+v", f)
	}
	b, err := json.Marshal(map[string]any{"netwatch_journal": 1, "entries": []knobs.Entry{
		{Interface: "lo", Subject: "lo", Knob: "tso", Start: "on", Value: "off", Boot: "an earlier one", Net: knobs.Net()}}})
	must(t, err)
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "journal.json"), b, 0o600))
	if f := lookAtJournal(); f.state != isOK || !strings.HasSuffix(f.words, dir+"; turned before this boot: tso: netwatch restore --force") {
		t.Errorf("%+v", f)
	}
}
