//go:build !freebsd

package main

// noSiftr is what doctor says when there is no log.
var noSiftr = finding{what: "siftr log", state: isOK, words: "none: only FreeBSD writes them; tcp reads the sockets"}

// install is the command that installs a program.
func install(name string) string {
	if name == "ping" {
		name = "iputils-ping"
	}
	return "sudo apt install " + name
}
