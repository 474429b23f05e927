package siftr_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netwatch/parsers/siftr"
)

// readLog reads a gzipped log from testdata.
func readLog(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// logNames lists the logs of a directory of testdata.
func logNames(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.log.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no logs in testdata/%s: %v", dir, err)
	}
	for i, p := range paths {
		paths[i] = filepath.Join(dir, filepath.Base(p))
	}
	return paths
}

// summarise reads a log in one piece.
func summarise(log []byte) (*siftr.Summary, siftr.Report) {
	s := new(siftr.Summary)
	d := siftr.NewDecoder(s)
	d.Write(log)
	d.Close()
	return s, s.Report("x.log")
}

func base(name string) string {
	return strings.TrimSuffix(filepath.Base(name), ".log.gz")
}
