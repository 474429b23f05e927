// Package agent is the small process that turns knobs with root's rights, and the
// end of the pipe that asks it to. Serve is the process: it speaks the recording
// codec, works off requests, and puts back what it turned when its standard input
// ends, however the other side went, or when an asker on another host is silent that
// promised not to be. Client is the other side: it starts an agent, here or on
// another host, passes on what it says as a source, and turns knobs.
//
// The package does not know how to become root or how to reach a host: the
// Client is given the command to run.
package agent
