package tui

import (
	"slices"

	"netwatch/tui/panes"
)

// gone are the rows of hosts that are gone with knobs turned: of these nobody can be asked.
func (l *leaving) gone() []panes.PromptRow {
	names := map[string][]string{}
	for _, k := range l.m.cfg.Session.Knobs() {
		if k.Doubt && k.Moved() {
			names[k.Host] = append(names[k.Host], k.Spec.Name)
		}
	}
	var rows []panes.PromptRow
	for _, host := range slices.DeleteFunc(l.m.cfg.Session.Hosts(), func(h string) bool { return names[h] == nil }) {
		rows = append(rows, panes.LeavingGone(host, names[host]))
	}
	return rows
}
