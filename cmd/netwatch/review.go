package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"netwatch/parsers/iperf"
	"netwatch/parsers/ping"
	"netwatch/parsers/siftr"
)

// readSize is the buffer of a review: reading is then a few per cent of its time.
const readSize = 256 << 10

func newReview() *cobra.Command {
	var asJSON bool
	var flow string
	cmd := &cobra.Command{
		Use:   "review FILE...",
		Short: "sum up siftr logs, iperf and ping output or recordings, after the fact",
		Long: `review reads finished files: siftr and siftr2 logs of every version, output of
iperf3, iperf and ping, recordings of netwatch. A file may be gzipped; - is standard input.
Retransmits, loss and jitter are the tool's own totals where it printed them. Of a
siftr log srtt, cwnd and inflight are means over records, not over time; fragments
are packets whose payload is no multiple of the mss; sampled is a log that lacks
packets.
It exits with 1 when a file holds nothing that can be used; --json then has an object
with an error and no kind in its place. What a cut gzip begins with is reviewed.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flow != "" && (asJSON || len(args) != 1) {
				return usageError("--csv takes one log and no --json")
			}
			r := &reviewer{cmd: cmd, asJSON: asJSON, flow: flow}
			return r.all(args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a file, one a line")
	cmd.Flags().StringVar(&flow, "csv", "", "time series of the siftr flow `ID` (8 hex digits or laddr:lport>faddr:fport) as CSV")
	return cmd
}

type reviewer struct {
	cmd    *cobra.Command
	asJSON bool
	flow   string
	said   bool // the file under way has its review
}

// all reviews the files in order. An unusable one is said and fails the whole; the
// others are reviewed all the same.
func (r *reviewer) all(files []string) error {
	failed := 0
	for _, name := range files {
		r.said = false
		if err := r.one(name); err != nil {
			failed++
			fmt.Fprintf(r.cmd.ErrOrStderr(), "netwatch: %s: %v\n", name, reasonOf(err))
			if r.asJSON && !r.said {
				if err := r.say(unusable{File: name, Error: reasonOf(err).Error()}, nil); err != nil {
					return err
				}
			}
		}
	}
	if failed > 0 {
		return &exitError{exitFailure, nil}
	}
	return nil
}

// An unusable is the object of a file that has no review.
type unusable struct {
	File  string  `json:"file"`
	Kind  *string `json:"kind"` // always null
	Error string  `json:"error"`
}

// reasonOf is an error without the path that the message has already.
func reasonOf(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (r *reviewer) one(name string) error {
	in, size := io.Reader(r.cmd.InOrStdin()), int64(0)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		in = f
	}
	p := newProgress(r.cmd.ErrOrStderr(), name, size)
	defer p.done()
	buf := bufio.NewReaderSize(&counted{in, p}, readSize)
	if magic, _ := buf.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(buf)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		cut := &cutGzip{in: z}
		defer func() {
			if cut.is {
				fmt.Fprintf(r.cmd.ErrOrStderr(), "netwatch: %s: the gzip is cut: what was behind its end is not known\n", name)
			}
		}()
		buf = bufio.NewReaderSize(cut, readSize)
	}
	head, err := buf.Peek(64 << 10)
	switch {
	case len(head) == 0 && err != nil && !errors.Is(err, io.EOF):
		return err
	case len(head) == 0:
		return errors.New("empty file")
	case bytes.HasPrefix(head, []byte(`{"netwatch":`)):
		return r.recording(buf, name)
	case siftr.Is(head):
		return r.siftr(buf, name)
	}
	return r.streams(buf, name)
}

// A cutGzip ends where a gzip was cut, as a plain file does.
type cutGzip struct {
	in io.Reader
	is bool
}

// Read implements io.Reader.
func (c *cutGzip) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		c.is, err = true, io.EOF
	}
	return n, err
}

// copyChunks hands the input to w as it is read, without a copy of its own.
func copyChunks(w io.Writer, in io.Reader) error {
	buf := make([]byte, readSize)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
}

func (r *reviewer) siftr(in io.Reader, name string) error {
	if r.flow != "" {
		return r.series(in)
	}
	sum := &siftr.Summary{}
	d := siftr.NewDecoder(sum)
	readErr := copyChunks(d, in)
	d.Close()
	for i, b := range sum.Bads {
		if i == 3 {
			fmt.Fprintf(r.cmd.ErrOrStderr(), "netwatch: %s: and more\n", name)
			break
		}
		fmt.Fprintf(r.cmd.ErrOrStderr(), "netwatch: %s:%s\n", name, badWords(b))
	}
	rep := sum.Report(name)
	if err := r.say(rep, func(w io.Writer) { siftrText(w, rep) }); err != nil {
		return err
	}
	return errors.Join(readErr, sum.Err())
}

func badWords(b siftr.Bad) string {
	if b.Line == 0 {
		return fmt.Sprintf(" offset %d: %s", b.Offset, b.Reason)
	}
	return fmt.Sprintf("%d: %s", b.Line, b.Reason)
}

// A transcript is a file that holds the output of both kinds of tools.
type transcript struct {
	*iperf.Review
	Ping *ping.Review `json:"ping"`
}

// streams reviews what load generators and pings print; a transcript of a
// terminal may hold both.
func (r *reviewer) streams(in io.Reader, name string) error {
	load, probe := iperf.NewReview(name), ping.NewReview(name)
	lp, pp := iperf.NewParser(load.Add), ping.NewParser(probe.Add)
	readErr := copyChunks(io.MultiWriter(lp, pp), in)
	lp.Close()
	pp.Close()
	load.Done()
	probe.Done()
	var err error
	switch {
	case load.Found() && probe.Found() && load.Tests > 0 && probe.Replies > 0:
		err = r.say(transcript{load, probe}, func(w io.Writer) { iperfText(w, load); pingText(w, probe) })
	case load.Found() && (load.Tests > 0 || !probe.Found()):
		err = r.say(load, func(w io.Writer) { iperfText(w, load) })
	case probe.Found():
		err = r.say(probe, func(w io.Writer) { pingText(w, probe) })
	default:
		err = errors.New("neither a siftr log, nor output of iperf3, iperf or ping, nor a recording")
	}
	return errors.Join(err, readErr)
}

// say prints a review as JSON or in words.
func (r *reviewer) say(v any, text func(io.Writer)) error {
	out := r.cmd.OutOrStdout()
	if !r.asJSON {
		w := bufio.NewWriter(out)
		text(w)
		return w.Flush()
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	r.said = true
	_, err = out.Write(append(line, '\n'))
	return err
}
