package siftr_test

import (
	"fmt"
	"testing"
)

func told(b *bool) string {
	if b == nil {
		return "not told"
	}
	return fmt.Sprint(*b)
}

// TestSampled: whether a log lacks packets, by its own footer: nrecord and ntrans of
// siftr2, ring_drops, and the packets less the skipped ones of siftr.
func TestSampled(t *testing.T) {
	for name, want := range map[string]struct{ cycle, flow string }{
		"generated/siftr2-2.5-binary-1flow-1gbps-ppl100.log.gz":  {"true", "true"},  // 1800 of 180000
		"generated/siftr2-2.5-text-1flow-1gbps-ppl200.log.gz":    {"true", "true"},  // 1300 of 260000
		"generated/siftr2-2.5-text-1flow-cwndfilter.log.gz":      {"true", "true"},  // 1300 of 5178
		"generated/siftr2-2.5-text-ringdrops-2flows.log.gz":      {"true", "false"}, // ring_drops=20; 118 of 118, 1082 of 1082
		"generated/siftr2-2.5-text-5flows-loss-rttstep.log.gz":   {"false", "false"},
		"generated/siftr2-2.0-2flows.log.gz":                     {"not told", "not told"}, // no ntrans
		"generated/stock-1.3.0-ppl10-1flow-1gbps.log.gz":         {"true", "not told"},     // 850 of 3927+4577-4
		"generated/stock-1.3.0-ipv4-1flow.log.gz":                {"false", "not told"},
		"real/siftr-1.3.0__ppl10.log.gz":                         {"true", "not told"},
		"real/siftr-1.3.0__siftr-to-linux-peer.log.gz":           {"false", "not told"},
		"real/siftr2-2.5__bin-ppl10.log.gz":                      {"true", "true"},
		"real/siftr2-2.5__bin-1flow.copied-while-enabled.log.gz": {"not told", "not told"}, // no footer
	} {
		t.Run(name, func(t *testing.T) {
			_, r := summarise(readLog(t, name))
			c := r.Cycles[0]
			if got := told(c.Sampled); got != want.cycle {
				t.Errorf("cycle: %s, want %s", got, want.cycle)
			}
			for _, f := range c.Flows {
				if got := told(f.Sampled); got != want.flow {
					t.Errorf("flow %v: %s, want %s", f.Laddr, got, want.flow)
				}
			}
			if len(c.Flows) == 0 {
				t.Error("no flow")
			}
		})
	}
}
