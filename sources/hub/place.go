package hub

import "strings"

// panicPlace finds the first line of a stack that is netwatch's own code: enough
// for a bug report on one line of the screen.
func panicPlace(stack []byte) string {
	seenPanic := false
	for line := range strings.Lines(string(stack)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic(") {
			seenPanic = true
			continue
		}
		if seenPanic && strings.Contains(line, ".go:") && !strings.Contains(line, "/runtime/") {
			place, _, _ := strings.Cut(line, " +0x")
			return place[strings.LastIndex(place, "/")+1:]
		}
	}
	return "unknown place"
}
