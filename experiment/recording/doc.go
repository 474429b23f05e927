// Package recording is netwatch's one codec: a recording on disk, what an agent
// says on its pipe, and what -o json prints. It is JSON Lines:
//
//	{"netwatch":1,"version":"0.1.0","host":"s1.lab","here":"s1",…}                    header, first line
//	{"series":0,"host":"r1","source":"nic","subject":"em4","metric":"rx"}             names index 0
//	{"at":1732964400123456,"host":"s1","s":[[0,-1200,100000,1,117300,…]],"e":[{…}]}   one Batch
//
// Every line names a host where the header says what this one is called ("here"): that of
// a series and of each event is whose figures and doings they are, that of a Batch is the one
// whose clock it is told by and which recorded it. Lines of an agent, whose asker knows who it
// is, and older recordings name only other hosts.
//
// Times are microseconds: "at" since 1970, in samples and events relative to the
// Batch. A sample is [series, at, span, n, sum, min, max, last]. A series is
// defined before its first sample, so a recording that was cut anywhere is good
// up to its last whole line. Lines of an unknown kind are skipped, another major
// schema is refused. What is asked of an agent, and its answers, are lines of their
// own kinds (Request, Answer). The package does not know what is measured and draws nothing.
package recording
