package iperf

import (
	"fmt"
	"strings"

	"netwatch/parsers/lines"
)

// maxDocument bounds a -J document, which comes as a whole when the run is over.
const maxDocument = 64 << 20

// A document collects the lines of a -J document until its braces balance.
type document struct {
	text   strings.Builder
	depth  int
	quoted bool
	size   int
}

func (d *document) open() bool { return d.depth > 0 }

// add takes a line and tells whether the document is complete.
func (d *document) add(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case d.quoted && c == '\\':
			i++
		case c == '"':
			d.quoted = !d.quoted
		case d.quoted:
		case c == '{' || c == '[':
			d.depth++
		case c == '}' || c == ']':
			d.depth--
		}
	}
	d.quoted = false // no string of a document spans lines
	if d.size += len(s) + 1; d.size <= maxDocument {
		d.text.WriteString(s)
		d.text.WriteByte('\n')
	}
	return d.depth <= 0
}

// document reads a -J document.
func (p *Parser) document() {
	text, size := p.doc.text.String(), p.doc.size
	p.doc = document{}
	if size > maxDocument {
		p.bad(fmt.Sprintf("a JSON document larger than %d bytes", maxDocument), "")
		return
	}
	var d struct {
		Start     *jsonStart     `json:"start"`
		Intervals []jsonInterval `json:"intervals"`
		End       jsonEnd        `json:"end"`
		Error     string         `json:"error"`
	}
	if err := unmarshal(text, &d); err != nil {
		p.bad("a JSON document that cannot be read: "+err.Error(), "")
		return
	}
	if d.Start == nil && d.Error == "" {
		return // some other program's JSON
	}
	if d.Start != nil && d.Start.Cookie != "" && d.Start.Cookie == p.cookie {
		return // --json-stream-full-output: all of it was said before
	}
	p.tool = Iperf3
	if d.Start != nil && (d.Start.Test != nil || len(d.Start.Connected) > 0) {
		p.jsonStart(*d.Start)
		for _, i := range d.Intervals {
			p.jsonInterval(i)
		}
		p.jsonEnd(d.End)
	} else if d.Start != nil {
		p.version = lines.Clean(strings.TrimPrefix(d.Start.Version, "iperf "))
	}
	if d.Error != "" {
		p.jsonError(d.Error)
	}
}
