package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// progressFrom is the size from which on a review shows how far it is.
const progressFrom = 64 << 20

// A progress is a bar on a terminal's standard error. Its zero parts do nothing.
type progress struct {
	w          io.Writer // nil: silent
	name       string
	size, read int64
	shown      int64 // per cent
}

func newProgress(w io.Writer, name string, size int64) *progress {
	p := &progress{name: filepath.Base(name), size: size}
	if f, ok := w.(*os.File); ok && size > progressFrom && isTerminal(f) {
		p.w = w
	}
	return p
}

func (p *progress) add(n int) {
	p.read += int64(n)
	if p.w == nil {
		return
	}
	if pc := min(100, p.read*100/p.size); pc != p.shown {
		p.shown = pc
		fmt.Fprintf(p.w, "\r%s [%-25s] %3d %%", p.name, strings.Repeat("#", int(pc/4)), pc)
	}
}

// done takes the bar away, before anything else is said.
func (p *progress) done() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.w = nil
	}
}

// counted tells a progress how much was read.
type counted struct {
	io.Reader
	p *progress
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.add(n)
	if err != nil {
		c.p.done()
	}
	return n, err
}
