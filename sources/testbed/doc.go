// Package testbed simulates the testers' s1: an em4 card, a connection that
// iperf3 drives to r1, siftr or siftr2 in the kernel, and a ping. It exists for
// the demo, for tests and for pictures; nothing it says was measured, and whatever
// shows it must carry the word SIMULATED.
//
// It speaks in the real bytes (siftr2 2.5 and siftr 1.3.0 logs, iperf3 rows, ping
// lines), which go through the real parsers; only the card's counters come as
// samples. All of them follow from one state, and the knobs act on that state.
// The figures are those of the testers' notes on enable_aim (FreeBSD review
// D46768); what the notes do not tell (interrupts, cores, sRTT, life without TSO)
// is plausible and no more.
package testbed
