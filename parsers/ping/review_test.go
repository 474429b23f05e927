package ping

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func review(t *testing.T, name string) *Review {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	v := NewReview(name)
	p := NewParser(v.Add)
	p.Write(b)
	p.Close()
	v.Done()
	return v
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestReviewContract holds every .review.json: each key in it must be in our
// object with the same value; keys of ours that it does not have are welcome.
func TestReviewContract(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.review.json")
	if len(cases) < 17 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		base := filepath.Base(c)
		var want map[string]any
		readJSON(t, base, &want)
		name := want["file"].(string)
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(review(t, name))
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			for key := range got {
				if _, asked := want[key]; !asked {
					delete(got, key)
				}
			}
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTranscripts reads whole terminal sessions, the collapsed form too: the same
// replies as in the ping alone.
func TestTranscripts(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.transcript*.txt")
	if len(cases) != 6 {
		t.Fatalf("%d transcripts", len(cases))
	}
	for _, c := range cases {
		name := filepath.Base(c)
		alone, _, _ := strings.Cut(name, ".")
		got, want := review(t, name), review(t, alone+".txt")
		if !slices.Equal(got.RTTs, want.RTTs) || len(got.RTTs) != 10 || *got.RTT.Avg != *want.RTT.Avg || got.Errors != 0 || got.BadCount != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMixedTranscript: a session with a ping and runs of iperf2 in it.
func TestMixedTranscript(t *testing.T) {
	got, want := review(t, "siftr2-transcript.txt"), review(t, "siftr2-ping.txt")
	if !slices.Equal(got.RTTs, want.RTTs) || got.Errors != 0 || got.BadCount != 0 || len(got.MissingSeqs) != 0 {
		t.Errorf("%+v", got)
	}
	for _, r := range parse("Connecting to host r1, port 5201\n[  5]   0.00-1.00   sec  12.6 MBytes   105 Mbits/sec\niperf3: error - unable to connect\n") {
		if _, other := r.(Other); !other {
			t.Errorf("a line of iperf3 is %+v", r)
		}
	}
}
