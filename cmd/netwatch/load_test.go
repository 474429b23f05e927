package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Without a screen, a load that comes through a pipe ends the session with it.
func TestTheLoadOfAPipeEnds(t *testing.T) {
	loop := "lo"
	if _, err := net.InterfaceByName(loop); err != nil {
		loop = "lo0"
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for _, c := range []struct {
		name, load, text string
		status           int
		stderr           string
	}{
		{"standard input", "-", transcriptOf(2), exitOK, ""},
		{"nothing at all", "-", "", exitOK, ""},
		{"an error of the tool", "-", "iperf3: error - unable to connect to server: Connection refused\n", exitFailure, "load failed: "},
		{"a named pipe", fifo, transcriptOf(2), exitOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.text
			if c.load != "-" {
				in = ""
				go func() { os.WriteFile(c.load, []byte(c.text), 0o600) }()
			}
			var out, errs bytes.Buffer
			ended := make(chan int, 1)
			go func() {
				ended <- run([]string{"-o", "json", "--load", c.load, loop}, strings.NewReader(in), &out, &errs)
			}()
			select {
			case status := <-ended:
				if status != c.status || !strings.Contains(errs.String(), c.stderr) {
					t.Errorf("status %d, want %d: %s", status, c.status, errs.String())
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it runs on after the end of its load")
			}
			if c.text != "" && !strings.Contains(out.String(), `"source":"iperf3"`) {
				t.Errorf("the last words are not told:\n%s", out.String())
			}
		})
	}
}
