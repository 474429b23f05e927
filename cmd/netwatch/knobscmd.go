package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"netwatch/sources"
	"netwatch/sources/knobs"
)

func newKnobs() *cobra.Command {
	var o options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "knobs IFACE",
		Short: "list what can be turned, its values, and what turning needs",
		Args:  asUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkInterface(args[0]); err != nil {
				return err
			}
			if _, err := o.parsePeers(args[0]); err != nil {
				return err
			}
			list, err := o.knobs(args[0])
			if err != nil {
				return err
			}
			rows := knobRows(cmd.Context(), list, standing(args[0], cmd.ErrOrStderr()))
			if asJSON && cmd.Flags().Changed("peer") {
				return usageError("--json is of one host: run it on the peer")
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "\t")
				return e.Encode(rows)
			}
			return errors.Join(writeKnobs(cmd.OutOrStdout(), rows), o.onPeers(cmd, args[0], func(p *peer) []string { return []string{"knobs", noConfig, p.iface} }))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON instead of a table")
	o.knobFlag(cmd.Flags())
	o.peerFlags(cmd.Flags())
	return cmd
}

// A knobRow is what a person is told of a knob.
type knobRow struct {
	sources.KnobSpec
	Value string `json:"value"`
	Start string `json:"start,omitempty"` // before netwatch turned it, by the journal
	Kept  string `json:"kept,omitempty"`  // as a person chose to keep it
	Error string `json:"error,omitempty"` // why there is no value
	Drops bool   `json:"drops_link"`      // turning resets the card
}

// standing is the journal of this boot; that it cannot be read is only said.
func standing(iface string, stderr io.Writer) func(sources.KnobSpec) (knobs.Entry, bool) {
	j, err := knobs.OpenJournal(knobs.StateDir(), iface, nil)
	var entries []knobs.Entry
	if err == nil {
		entries, err = j.Entries()
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		fmt.Fprintf(stderr, "netwatch: start values are unknown: %v\n", err)
	}
	return func(spec sources.KnobSpec) (knobs.Entry, bool) {
		for _, e := range entries {
			if j.Here(e) && e.Turned() && e.Subject == spec.Subject && e.Knob == spec.Name {
				return e, true
			}
		}
		return knobs.Entry{}, false
	}
}

func knobRows(ctx context.Context, list []sources.Knob, entry func(sources.KnobSpec) (knobs.Entry, bool)) []knobRow {
	rows := []knobRow{}
	for _, k := range list {
		r := knobRow{KnobSpec: k.Spec()}
		r.Drops = r.Disruption == sources.LinkReset
		value, err := k.Get(ctx)
		r.Value = value
		if err != nil {
			r.Error = knobError(err)
			r.Locked = cmp.Or(r.Locked, r.Error)
		}
		if e, ok := entry(r.KnobSpec); ok {
			r.Start, r.Kept = e.Start, e.Kept
		}
		rows = append(rows, r)
	}
	return rows
}

// knobError says why a knob has no value.
func knobError(err error) string {
	if errors.Is(err, os.ErrNotExist) {
		return "not there: its module is not loaded, or this kernel has no such variable"
	}
	return err.Error()
}

func writeKnobs(out io.Writer, rows []knobRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KNOB\tVALUE\tSTART\tVALUES\tTURNING")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, cmp.Or(r.Value, "-"), cmp.Or(r.Start, "-"), valuesOf(r.KnobSpec), turning(r))
	}
	return w.Flush()
}

func valuesOf(spec sources.KnobSpec) string {
	var words []string
	for i, v := range spec.Values {
		if i < len(spec.Meanings) && spec.Meanings[i] != "" {
			v += " (" + spec.Meanings[i] + ")"
		}
		words = append(words, v)
	}
	return cmp.Or(strings.Join(words, ", "), "-")
}

// turning says what a turn needs and does.
func turning(r knobRow) string {
	var words []string
	switch {
	case r.Locked == knobs.NeedsRoot:
		words = append(words, r.Locked)
	case r.Locked != "":
		return r.Locked
	}
	if r.Drops {
		words = append(words, "drops the link for seconds")
	}
	if r.Note != "" {
		words = append(words, r.Note)
	}
	if r.Kept != "" {
		words = append(words, "kept at "+r.Kept)
	}
	return strings.Join(append(words, strings.ReplaceAll(r.Command, "%s", "VALUE")), "; ")
}
