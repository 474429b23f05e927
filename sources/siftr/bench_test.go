package siftr_test

import (
	"bytes"
	"testing"

	"netwatch/parsers/siftr/siftrgen"
	"netwatch/sources"
	"netwatch/sources/siftr"
)

// A counter is a sink that keeps nothing.
type counter struct{ samples, events int }

func (c *counter) Sample(sources.Sample) { c.samples++ }
func (c *counter) Event(sources.Event)   { c.events++ }

// BenchmarkLive is what a second of a log at 60,000 records a second costs, from
// bytes to Samples. The budget for the source is 15 ms, 1.5 % of a core.
func BenchmarkLive(b *testing.B) {
	for name, f := range map[string]siftrgen.Format{"hex": siftrgen.Text25, "decimal": siftrgen.Stock130, "binary": siftrgen.Binary25} {
		var log bytes.Buffer
		if err := siftrgen.Write(&log, siftrgen.Config{Format: f, Records: 60_000, Flows: 2, Start: 1_796_040_000_000_000}); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				siftr.FromReader("log", bytes.NewReader(log.Bytes())).Run(b.Context(), new(counter))
			}
		})
	}
}
