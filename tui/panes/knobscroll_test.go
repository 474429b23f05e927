package panes

import (
	"strings"
	"testing"

	"netwatch/tui/theme"
)

// What is told of a knob can be read to its end on the smallest screen that has a page:
// the row of the knob says how much is below.
func TestAllOfAKnobIsReached(t *testing.T) {
	f := frame(newStory().tell(well), theme.Options{})
	f.View.Page = Knobs
	for row, k := range f.Session.Knobs() {
		f.View.Row = row
		var told []string
		for _, d := range knobDetails(k, 40-detailsAt) {
			told = append(told, d.text)
		}
		last := LastDetail(f, 40, 8)
		if want := max(len(told)-3, 0); last != want { // header, knobs, tabs, the knob and the footer take five of the eight rows
			t.Errorf("%s: %d rows to scroll, want %d", k.Spec.Name, last, want)
		}
		for f.View.Detail = 0; f.View.Detail <= last; f.View.Detail++ {
			screen := Screen(f, 40, 8)
			if below := last - f.View.Detail; strings.Contains(screen, "  j +") != (below > 0) {
				t.Errorf("%s: %d rows are below:\n%s", k.Spec.Name, below, screen)
			}
			for _, text := range told[f.View.Detail:min(f.View.Detail+3, len(told))] {
				if !strings.Contains(screen, "\n     "+text) {
					t.Errorf("%s: scrolled by %d, %q is not there:\n%s", k.Spec.Name, f.View.Detail, text, screen)
				}
			}
		}
		f.View.Detail = 0
	}
}
