package knobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netwatch/sources"
)

// A fileKnob has its value in a file, so that it outlives the process that turns
// it. Before each step it asks whether to stop there for ever.
type fileKnob struct {
	path string
	at   func(step string)
	gets int
}

func (k *fileKnob) Spec() sources.KnobSpec { return sources.KnobSpec{Name: "aim", Command: "echo %s"} }

func (k *fileKnob) Get(context.Context) (string, error) {
	k.gets++
	if k.gets == 2 {
		k.at("before it is read back")
	}
	b, err := os.ReadFile(k.path)
	return string(b), err
}

func (k *fileKnob) Set(_ context.Context, value string) error {
	k.at("before the set")
	if err := os.WriteFile(k.path, []byte(value), 0o600); err != nil {
		return err
	}
	k.at("after the set")
	return nil
}

type stepSink struct{ at func(step string) }

func (s stepSink) Sample(sources.Sample) {}
func (s stepSink) Event(e sources.Event) { s.at("said " + string(e.Kind)) }

// TestKilledAtEveryStep: wherever in a turn netwatch is killed, the knob can be put
// back from the journal.
func TestKilledAtEveryStep(t *testing.T) {
	const step, dir = "NETWATCH_TEST_STEP", "NETWATCH_TEST_DIR"
	if stop := os.Getenv(step); stop != "" {
		turnUntil(t, os.Getenv(dir), stop)
		return
	}
	if _, err := bootID(); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	for _, stop := range []string{"said knob-turning", "before the set", "after the set", "before it is read back", "said knob-turned", "turned"} {
		t.Run(stop, func(t *testing.T) {
			state := t.TempDir()
			value := filepath.Join(state, "aim")
			if err := os.WriteFile(value, []byte("1"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(os.Args[0], "-test.run=^TestKilledAtEveryStep$", "-test.timeout=60s")
			c.Env = append(os.Environ(), step+"="+stop, dir+"="+state)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "at "+stop+"\n" {
				t.Errorf("it said %q, %v", line, err)
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			_, err = aJournal(t, filepath.Join(state, "journal"), os.Getpid(), nil).Restore(t.Context(), false,
				func(Entry) (sources.Knob, error) { return &fileKnob{path: value, at: func(string) {}}, nil })
			if b, _ := os.ReadFile(value); err != nil || string(b) != "1" {
				t.Errorf("aim is %q (%v)", b, err)
			}
			expectJournal(t, filepath.Join(state, "journal"))
		})
	}
}

func turnUntil(t *testing.T, state, stop string) {
	at := func(step string) {
		if step == stop {
			fmt.Println("at " + step)
			select {}
		}
	}
	j, err := OpenJournal(filepath.Join(state, "journal"), "em4", func(s string) { t.Error(s) })
	if err != nil {
		t.Fatal(err)
	}
	b := NewJournaled(stepSink{at}, j, &fileKnob{path: filepath.Join(state, "aim"), at: at})
	if err := b.Turn(t.Context(), "", "aim", "2"); err != nil {
		t.Fatal(strings.TrimSpace(err.Error()))
	}
	at("turned")
}
