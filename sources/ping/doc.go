// Package ping is the source for round trips: a ping that netwatch starts with the
// options of this system (New), or the output of somebody else's (FromReader).
//
// It runs the system's ping and does not send probes itself: the program stamps in
// the kernel, and an ordinary user may run it.
//
// A probe is lost when no answer came within its grace time, the longer of one
// second and three intervals; until then it is pending. An answer that comes later
// is a PingLate event. iputils says which probes have no answer yet; FreeBSD says
// nothing, so there losses are found from the numbers of the answers that do come
// and, when none comes, from the interval of the probes.
package ping
