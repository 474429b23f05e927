// Package experiment holds what happened: the Session that every face of
// netwatch looks at (the screen, the table, the text lines), with its series,
// flows, knobs, phases and events. It is fed Batches and nothing else, so that
// live, replayed and simulated sessions are one code path. Time is the time of
// the newest Batch; nothing here asks a clock, and one goroutine owns a Session.
package experiment
