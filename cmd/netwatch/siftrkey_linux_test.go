package main

import (
	"os"
	"testing"
	"time"

	"netwatch/parsers/siftr/siftrgen"
	"netwatch/screenshots/terminal"
)

// A log that was written for twenty minutes before netwatch came is caught up: the
// sources line says how far behind it is, and keys are answered meanwhile.
func TestABacklogDoesNotFreezeTheScreen(t *testing.T) {
	bin := binary(t)
	t.Chdir(t.TempDir())
	const log = "siftr2.log"
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	const rate, seconds = 500, 1200
	if err := siftrgen.Write(f, siftrgen.Config{Format: siftrgen.Text25, Records: rate * seconds, Flows: 3, Seed: 1, Rate: rate,
		Start: time.Now().Add(-seconds * time.Second).UnixMicro(), Cut: true}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	term, err := terminal.Start(120, 40, nil, bin, "lo", "--siftr", log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	wait(t, term, "the lag", 5*time.Second, has(" behind"))
	press(t, term, "3")
	wait(t, term, "another page", time.Second, has("[3 flows]"))
	press(t, term, "1")
	wait(t, term, "the end of it", 60*time.Second, has("siftr2.log: caught up"))
	press(t, term, "q")
	end(t, term, exitOK)
}

// Linux has no siftr, and key S says so.
func TestKeySOnLinux(t *testing.T) {
	term, err := terminal.Start(120, 40, nil, binary(t), "lo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	wait(t, term, "the screen", 5*time.Second, has("q quit"))
	press(t, term, "S")
	wait(t, term, "the reason", 2*time.Second, has("siftr is a module of FreeBSD's kernel; this system has none"))
	press(t, term, "q")
	end(t, term, exitOK)
}
