package ping

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestHosts: fping's last line about each host is that host's; replies are counted for
// each from its own lines.
func TestHosts(t *testing.T) {
	for name, replies := range map[string]map[string]int{
		"fping-D-c.txt": {"10.77.1.2": 17, "fd77:1::2": 19},
		"fping-Q1.txt":  {"10.77.1.2": 0},
	} {
		var want struct{ Targets map[string]Goal }
		readJSON(t, strings.TrimSuffix(name, ".txt")+".review.json", &want)
		v := review(t, name)
		if len(v.Pings) != len(replies) || len(want.Targets) != len(replies) {
			t.Fatalf("%s: %d hosts, want %d", name, len(v.Pings), len(replies))
		}
		for _, p := range v.Pings {
			w := want.Targets[p.Target]
			if p.Replies != replies[p.Target] || p.Stats.Transmitted != w.Xmt || p.Stats.Received != w.Rcv || *p.Stats.LossPct != *w.LossPct ||
				*p.RTT.Min != *w.Min || *p.RTT.Avg != *w.Avg || *p.RTT.Max != *w.Max || p.Reports != 0 {
				t.Errorf("%s: %+v, want %+v", p.Target, p, w)
			}
			// What the lines give, rounded as fping rounds it.
			if l := p.Lines; l != nil && (*l.Min != *w.Min || *l.Max != *w.Max || *l.Avg-*w.Avg > 0.05 || *l.Avg-*w.Avg < -0.05) {
				t.Errorf("%s: lines %v/%v/%v", p.Target, *l.Min, *l.Avg, *l.Max)
			}
		}
	}
}

// TestCountsWithoutLines: with -Q fping writes no replies, which is not to have had none.
func TestCountsWithoutLines(t *testing.T) {
	b, err := json.Marshal(review(t, "fping-Q1.txt"))
	if err != nil || !strings.Contains(string(b), `"replies":null,"duplicates":null`) || strings.Count(string(b), `"rtts_ms"`) != 1 {
		t.Errorf("%v %s", err, b)
	}
	if b, err = json.Marshal(review(t, "fping-D-c.txt")); err != nil || !strings.Contains(string(b), `"replies":36,"duplicates":0`) {
		t.Errorf("%v %s", err, b)
	}
}

// TestCutReports: the reports of fping -Q are of a second each; without the last line
// they are added up (10+10+11, 6+8+9), and none of them is taken for the whole run.
func TestCutReports(t *testing.T) {
	text := textOf(t, "fping-Q1.txt")
	v := reviewText(text[:strings.LastIndex(strings.TrimRight(text, "\n"), "\n")+1])
	p := v.Pings[0]
	if p.Reports != 3 || p.Stats.Transmitted != 31 || p.Stats.Received != 23 || p.Stats.LossPct != nil || *p.RTT.Min != 17.8 || *p.RTT.Max != 23.6 || p.RTT.Avg != nil {
		t.Errorf("%+v, counts %+v, round trips %+v", p, p.Stats, p.RTT)
	}
}

// TestSeveralPings: each ping of a file has its own counts.
func TestSeveralPings(t *testing.T) {
	v := reviewText(textOf(t, "linux-loss-dup.txt") + textOf(t, "linux-basic.txt"))
	if len(v.Pings) != 2 {
		t.Fatalf("%d pings", len(v.Pings))
	}
	for i, name := range []string{"linux-loss-dup", "linux-basic"} {
		var want Review
		readJSON(t, name+".review.json", &want)
		p := v.Pings[i]
		if p.Replies != want.Replies || p.Duplicates != want.Duplicates || p.Missing != len(want.MissingSeqs) ||
			p.Stats.Transmitted != want.Stats.Transmitted || *p.RTT.Avg != *want.RTT.Avg {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
