package terminal

import (
	"bytes"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAProgramOnAScreen(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	term, err := Start(40, 5, nil, "/bin/sh", "-c", `printf '\033[?1049h\033[2;3H\033[1mhello\033[0m ⣿─'; read x; printf '\033[?1049lbye %s\n' "$x"; exit 3`)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	screen, err := term.Wait(10*time.Second, func(s string) bool { return strings.Contains(s, "─") })
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(screen, "\n"); lines[1] != "  hello ⣿─" {
		t.Errorf("second line %q", lines[1])
	}
	var pic bytes.Buffer
	if err := term.PNG(&pic); err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(&pic); err != nil || img.Bounds().Dx() != 40*cellW || img.Bounds().Dy() != 5*cellH {
		t.Errorf("picture %v, %v", img.Bounds(), err)
	}
	if err := term.Keys("now\r"); err != nil {
		t.Fatal(err)
	}
	code, said, err := term.End(10 * time.Second)
	if err != nil || code != 3 || strings.TrimSpace(said) != "bye now" {
		t.Errorf("status %d, said %q, %v", code, said, err)
	}
}
