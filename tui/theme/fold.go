package theme

import "strings"

// Fold is text in rows of w cells, parted at spaces. A word that is longer than a row is
// cut by the screen.
func Fold(text string, w int) []string {
	var rows []string
	row := ""
	for word := range strings.SplitSeq(text, " ") {
		if row != "" && Width(row)+1+Width(word) > w {
			rows = append(rows, row)
			row = word
			continue
		}
		row = strings.TrimPrefix(row+" "+word, " ")
	}
	return append(rows, row)
}

// FoldWhole is Fold of which nothing may be lost: a word that is longer than a row, as a
// path may be, goes on in the next one.
func FoldWhole(text string, w int) []string {
	var words []string
	for word := range strings.SplitSeq(text, " ") {
		for w > 0 && Width(word) > w {
			runes := []rune(word)
			words, word = append(words, string(runes[:w])), string(runes[w:])
		}
		words = append(words, word)
	}
	return Fold(strings.Join(words, " "), w)
}
