// Package netns runs a test in a network namespace of its own, where it may change
// what it likes. Only tests import it: it starts programs, which the program itself
// leaves to package proc. Namespaces are Linux's; elsewhere the package is empty.
package netns
