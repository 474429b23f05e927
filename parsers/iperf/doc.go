// Package iperf reads what iperf3 and iperf2 say: text of iperf3 3.0 to 3.21,
// its -J documents and its --json-stream, text of iperf2 2.0.5 to 2.2 with and
// without -e, and the CSV of iperf2 -y C.
//
// A Parser takes the output in chunks cut anywhere and gives records: a run
// began, a stream is connected, a row, a run ended, an error line. It finds out
// by itself which tool speaks and asks again at every banner, so a transcript
// with several runs of several tools is fine. A Review sums records up for
// reading after the fact.
//
// The package has no clock and touches no file: a row carries the tool's own
// seconds since the start of its run, and the caller knows when it arrived.
// What a row does not carry is absent (Num.OK is false), never zero.
//
// Sources: iperf3's src/iperf_locale.c, iperf_api.c and units.c (esnet/iperf
// tags 3.0 to 3.21); iperf2's src/Locale.c and ReportOutputs.c (2.0.5 to 2.2.1).
package iperf
