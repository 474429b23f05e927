// Package siftr reads the logs of the FreeBSD kernel modules siftr(4) and
// siftr2: one line or one 72-byte record for each TCP packet, with the state of
// the connection at that packet.
//
// A [Decoder] takes the bytes as they come, cut anywhere, and calls a [Handler]
// for each cycle (what lies between switching the module on and off), record and
// bad piece of input. [Summary] is a Handler that keeps whole-run figures of every
// flow. The package knows no file, clock or goroutine.
//
// The version is told by the keys of the header line, never by counting columns
// alone; a layout that cannot be told for sure is refused by name. Formats, in
// the words of the modules' sources (sys/netinet/siftr.c of FreeBSD 8 to 15, and
// siftr2.c of github.com/ccfbsd/siftr2):
//
//	siftr 1.2.3, 1.2.4    25 or 28 decimal fields, srtt and rto in ticks
//	siftr 1.3.0           27 decimal fields, microseconds
//	ccfbsd siftr 1.3.0    the same and th_seq, th_ack, payload
//	siftr2 2.0 to 2.2     21 decimal fields, flow id instead of addresses
//	siftr2 2.3 to 2.5     18 hexadecimal fields, time in ms since the enable
//	siftr2 2.4, 2.5       the same as packed 72-byte records
package siftr
