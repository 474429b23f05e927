package main

import (
	"io"
	"strings"
	"testing"
)

// The bar is there while a file is read and gone before anything else is said.
func TestProgress(t *testing.T) {
	var screen strings.Builder
	in := &counted{strings.NewReader(strings.Repeat("x", 1000)), &progress{w: &screen, name: "x.log", size: 1000}}
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, in, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	said := screen.String()
	if !strings.Contains(said, "\rx.log [#####                    ]  20 %") || !strings.HasSuffix(said, "] 100 %\r\x1b[K") {
		t.Errorf("%q", said)
	}
	in.p.done()
	if screen.String() != said {
		t.Error("it is taken away twice")
	}
}
