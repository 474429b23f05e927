package siftr_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"netwatch/sources"
	"netwatch/sources/siftr"
)

// Logs that siftr2 2.5 wrote on FreeBSD 15.0. Expected values are those of their
// footers, and of a count of the t_flags column by another program.

// TestRealSampled: ppl=10 and cwnd_filter=1 as the footer's nrecord and ntrans show them.
func TestRealSampled(t *testing.T) {
	for name, want := range map[string]string{
		"real-txt-ppl10":       "60 of 610 packets are in the log", // 25 + 35 of 253 + 357
		"real-txt-cwnd-filter": "42 of 609 packets are in the log", // 1 + 41 of 357 + 252
	} {
		s := new(sink)
		siftr.FromReader(name, bytes.NewReader(readLog(t, name))).Run(t.Context(), s)
		if got := s.sampled(); len(got) != 1 || !strings.HasPrefix(got[0], want+" for ") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestRealTSO: interface TSO turned off under a connection takes it from that
// connection, turned on it reaches new connections only.
func TestRealTSO(t *testing.T) {
	for name, want := range map[string][]string{
		"real-txt-across-tso-toggle":                   {"ec6567eb on", "128e4645 off", "ec6567eb off"},
		"real-txt-old-and-new-connection-after-tso-on": {"223ce67c off", "93192ec7 off", "2f730000 on", "0a80272e off"},
	} {
		s := new(sink)
		siftr.FromReader(name, bytes.NewReader(readLog(t, name))).Run(t.Context(), s)
		var got []string
		for _, e := range s.events {
			if e.Kind == sources.FlowSeen && !e.Flow.Local.IsValid() { // the footer tells again, with addresses
				got = append(got, e.Subject+" "+e.Flow.TSO)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if sampled := s.sampled(); len(sampled) != 0 {
			t.Errorf("%s: a whole log is said to be sampled: %q", name, sampled)
		}
	}
}
