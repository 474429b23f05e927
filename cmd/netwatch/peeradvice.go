package main

import (
	"cmp"
	"context"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// advised is what went wrong with a peer, and what a person can do about it.
func (p *peer) advised(ctx context.Context, said string) string {
	if advice := p.advice(ctx, said); advice != "" {
		return said + "; " + advice
	}
	return said
}

// advisedOf is err with the advice, where err is of this peer.
func (p *peer) advisedOf(ctx context.Context, err error) error {
	if err == nil || !strings.Contains(err.Error(), " on "+p.host+" ") {
		return err
	}
	if advice := p.advice(ctx, err.Error()); advice != "" {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

var (
	// wrongProgram are the words of a host that has no netwatch, or another one.
	wrongProgram = regexp.MustCompile(`not found|No such file|[Ee]xec format|is netwatch |unknown flag`)
	// crashed are the statuses of a program that could not run: the shell's, for a signal,
	// and ssh's own, which tells no more of one. Where ssh did not get there it says why.
	crashed = regexp.MustCompile(`(?m)exit status (126|132|134|139)\b|exit status 255$`)
)

// advice is how netwatch gets onto a host that has none, or another one: the exact
// lines, for its system and machine.
func (p *peer) advice(ctx context.Context, said string) string {
	wrong := wrongProgram.MatchString(said)
	if !wrong && !crashed.MatchString(said) || ctx.Err() != nil {
		return ""
	}
	host, program := p.systems(ctx)
	if host.os == "" || !wrong && (program.os == "" || program == host) {
		return ""
	}
	remote, file := p.host, "netwatch."+strings.ReplaceAll(p.host, ":", "-")
	if user, addr := cutUser(p.host); strings.Contains(addr, ":") { // scp takes the first colon for its own
		remote = user + "[" + addr + "]"
	}
	words := ""
	if program.os != "" && program != host {
		words = fmt.Sprintf("it is netwatch for %s/%s; ", program.os, program.arch)
	}
	return words + fmt.Sprintf("build and copy it: GOOS=%s GOARCH=%s CGO_ENABLED=0 go build -o %s ./cmd/netwatch && scp %s %s:netwatch, then --peer-path ./netwatch",
		host.os, host.arch, file, file, remote)
}

// A system is what a program is built for, as Go calls it; empty where it is not known.
type system struct{ os, arch string }

// systems are that of the peer and that of the netwatch which is run there. A banner may
// stand around what is asked.
func (p *peer) systems(ctx context.Context) (host, program system) {
	const mark = "netwatch asks: "
	script := "echo " + mark + "`uname -sm`; n=`command -v " + p.path + "`; echo " + mark + "`od -An -tx1 -N20 ${n:-" + p.path + "} 2>/dev/null`"
	ctx, cancel := context.WithTimeout(ctx, peerAskLimit)
	defer cancel()
	out, _, _, err := runToEnd(ctx, p.argv("sh", "-c", "'"+script+"'"))
	_, told, ok := strings.Cut(out, mark)
	if err != nil || !ok {
		return system{}, system{}
	}
	uname, rest, _ := strings.Cut(told, "\n")
	if f := strings.Fields(uname); len(f) == 2 {
		arch := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[f[1]]
		host = system{strings.ToLower(f[0]), cmp.Or(arch, f[1])}
	}
	switch p.program {
	case noPush:
		_, dump, _ := strings.Cut(rest, mark)
		dump, _, _ = strings.Cut(dump, "\n")
		head, _ := hex.DecodeString(strings.Join(strings.Fields(dump), ""))
		return host, builtFor(head)
	case pushThis:
		return host, system{runtime.GOOS, runtime.GOARCH}
	}
	f, err := os.Open(p.program)
	if err != nil {
		return host, system{}
	}
	defer f.Close()
	head := make([]byte, elfHead)
	_, _ = io.ReadFull(f, head)
	return host, builtFor(head)
}

// elfHead is how much of a program tells what it is built for.
const elfHead = 20

// builtFor reads the head of a program. Go marks those for FreeBSD; those for Linux have
// no mark.
func builtFor(head []byte) system {
	if len(head) < elfHead || string(head[:4]) != elf.ELFMAG {
		return system{}
	}
	s := system{arch: map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[elf.Machine(uint16(head[18])|uint16(head[19])<<8)],
		os: map[elf.OSABI]string{elf.ELFOSABI_FREEBSD: "freebsd", elf.ELFOSABI_NONE: "linux", elf.ELFOSABI_LINUX: "linux"}[elf.OSABI(head[elf.EI_OSABI])]}
	if s.os == "" || s.arch == "" {
		return system{}
	}
	return s
}
