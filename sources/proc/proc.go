package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// A Spec says what to run.
type Spec struct {
	Argv []string
	Env  []string // added to netwatch's own environment and LC_ALL=C
	// PTY gives the child a terminal as standard output: programs that keep their
	// lines back on a pipe then write them one by one. Lines end in CR LF.
	PTY bool
	// Input gives the child a pipe as standard input instead of an empty one: see
	// Child.Input. It does not go with PTY.
	Input bool
	// Detached gives the child a session of its own, without a terminal, and sends
	// it no signal but by Kill: it may outlive netwatch, and ends when its input does.
	// Any other child gets SIGTERM when netwatch is killed; its own children do not.
	Detached bool
	// Grace is how long Stop waits after SIGINT and again after SIGTERM; 0 means 2 s.
	Grace time.Duration
}

// An Output is a piece of what the child wrote, cut anywhere.
type Output struct {
	At     time.Time // when it was read
	Data   []byte
	Stderr bool
}

// A Status says how a child ended.
type Status struct {
	Code   int    // exit status; 128 + the signal's number when a signal ended it
	Signal string // "" or the signal's name
}

// String is "exit status 1" or "ended by signal interrupt".
func (s Status) String() string {
	if s.Signal != "" {
		return "ended by signal " + s.Signal
	}
	return fmt.Sprintf("exit status %d", s.Code)
}

// OK tells exit status 0. It does not tell that the work was done: iperf2 exits
// with 0 when it was refused.
func (s Status) OK() bool { return s.Code == 0 && s.Signal == "" }

// A Child is a running program.
type Child struct {
	cmd    *exec.Cmd
	spec   Spec
	in     *os.File // nil unless the Spec asks for it
	pipes  []io.Closer
	grace  time.Duration
	out    chan Output
	exited chan struct{} // closed when the child itself is gone
	done   chan struct{} // closed when all it said was handed out, too
	status Status
	stop   sync.Once
}

// Start runs the program. The caller must take everything from Output until it is
// closed. Errors satisfy errors.Is for exec.ErrNotFound and os.ErrPermission.
func Start(spec Spec) (*Child, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, errors.New("no command to run")
	}
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), spec.Env...)
	c := &Child{
		cmd: cmd, spec: spec, grace: spec.Grace, out: make(chan Output, 64),
		exited: make(chan struct{}), done: make(chan struct{}),
	}
	if c.grace <= 0 {
		c.grace = 2 * time.Second
	}
	stderr, errW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = errW
	stdout, err := c.launch()
	errW.Close()
	if err != nil {
		stderr.Close()
		return nil, fmt.Errorf("cannot start %s: %w", spec.Argv[0], plain(err))
	}
	c.pipes = []io.Closer{stdout, stderr}
	go c.watch(stdout, stderr)
	return c, nil
}

// launch starts the command with its standard output on a pipe or a terminal. A
// terminal means a session of its own, which is a process group too.
func (c *Child) launch() (stdout *os.File, err error) {
	if !c.spec.PTY {
		return c.launchOnPipes()
	}
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("no terminal: %w", err)
	}
	defer slave.Close()
	c.cmd.Stdout = slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.begin(); err != nil {
		master.Close()
		return nil, err
	}
	return master, nil
}

func (c *Child) launchOnPipes() (stdout *os.File, err error) {
	var files []*os.File // to be closed here, all of them if the start fails
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			files = append(files, r, w)
		}
		return r, w
	}
	stdout, w := pipe()
	var r, in *os.File
	if c.spec.Input {
		r, in = pipe()
	}
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout = w
	if r != nil {
		c.cmd.Stdin = r
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.spec.Detached, Setsid: c.spec.Detached}
	if err := c.begin(); err != nil {
		return nil, err
	}
	c.in = in
	files = slices.DeleteFunc(files, func(f *os.File) bool { return f == stdout || f == in })
	return stdout, nil
}

// plain takes the program's name out of the error of os/exec, which says it again.
func plain(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// watch reads both outputs until they end and the child is gone.
func (c *Child) watch(stdout, stderr *os.File) {
	var readers sync.WaitGroup
	readers.Go(func() { c.read(stdout, false) })
	readers.Go(func() { c.read(stderr, true) })
	err := c.cmd.Wait()
	c.status = status(c.cmd.ProcessState, err)
	close(c.exited)
	if c.in != nil {
		c.in.Close()
	}
	// A grandchild may hold the outputs open. It gets the time the child's last
	// words need, no more.
	idle := make(chan struct{})
	go func() { readers.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-time.After(200 * time.Millisecond):
		c.signal(syscall.SIGTERM)
		select {
		case <-idle:
		case <-time.After(c.grace):
			c.signal(syscall.SIGKILL)
			stdout.Close()
			stderr.Close()
			<-idle
		}
	}
	c.signal(syscall.SIGKILL)
	close(c.out)
	close(c.done)
}

func (c *Child) read(f *os.File, isErr bool) {
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			c.out <- Output{At: time.Now(), Data: append([]byte(nil), buf[:n]...), Stderr: isErr}
		}
		if err != nil {
			return // EOF, or EIO from a terminal nobody has open any more
		}
	}
}

func status(st *os.ProcessState, err error) Status {
	if st == nil {
		return Status{Code: 127, Signal: fmt.Sprint(err)}
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Status{Code: 128 + int(ws.Signal()), Signal: ws.Signal().String()}
	}
	return Status{Code: st.ExitCode()}
}

// signal reaches the whole group. The group's number is the child's own; it stays
// taken as long as any process is in the group.
func (c *Child) signal(sig syscall.Signal) {
	if !c.spec.Detached {
		_ = syscall.Kill(-c.cmd.Process.Pid, sig)
	}
}

// Input is the child's standard input, nil unless the Spec asked for it. Writing to
// a child that is gone is an error; closing it ends a Detached child.
func (c *Child) Input() io.WriteCloser {
	if c.in == nil {
		return nil
	}
	return c.in
}

// Release closes every pipe to the child: of one that is Detached and does not end by
// itself nothing more is heard. What Output still holds must be taken.
func (c *Child) Release() {
	if c.in != nil {
		c.in.Close()
	}
	for _, p := range c.pipes {
		p.Close()
	}
}

// Kill ends the group at once, also of a Detached child: for a messenger like ssh that
// waits for an answer that does not come, never for what has something to put back.
func (c *Child) Kill() {
	select {
	case <-c.exited: // its number may be another's by now
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// PID is the child's process number.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Output gives what the child says, in the order it was read; it is closed when
// the child has ended and all was handed out.
func (c *Child) Output() <-chan Output { return c.out }

// Done is closed when the child has ended and Output is closed.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait waits for Done and says how the child ended. Output must be taken meanwhile.
func (c *Child) Wait() Status {
	<-c.done
	return c.status
}

// Interrupt sends SIGINT to the group, what Ctrl-C would do: iperf3 then prints
// its summary.
func (c *Child) Interrupt() { c.signal(syscall.SIGINT) }

// Stop ends the group: SIGINT, after the grace time SIGTERM, after it again
// SIGKILL. Of a Detached child it only closes the input. It returns at once; Done
// tells when it is over. It may be called again.
func (c *Child) Stop() {
	c.stop.Do(func() {
		if c.in != nil {
			c.in.Close()
		}
		if c.spec.Detached {
			return
		}
		go func() {
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
				c.signal(sig)
				select {
				case <-c.exited:
					return
				case <-time.After(c.grace):
				}
			}
			c.signal(syscall.SIGKILL)
		}()
	})
}

// Ask runs a program to its end and returns what it wrote to both outputs, cut at
// 64 KiB. A program that takes longer than limit is stopped: then err says so. An
// exit status other than 0 is no error; the text tells.
func Ask(limit time.Duration, argv ...string) (text string, err error) {
	c, err := Start(Spec{Argv: argv, Grace: limit / 4})
	if err != nil {
		return "", err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var b strings.Builder
	for {
		select {
		case o, ok := <-c.Output():
			if !ok {
				return b.String(), err
			}
			if b.Len() < 64<<10 {
				b.Write(o.Data)
			}
		case <-timer.C:
			c.Stop()
			err = fmt.Errorf("%s gave no answer within %s", argv[0], limit)
		}
	}
}
