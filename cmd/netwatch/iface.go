package main

import (
	"fmt"
	"net"
	"strings"
)

// checkInterface refuses a name that no interface has: never another interface
// silently.
func checkInterface(name string) error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list of interfaces: %w", err)
	}
	var names []string
	for _, i := range all {
		if i.Name == name {
			return nil
		}
		names = append(names, i.Name)
	}
	hint := ""
	if n := nearest(name, names); n != "" {
		hint = fmt.Sprintf("did you mean %s? ", n)
	}
	return fmt.Errorf("no interface %q; %sthere are: %s", name, hint, strings.Join(names, " "))
}

// nearest is the name with the fewest edits, if they are no more than half of it.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, n := range names {
		if d := edits(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
