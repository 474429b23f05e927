package main

import (
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// head is how a program begins that Go built.
func head(abi elf.OSABI, m elf.Machine) []byte {
	b := make([]byte, 64)
	copy(b, elf.ELFMAG)
	b[elf.EI_OSABI], b[18] = byte(abi), byte(m)
	return b
}

// How netwatch gets onto a peer is told where the program there is none for its system,
// also when all that is known is that it died; not where it died of something else.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, b, 0o755))
		return path
	}
	freebsd, linux := file("freebsd", head(elf.ELFOSABI_FREEBSD, elf.EM_X86_64)), file("linux", head(elf.ELFOSABI_NONE, elf.EM_X86_64))
	arm, script := file("arm", head(elf.ELFOSABI_NONE, elf.EM_AARCH64)), file("script", []byte("#!/bin/sh\n# of more than 20 octets\n"))
	const build = "build and copy it: GOOS=linux GOARCH=amd64 "
	const crash = "the agent on r1 did not start: exit status 139: Segmentation fault"
	for _, c := range []struct {
		name, said, uname, path, push, want string
	}{
		{"none there", "sh: netwatch: not found", "echo Linux x86_64", "/nowhere/netwatch", noPush, build},
		{"another version", "the agent on r1 is netwatch 0.1, this is 0.2", "echo Linux x86_64", linux, noPush, build},
		{"FreeBSD's dies", crash, "echo Linux x86_64", freebsd, noPush, "it is netwatch for freebsd/amd64; " + build},
		{"ssh tells only that it is gone", "the agent on r1 did not start: exit status 255", "echo Linux x86_64", freebsd, noPush, "it is netwatch for freebsd/amd64; " + build},
		{"another machine's", "exit status 126: Illegal instruction", "echo Linux x86_64", arm, noPush, "it is netwatch for linux/arm64; " + build},
		{"FreeBSD's, pushed", crash, "echo Linux x86_64", "/tmp/gone", freebsd, "it is netwatch for freebsd/amd64; " + build},
		{"its own dies", crash, "echo Linux x86_64", linux, noPush, ""},
		{"its own, pushed, dies", crash, "echo Linux x86_64", "/tmp/gone", linux, ""},
		{"a script dies", crash, "echo Linux x86_64", script, noPush, ""},
		{"another end", "exit status 1: veth9: no such interface", "echo Linux x86_64", freebsd, noPush, ""},
		{"nothing but words on standard error", "sh: netwatch: not found", "echo bash: netwatch: >&2", "/nowhere/netwatch", noPush, ""},
		{"ssh did not get there", "the agent on r1 did not start: exit status 255: no route to host", "echo Linux x86_64", freebsd, noPush, ""},
		{"the link was lost", "the agent on r1 is gone (exit status 255)", "echo Linux x86_64", freebsd, noPush, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			must(t, os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\n"+c.uname+"\n"), 0o755))
			// It speaks before and beside what it is asked, as sshd's banner and a login shell do.
			must(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\necho Authorized use only >&2; echo Welcome to r1\nshift 3\neval \"$*\"\n"), 0o755))
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			p := &peer{host: "r1", ssh: []string{"ssh"}, path: c.path, program: c.push}
			got := p.advice(t.Context(), c.said)
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if s := builtFor(head(elf.ELFOSABI_FREEBSD, elf.EM_X86_64)[:19]); s.os != "" {
		t.Errorf("half a head is %+v", s)
	}
	b, _ := hex.DecodeString("7f454c4602010109000000000000000002003e00") // go build for freebsd/amd64
	if s := builtFor(b); s != (system{"freebsd", "amd64"}) {
		t.Errorf("%+v", s)
	}
}

// What sshd says to everybody is no failure to remove what was pushed.
func TestRemovingWhatWasPushed(t *testing.T) {
	for _, c := range []struct {
		name, ssh, want string
	}{
		{"a banner", `echo Authorized use only >&2; shift 3; exec "$@"`, ""},
		{"it stays", "echo Authorized use only >&2; exit 1", "may still be there: Authorized use only"},
		{"without a word", "exit 255", "may still be there: exit status 255"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ssh := filepath.Join(t.TempDir(), "ssh")
			must(t, os.WriteFile(ssh, []byte("#!/bin/sh\n"+c.ssh+"\n"), 0o755))
			pushed := t.TempDir()
			p := &peer{host: "r1", ssh: []string{ssh}, pushed: pushed}
			err := p.unpush()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(pushed); os.IsNotExist(err) != (c.want == "") {
				t.Errorf("what was pushed: %v", err)
			}
		})
	}
}
