package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A rule says what the packages that match may not import, beyond the table of
// what they may import of ours. CONTRIBUTING.md has the table in words.
type rule struct {
	packages string   // a path below the module, "x/*" is every package below x
	ours     []string // what it may import of ours; "" alone means nothing
	never    []string // what it must not import of others; "x/..." is x and all below
}

var rules = []rule{
	{"parsers/siftr/siftrgen", []string{"parsers/siftr"}, []string{"os", "os/exec", "net"}},
	{"parsers/lines", nil, []string{"os", "os/exec", "net"}},
	{"parsers/siftr", []string{"parsers/lines"}, []string{"os", "os/exec", "net", "syscall", "golang.org/x/sys/unix", "log", "log/slog"}}, // x/sys/cpu asks no system
	{"parsers/*", []string{"parsers/lines"}, []string{"os", "os/exec", "net", "syscall", "golang.org/x/sys/...", "log", "log/slog"}},
	{"sources", nil, []string{"os", "os/exec", "thirdparty"}},
	{"sources/tail", []string{"sources"}, []string{"os/exec"}},
	{"sources/proc", []string{"sources"}, nil},
	{"sources/hub", []string{"sources"}, []string{"os", "os/exec"}},
	{"sources/sysctl", []string{"parsers/bsd"}, []string{"os/exec"}},
	{"sources/ethtool", nil, []string{"os/exec"}},
	{forTests, nil, []string{"thirdparty"}},
	{"sources/replay", []string{"sources", "experiment/recording"}, []string{"os/exec"}},
	{"sources/agent", []string{"sources", "sources/knobs", "sources/proc", "experiment/recording"}, []string{"os/exec"}},
	{"sources/*", []string{"sources", "sources/tail", "sources/proc", "sources/sysctl", "sources/ethtool", "parsers/*"}, []string{"os/exec"}},
	{"experiment/series", []string{"sources"}, []string{"os", "os/exec", "thirdparty"}},
	{"experiment/stats", nil, []string{"os", "os/exec"}},
	{"experiment/recording", []string{"sources"}, []string{"os/exec", "thirdparty"}},
	{"experiment/report", []string{"sources", "experiment", "experiment/series", "experiment/stats"}, []string{"os", "os/exec", "thirdparty"}},
	{"experiment", []string{"sources", "experiment/series", "experiment/stats"}, []string{"os", "os/exec", "thirdparty"}},
	{"tui/theme", nil, []string{"os", "charm.land/bubbletea/..."}},
	{"tui/chart", []string{"tui/theme", "experiment/series", "sources"}, []string{"os", "charm.land/bubbletea/..."}},
	{"tui/panes", []string{"sources", "experiment", "experiment/series", "experiment/stats", "tui/chart", "tui/theme"}, []string{"os", "net", "os/exec", "github.com/NimbleMarkets/..."}},
	{"tui", []string{"tui/panes", "tui/chart", "tui/theme", "experiment", "experiment/series", "sources"}, []string{"os/exec", "github.com/NimbleMarkets/..."}},
	{"cmd/netwatch", []string{"*"}, []string{"os/exec", "github.com/NimbleMarkets/...", "github.com/creack/pty"}},
	{"screenshots/*", []string{"*"}, nil},
	{"screenshots", []string{"*"}, nil},
}

// forTests is a room that only tests import. It is no part of the program, so it may
// start programs.
const forTests = "sources/netns"

// reserved are modules that one package alone may import.
var reserved = map[string]string{
	"os/exec":                              "sources/proc",
	"github.com/creack/pty":                "sources/proc",
	"github.com/fsnotify/fsnotify":         "sources/tail",
	"github.com/NimbleMarkets/ntcharts/v2": "tui/chart",
	"github.com/pelletier/go-toml/v2":      "cmd/netwatch",
}

type listed struct {
	ImportPath string
	Imports    []string
	Module     struct{ Path string }
	Standard   bool
}

func TestImportRules(t *testing.T) {
	for _, goos := range []string{"linux", "freebsd"} {
		for _, p := range goList(t, goos) {
			path := strings.TrimPrefix(p.ImportPath, "netwatch/")
			i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.packages, path) })
			if i < 0 {
				t.Errorf("%s: no import rule for it", path)
				continue
			}
			for _, imp := range p.Imports {
				if why := rules[i].forbids(path, imp); why != "" {
					t.Errorf("%s: %s imports %s: %s", goos, path, imp, why)
				}
			}
		}
	}
}

func (r rule) forbids(path, imp string) string {
	if strings.HasPrefix(imp, "netwatch/") {
		ours := strings.TrimPrefix(imp, "netwatch/")
		if strings.HasPrefix(ours, "cmd/") || strings.HasPrefix(ours, "screenshots") && !strings.HasPrefix(path, "screenshots") {
			return "nobody imports it"
		}
		if ours == forTests {
			return "only tests import it"
		}
		if slices.ContainsFunc(r.ours, func(p string) bool { return matches(p, ours) }) {
			return ""
		}
		return "not one of the rooms it may know"
	}
	for module, only := range reserved {
		if only != path && path != forTests && !strings.HasPrefix(path, "screenshots") && (imp == module || strings.HasPrefix(imp, module+"/")) {
			return "only " + only + " may"
		}
	}
	for _, n := range r.never {
		if n == imp || n == "thirdparty" && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
			return "forbidden there"
		}
		if tree, ok := strings.CutSuffix(n, "/..."); ok && (imp == tree || strings.HasPrefix(imp, tree+"/")) {
			return "forbidden there"
		}
	}
	return ""
}

func matches(pattern, path string) bool {
	if pattern == "*" || pattern == path {
		return true
	}
	dir, ok := strings.CutSuffix(pattern, "/*")
	return ok && strings.HasPrefix(path, dir+"/")
}

func goList(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Module,Standard", "netwatch/...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0", "GOFLAGS=") // -race would need cgo
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("no go command here")
		}
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// Parsers are pure: no clock and no goroutine, in any file, and no build tag but that
// of a processor: what a log says does not depend on the system that reads it.
func TestParsersArePure(t *testing.T) {
	root := filepath.Join("..", "..", "parsers")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the sources are not here: ", err)
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(src, []byte("//go:build")) && !bytes.HasPrefix(src, []byte("//go:build !amd64\n")) {
			t.Errorf("%s has a build tag", path)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since" || n.Sel.Name == "Until") {
					t.Errorf("%s asks the clock", path)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files looked at: %v", files, err)
	}
}
