package panes

import "strings"

// LeavingGone is a row of the question what becomes of turned knobs for a host that is
// gone. It has no digit: whatever a person chooses, nobody there hears it.
func LeavingGone(host string, knobs []string) PromptRow {
	what := "  " + host + " is gone: its " + strings.Join(knobs, ", ") + " is not known"
	return PromptRow{what + "; it puts back what it turned, unless it was killed", what}
}
