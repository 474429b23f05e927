package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/knobs"
)

// A fileKnob has its value in a file, so that several processes can turn it.
type fileKnob struct{ path string }

func (k fileKnob) Spec() sources.KnobSpec { return sources.KnobSpec{Name: "aim"} }

func (k fileKnob) Get(context.Context) (string, error) {
	b, err := os.ReadFile(k.path)
	return string(b), err
}

func (k fileKnob) Set(_ context.Context, value string) error {
	return os.WriteFile(k.path, []byte(value), 0o600)
}

const part, partDir = "NETWATCH_TEST_PART", "NETWATCH_TEST_DIR"

// TestMain is also the agent, and the screen that asks it, for tests that kill them.
func TestMain(m *testing.M) {
	dir := os.Getenv(partDir)
	switch os.Getenv(part) {
	case "agent":
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		err := Serve(context.Background(), os.Stdin, os.Stdout, Config{
			Header: header(), Knobs: []sources.Knob{fileKnob{dir + "/aim"}}, State: dir + "/journal",
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	case "talker":
		for {
			fmt.Println("y") // until SIGPIPE
		}
	case "screen":
		c := realClient(dir)
		go c.Run(context.Background(), &sink{})
		fmt.Println(c.Turn(context.Background(), "", "aim", "2"))
		select {}
	}
	os.Exit(m.Run())
}

func realClient(dir string) *Client {
	return NewClient(ClientConfig{Argv: []string{os.Args[0]}, Env: []string{part + "=agent", partDir + "=" + dir}, Version: version})
}

func testDir(t *testing.T) (dir string, aim fileKnob) {
	t.Helper()
	dir = t.TempDir()
	if _, err := knobs.OpenJournal(dir, "", nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	aim = fileKnob{filepath.Join(dir, "aim")}
	must(t, aim.Set(t.Context(), "1"))
	return dir, aim
}

func (k fileKnob) becomes(t *testing.T, want string) {
	t.Helper()
	for range 10_000 {
		if v, _ := k.Get(t.Context()); v == want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	v, _ := k.Get(t.Context())
	t.Errorf("aim is %s, want %s", v, want)
}

// The screen is killed with kill -9: its agent puts back within a second.
func TestTheScreenIsKilled(t *testing.T) {
	dir, aim := testDir(t)
	screen := exec.Command(os.Args[0])
	screen.Env = append(os.Environ(), part+"=screen", partDir+"="+dir)
	out, err := screen.StdoutPipe()
	must(t, err)
	must(t, screen.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Errorf("the turn: %q, %v", line, err)
	}
	aim.becomes(t, "2")
	screen.Process.Kill()
	screen.Wait()
	aim.becomes(t, "1")
	j, err := knobs.OpenJournal(dir+"/journal", "", nil)
	must(t, err)
	for range 10_000 { // its last write
		if e, err := j.Entries(); err == nil && len(e) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the journal has not heard of it")
}

// The agent is killed with kill -9: that is said, with what it leaves, and the journal
// has it.
func TestTheAgentIsKilled(t *testing.T) {
	dir, aim := testDir(t)
	c := realClient(dir)
	end := make(chan error, 1)
	said := &sink{}
	go func() { end <- c.Run(t.Context(), said) }()
	must(t, c.Turn(t.Context(), "", "aim", "2"))
	agent := c.child.(process).PID()
	must(t, syscall.Kill(agent, syscall.SIGKILL))
	err := <-end
	if want := "the agent is gone; netwatch restore puts back what it left turned: aim=2 (was 1) (ended by signal killed)"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if again := c.Restore(t.Context()); again == nil || again.Error() != err.Error() {
		t.Errorf("a request afterwards: %v", again)
	}
	aim.becomes(t, "2")
	j, err := knobs.OpenJournal(dir+"/journal", "", func(s string) { t.Error(s) })
	must(t, err)
	outcomes, err := j.Restore(t.Context(), false, func(knobs.Entry) (sources.Knob, error) { return aim, nil })
	if err != nil || len(outcomes) != 1 || outcomes[0].Fate != knobs.PutBack {
		t.Errorf("%+v, %v", outcomes, err)
	}
	aim.becomes(t, "1")
}

// The agent hears neither HUP nor INT, and its words at the end are the error's.
func TestAgentProcess(t *testing.T) {
	dir, aim := testDir(t)
	c := realClient(dir)
	ctx, stop := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- c.Run(ctx, &sink{}) }()
	must(t, c.Turn(t.Context(), "", "aim", "2"))
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		must(t, syscall.Kill(c.child.(process).PID(), sig))
	}
	must(t, c.Turn(t.Context(), "", "aim", "0"))
	must(t, os.Remove(aim.path)) // now it cannot be put back
	stop()
	if err := <-end; err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "aim is 0 and was 1") {
		t.Error(err)
	}
}

// A screen that the agent cannot write to any more, and that does not close its side.
func TestTheOutputBreaks(t *testing.T) {
	dir, aim := testDir(t)
	agent := exec.Command(os.Args[0])
	agent.Env = append(os.Environ(), part+"=agent", partDir+"="+dir)
	in, err := agent.StdinPipe()
	must(t, err)
	out, err := agent.StdoutPipe()
	must(t, err)
	must(t, agent.Start())
	io.WriteString(in, `{"turn":{"id":1,"knob":"aim","value":"2"}}`+"\n")
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		must(t, err)
		if strings.HasPrefix(line, `{"done"`) {
			break
		}
	}
	out.Close()
	io.WriteString(in, `{"clock":{"id":2,"at":1}}`+"\n") // the answer finds the pipe broken
	aim.becomes(t, "1")
	must(t, agent.Wait())
}
