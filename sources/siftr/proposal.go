package siftr

import (
	"fmt"
	"path/filepath"
	"time"
)

// What a Logger would do and does, in words for a person.

// Propose says in words what would be logged: the port that is filtered for (that of
// the load's command, else the one given, 0 for all), where the log goes and how long there
// is room, at the rate of the log before or of so many packets a second. The error
// says why nothing can be logged.
func (g *Logger) Propose(port uint16, packets float64) (words, brief string, err error) {
	sw, err := g.module()
	if err != nil {
		return "", "", err
	}
	if sw.Enabled {
		return "", "", fmt.Errorf("%s is on already and writes %s", sw.Module, sw.LogFile)
	}
	dir := logDir(sw)
	free, err := g.room(dir)
	if err != nil {
		return "", "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.port == 0 {
		g.port = port
	}
	filter := "all ports"
	if g.port != 0 {
		filter = fmt.Sprintf("port %d", g.port)
	}
	pace := g.pace
	if pace == 0 {
		pace = packets * recordSize(sw)
	}
	until := "at an unknown rate"
	if pace > 0 {
		until = "for " + long(lasts(free, pace)) + " at this rate"
	}
	return fmt.Sprintf("%s: %s into %s, %.1f GB free, %s", sw.Module, filter, filepath.Join(dir, sw.Module+"-TIME.log"), float64(free)/1e9, until),
		fmt.Sprintf("%s, %s", sw.Module, filter), nil
}

// State is what is under way, "" for nothing: "siftr2 next run", "siftr2 812 MB, 71m".
func (g *Logger) State() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.on != nil:
		s := fmt.Sprintf("%s %.0f MB", g.on.Module, float64(g.on.size)/1e6)
		if g.pace > 0 {
			s += ", room for " + long(lasts(g.on.left, g.pace))
		}
		return s
	case g.wish == nextRun:
		return "siftr: next run"
	case g.wish == allOn:
		return "siftr: on"
	}
	return ""
}

// logDir is where the module's own log is, if that is a place.
func logDir(sw Switches) string {
	if filepath.IsAbs(sw.LogFile) {
		return filepath.Dir(sw.LogFile)
	}
	return "/var/log"
}

// recordSize is what a record takes in the present formats, octets.
func recordSize(sw Switches) float64 {
	switch {
	case sw.Binary:
		return 72
	case sw.Module == "siftr":
		return 165
	}
	return 100
}

// lasts is how long a log may grow before it is ended.
func lasts(free uint64, pace float64) time.Duration {
	if free < leastFree {
		return 0
	}
	const most = 1000 * time.Hour
	return time.Duration(min(float64(free-leastFree)/pace, most.Seconds())) * time.Second
}

// long writes minutes, and hours where there are many.
func long(d time.Duration) string {
	if d >= 5*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
