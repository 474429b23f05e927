// Package sources is the vocabulary of netwatch: what a measured quantity, a
// reading, an event, a source and a knob are. It holds no source itself and
// touches no operating system; each source lives in a package below this one
// and the hub (sources/hub) merges what they say.
//
// Units are fixed per Metric. Times are carried in integer-valued microseconds
// so that sums stay exact in a float64 (up to 2^53), amounts in octets,
// packets or counts.
package sources
