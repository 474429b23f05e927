package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// transcriptOf is what iperf3 prints in a test of n seconds that is still running.
func transcriptOf(n int) string {
	var b strings.Builder
	b.WriteString("Connecting to host r1, port 5201\n[  5] local 10.1.1.2 port 40001 connected to 10.1.1.3 port 5201\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n")
	for i := range n {
		fmt.Fprintf(&b, "[  5] %6.2f-%-6.2f sec   %d MBytes   %d Mbits/sec    %d    327 KBytes\n", float64(i), float64(i+1), 100+i*7%13, 800+i*56%104, i%3)
	}
	return b.String()
}

// cutFile writes a gzip of text that lacks its last octets.
func cutFile(t *testing.T, name, text string, lacks int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	must(t, err)
	must(t, z.Close())
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, b.Bytes()[:b.Len()-lacks], 0o644))
	return path
}

func gunzip(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	b, err := io.ReadAll(z)
	must(t, err)
	return string(b)
}

// A gzip that was cut is reviewed up to there, as a plain file is, with a warning.
func TestReviewOfACutGzip(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "x.nwr")
	if status, _, stderr := cli("demo", "-o", "json", "-d", "1s", "--record", rec); status != exitOK {
		t.Fatal(stderr)
	}
	recording, err := os.ReadFile(rec)
	must(t, err)
	log := gunzip(t, "testdata/siftr2.log.gz")
	for _, c := range []struct {
		name, text string
		has        string
		lacks      int
	}{
		{"iperf3", transcriptOf(300), `"tool":"iperf3"`, 100},
		{"iperf3, its checksum only", transcriptOf(300), `"tool":"iperf3"`, 3},
		{"siftr", log, `"kind":"siftr"`, 300},
		{"recording", string(recording), `"kind":"recording"`, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := cutFile(t, "x.gz", c.text, c.lacks)
			status, stdout, stderr := cli("review", "--json", path)
			if status != exitOK || !json.Valid([]byte(stdout)) || !strings.Contains(stdout, c.has) || strings.Contains(stdout, `"error":`) || !strings.Contains(stderr, path+": the gzip is cut") {
				t.Errorf("status %d, stdout %.300s, stderr %q", status, stdout, stderr)
			}
		})
	}
	path := cutFile(t, "x.gz", "nothing that anybody knows\n", 4)
	if status, stdout, stderr := cli("review", path); status != exitFailure || stdout != "" || !strings.Contains(stderr, "neither a siftr log") {
		t.Errorf("a cut gzip of nothing: status %d, %q, %q", status, stdout, stderr)
	}
}

// Each file has its object, also one that cannot be used.
func TestReviewJSONOfUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	good, none, empty := filepath.Join(dir, "good.txt"), filepath.Join(dir, "none"), filepath.Join(dir, "empty")
	must(t, os.WriteFile(good, []byte(transcriptOf(3)), 0o644))
	must(t, os.WriteFile(empty, nil, 0o644))
	status, stdout, _ := cli("review", "--json", none, good, empty)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if status != exitFailure || len(lines) != 3 {
		t.Fatalf("status %d:\n%s", status, stdout)
	}
	for i, want := range []string{
		fmt.Sprintf(`{"file":%q,"kind":null,"error":"no such file or directory"}`, none), "",
		fmt.Sprintf(`{"file":%q,"kind":null,"error":"empty file"}`, empty),
	} {
		if want != "" && lines[i] != want {
			t.Errorf("got  %s\nwant %s", lines[i], want)
		}
	}
	if !strings.HasPrefix(lines[1], fmt.Sprintf(`{"file":%q,`, good)) || strings.Contains(lines[1], `"error"`) {
		t.Error(lines[1])
	}
}
