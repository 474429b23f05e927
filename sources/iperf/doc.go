// Package iperf is the source for what a load generator says: a load that
// netwatch starts (Load), or output that comes from somebody else's (FromReader:
// a pipe, a followed file).
//
// Samples have the Source "iperf3" or "iperf2". Their Subject is the stream's id,
// or "SUM" for amounts added over all streams of one direction, made here when the
// last stream of an interval is in; the tool's own [SUM] row may come an interval
// late. A run of one stream has a SUM too, so SUM is always the whole load.
// Goodput is what the host of the tool sends, RxGood what it receives. Intervals
// that iperf3 was told to omit are not sampled.
//
// Rows carry seconds since their run began and no clock. The first row of a run
// is placed where it arrived, the others by their distance to it. Rows that came
// in a block are placed by the last of them, for a row cannot arrive before its
// interval ended.
package iperf
