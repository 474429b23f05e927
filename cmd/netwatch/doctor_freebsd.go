package main

// noSiftr is what doctor says when there is no log: the modules tell their log's path.
var noSiftr = finding{what: "siftr log", state: notLoaded, words: "no cwnd of each packet", mend: "sudo kldload siftr"}

// install is the command that installs a program.
func install(name string) string {
	if name == "ping" {
		return "it is part of the base system"
	}
	return "sudo pkg install " + name
}
