package iperf

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reviewText reviews what is no file of testdata.
func reviewText(text string) *Review {
	v := NewReview("x.txt")
	p := NewParser(v.Add)
	p.Write([]byte(text))
	p.Close()
	v.Done()
	return v
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// said writes the directions of a run: "sent 3644 (3539)", "sent lost 3/6905 239 us by total".
func said(r *ReviewRun) string {
	var all []string
	for _, d := range r.Directions {
		s := strings.TrimSpace(d.Dir + " " + d.Role)
		if d.Retransmits != nil || d.IntervalRetransmits != nil {
			s += fmt.Sprintf(" %s (%s)", show(d.Retransmits), show(d.IntervalRetransmits))
		}
		if d.Lost != nil {
			s += fmt.Sprintf(" lost %d/%d %s us by %s", *d.Lost, *d.Datagrams, show(d.Jitter), d.LossBy)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// TestOwnTotals: retransmits, loss and jitter are those of the tool's last lines, for
// each direction; in brackets what the interval rows add up to.
func TestOwnTotals(t *testing.T) {
	for name, want := range map[string]string{
		"i3-json-stream-P3-R.ndjson": "received 2815 (null)",
		"i3-tcp-json.json":           "sent 2155 (2155)",
		"i3-tcp-R.txt":               "received 842 (null)",
		"i3-tcp-bidir.txt":           "sent TX-C 1458 (1458); received RX-C 1705 (null)",
		"i3-tcp-bidir-P2.txt":        "sent TX-C 1134 (1134); received RX-C 949 (null)",
		"i3-tcp-P4.txt":              "sent 3275 (3275)",
		"i2-P4-e-client.txt":         "sent 3644 (3539)",
		"i2-fullduplex-e.txt":        "sent 1252 (1252); received",
		"i3-udp.txt":                 "sent lost 3/6905 239 us by total",
		"i3-udp-R.txt":               "received lost 0/6907 513 us by total",
		"i2-udp-client.txt":          "sent lost 4/2554 213 us by report",
		"i2-udp-e-server.txt":        "received lost 147/6806 513 us by total",
		"i2-tcp-client.txt":          "sent",
	} {
		t.Run(name, func(t *testing.T) {
			v := review(t, name)
			if len(v.Runs) != 1 {
				t.Fatalf("%d runs", len(v.Runs))
			}
			if got := said(v.Runs[0]); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// until is text up to the line that begins with what.
func until(text, what string) string {
	i := strings.Index(text, "\n"+what)
	return text[:i+1]
}

// TestCutRuns: a run that was cut off has no total, and none is made up: neither a
// zero nor the totals of the streams that had theirs.
func TestCutRuns(t *testing.T) {
	reverse, four := textOf(t, "i3-tcp-R.txt"), textOf(t, "i2-P4-e-client.txt")
	interrupted := until(reverse, "- - -") + "- - - - - - - - - - - - - - - - - - - - - - - - -\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr\n" +
		"[  5]   0.00-4.00   sec  0.00 Bytes  0.00 bits/sec    0             sender\n" +
		"[  5]   0.00-4.00   sec  45.1 MBytes  94.6 Mbits/sec                  receiver\n" +
		"iperf3: interrupt - the client has terminated\n"
	for name, c := range map[string]struct{ text, want string }{
		"reverse":             {until(reverse, "- - -"), "received"},
		"reverse interrupted": {interrupted, "received"},
		"before the totals":   {until(four, "[  1] 0.0000-3.1814"), "sent null (3502)"},
		"within them":         {until(four, "[  2] 0.0000-4.1793"), "sent null (3539)"},
		"before the SUM":      {until(four, "[SUM] 0.0000-3.0634"), "sent 3644 (3539)"}, // 749 + 798 + 1021 + 1076
		"UDP":                 {until(textOf(t, "i2-udp-e-server.txt"), "[  1] 0.0000-4.0078"), "received lost 147/6793 null us by intervals"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(reviewText(c.text).Runs[0]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSenderKnowsNoLoss: iperf3 prints a jitter and a loss of 0 for every sender.
func TestSenderKnowsNoLoss(t *testing.T) {
	for _, f := range review(t, "i3-udp.txt").Finals {
		known := f.Lost != nil && *f.Lost == 3 && f.Jitter != nil && *f.Jitter == 239
		if f.Side == "sender" && (f.Lost != nil || f.Jitter != nil) || f.Side == "receiver" && !known || *f.Datagrams != 6905 {
			t.Errorf("%+v", f)
		}
	}
}

// TestRuns: each run of a transcript has its own figures, and there is no mean of all.
func TestRuns(t *testing.T) {
	v := review(t, "siftr2-transcript.txt")
	b, err := json.Marshal(v)
	if err != nil || !strings.Contains(string(b), `"mean_bps":null`) || v.MeanBPS != nil || v.WeightedBPS != nil {
		t.Errorf("a mean over runs that differ: %v %s", err, b)
	}
	if len(v.Runs) != 3 {
		t.Fatalf("%d runs", len(v.Runs))
	}
	for i, want := range []float64{941e6, 572e6, 667e6} { // the last row of each run
		r := v.Runs[i]
		if r.Intervals != 5 || len(r.Finals) != 1 || r.Finals[0].BPS != want || !near(r.BPS["1"], want) || r.Peer != "r1 port 5001" {
			t.Errorf("run %d: %+v", i+1, r)
		}
	}
}

// TestOrderOfFinals: iperf2 prints totals as its streams end, here 1 4 3 2.
func TestOrderOfFinals(t *testing.T) {
	var ids []string
	for _, f := range review(t, "i2-P4-e-client.txt").Finals {
		ids = append(ids, f.ID)
	}
	if want := []string{"1", "2", "3", "4", "SUM"}; !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
	ids = nil
	for _, f := range review(t, "i3-tcp-bidir-P2.txt").Finals {
		ids = append(ids, f.Role+f.ID+f.Side[:1])
	}
	if want := strings.Fields("TX-C5s TX-C5r TX-C7s TX-C7r TX-CSUMs TX-CSUMr RX-C9s RX-C9r RX-C11s RX-C11r RX-CSUMs RX-CSUMr"); !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
}
