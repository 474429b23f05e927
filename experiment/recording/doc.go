// Package recording is netwatch's one codec: a recording on disk, what an agent
// says on its pipe, and what -o json prints. It is JSON Lines:
//
//	{"netwatch":1,"version":"0.1.0","host":"s1","os":"freebsd",…}          header, first line
//	{"series":0,"source":"nic","subject":"em4","metric":"rx"}              names index 0
//	{"at":1732964400123456,"s":[[0,-1200,100000,1,117300,…]],"e":[{…}]}    one Batch
//
// Times are microseconds: "at" since 1970, in samples and events relative to the
// Batch. A sample is [series, at, span, n, sum, min, max, last]. A series is
// defined before its first sample, so a recording that was cut anywhere is good
// up to its last whole line. Lines of an unknown kind are skipped, another major
// schema is refused. What is asked of an agent, and its answers, are lines of their
// own kinds (Request, Answer). The package does not know what is measured and draws nothing.
package recording
