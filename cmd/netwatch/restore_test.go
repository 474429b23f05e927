package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"netwatch/sources/knobs"
)

// What restore says at its end, and its exit status: that another netwatch has the knobs
// is said and no failure.
func TestTellOutcomes(t *testing.T) {
	for _, c := range []struct {
		name  string
		fates []knobs.Fate
		last  string
		code  int
	}{
		{"nothing there", nil, "nothing to put back", exitOK},
		{"put back", []knobs.Fate{knobs.PutBack}, "words 0", exitOK},
		{"all of it another's", []knobs.Fate{knobs.Left, knobs.Left}, "nothing was put back", exitOK},
		{"some of it", []knobs.Fate{knobs.PutBack, knobs.Left}, "words 1", exitOK},
		{"as it was", []knobs.Fate{knobs.Dropped}, "words 0", exitOK},
		{"failed", []knobs.Fate{knobs.Failed, knobs.PutBack}, "words 1", exitUnrestored},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []knobs.Outcome
			for i, f := range c.fates {
				all = append(all, knobs.Outcome{Fate: f, Text: fmt.Sprint("words ", i)})
			}
			var out strings.Builder
			code := exitOK
			if e := (*exitError)(nil); errors.As(tellOutcomes(&out, all), &e) {
				code = e.code
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if code != c.code || lines[len(lines)-1] != c.last {
				t.Errorf("exit status %d, said %q", code, lines)
			}
		})
	}
}

func TestWithRootsCommand(t *testing.T) {
	denied := fmt.Errorf("journal: /s belongs to uid 0, and this is uid 7: %w", os.ErrPermission)
	got := withRootsCommand(denied, 7, "/s", "/bin/netwatch", []string{"restore", "--force"})
	if want := "; type: sudo env NETWATCH_STATE=/s /bin/netwatch restore --force"; !strings.HasSuffix(got.Error(), want) || !errors.Is(got, os.ErrPermission) {
		t.Error(got)
	}
	other := errors.New("no space")
	if withRootsCommand(denied, 0, "/s", "n", nil) != denied || withRootsCommand(other, 7, "/s", "n", nil) != other || withRootsCommand(nil, 7, "/s", "n", nil) != nil {
		t.Error("root, or another error, was given a command")
	}
}
