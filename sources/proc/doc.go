// Package proc runs a child process and hands out what it says, piece by piece,
// with the time each piece arrived. It is the only package that may start
// programs: arguments only, never a shell.
//
// A child has a process group of its own, so that Ctrl-C on the terminal does not
// reach it and stopping it reaches its children. Its standard input is empty, its
// language is C. It does not outlive its Child: Stop ends the group, and what is
// left of the group when the child itself has ended is ended too. A Detached child
// is the exception: it is told to end by the end of its input.
package proc
