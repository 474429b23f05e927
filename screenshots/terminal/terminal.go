// Package terminal runs a real program in a pseudo terminal, keeps what it draws
// in an emulated screen and presses keys. It serves the end-to-end tests and the
// pictures; it is no part of netwatch.
package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// A Terminal is a running program and its screen.
type Terminal struct {
	Cmd    *exec.Cmd
	mu     sync.Mutex // of screen's cells; its Read, which only hands out answers, needs none
	screen *vt.Emulator
	alt    bool // the alternate screen is on; of mu, too
	pty    *os.File
	bytes  atomic.Int64
	done   chan struct{}
	err    error
	end    string
}

// Start runs argv on a screen of cols by rows. env is added to the environment.
func Start(cols, rows int, env []string, argv ...string) (*Terminal, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8"), env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		return nil, fmt.Errorf("pty: %w", err)
	}
	t := &Terminal{Cmd: cmd, screen: vt.NewEmulator(cols, rows), pty: f, done: make(chan struct{})}
	t.screen.SetCallbacks(vt.Callbacks{AltScreen: func(on bool) { t.alt = on }})
	go io.Copy(f, t.screen) // the emulator's answers to the program's questions
	go t.read()
	return t, nil
}

func (t *Terminal) read() {
	buf := make([]byte, 64<<10)
	var tail []byte
	for {
		n, err := t.pty.Read(buf)
		t.bytes.Add(int64(n))
		t.mu.Lock()
		t.screen.Write(buf[:n])
		t.mu.Unlock()
		tail = append(tail, buf[:n]...)
		if len(tail) > 1<<20 {
			tail = tail[len(tail)-1<<19:]
		}
		if err != nil { // EIO: the program ended
			break
		}
	}
	t.end = afterAltScreen(string(tail))
	t.err = t.Cmd.Wait()
	close(t.done)
}

// afterAltScreen is what was printed after the alternate screen was left.
func afterAltScreen(s string) string {
	if i := strings.LastIndex(s, "\x1b[?1049l"); i >= 0 {
		s = s[i+len("\x1b[?1049l"):]
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// Keys types.
func (t *Terminal) Keys(keys string) error {
	_, err := io.WriteString(t.pty, keys)
	return err
}

// Resize changes the size of the terminal.
func (t *Terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	t.screen.Resize(cols, rows)
	t.mu.Unlock()
	return pty.Setsize(t.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
}

// Bytes is how much the program wrote to the terminal so far.
func (t *Terminal) Bytes() int64 { return t.bytes.Load() }

// Text is the screen, one line a row, without blanks at the ends of lines.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.screen.Height() {
		var line strings.Builder
		for x := range t.screen.Width() {
			if c := t.screen.CellAt(x, y); c != nil && c.Content != "" {
				line.WriteString(c.Content)
			} else {
				line.WriteByte(' ')
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Left tells whether the program has left the alternate screen and shows the cursor, as
// a shell needs it.
func (t *Terminal) Left() (screen, cursor bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.alt, !t.screen.CursorHidden()
}

// ErrWait says that a screen did not come.
var ErrWait = errors.New("the screen did not come")

// Wait looks at the screen until ok says so. It fails when the program ended or
// the time is up; the error holds the last screen.
func (t *Terminal) Wait(limit time.Duration, ok func(screen string) bool) (string, error) {
	deadline := time.Now().Add(limit)
	for {
		s := t.Text()
		if ok(s) {
			return s, nil
		}
		select {
		case <-t.done:
			return s, fmt.Errorf("%w: the program ended (%v); it said:\n%s\nlast screen:\n%s", ErrWait, t.err, t.end, s)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return s, fmt.Errorf("%w within %v; last screen:\n%s", ErrWait, limit, s)
		}
	}
}

// End waits for the program to end and returns its exit status and what it
// printed after it left the alternate screen.
func (t *Terminal) End(limit time.Duration) (status int, printed string, err error) {
	select {
	case <-t.done:
		return t.Cmd.ProcessState.ExitCode(), t.end, nil
	case <-time.After(limit):
		return -1, "", fmt.Errorf("still running after %v; screen:\n%s", limit, t.Text())
	}
}

// Close kills the program if it still runs.
func (t *Terminal) Close() {
	t.Cmd.Process.Kill()
	<-t.done
	t.pty.Close()
}
