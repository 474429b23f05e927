// Package report is the session in words: the table of settings as Markdown, and
// one line a second for a pipe, a file or another program. It reads a Session
// and writes; it decides nothing and draws no charts.
package report
