package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"netwatch/sources/proc"
)

// missed takes note of why a peer is not there.
func (p *peer) missed(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why = why
}

// verdictOnPeers is an error for a peer that was asked for and never came. On the screen
// a person may leave before it could; elsewhere the time was theirs to give.
func (p *plan) verdictOnPeers() error {
	var never []error
	for _, peer := range p.peers {
		peer.mu.Lock()
		came, why := peer.came, peer.why
		peer.mu.Unlock()
		if came || why == "" && p.output == "tui" {
			continue
		}
		never = append(never, fmt.Errorf("peer %s never came: %s", peer.host, cmp.Or(why, "it has not answered yet")))
	}
	if len(never) == 0 {
		return nil
	}
	return &exitError{exitFailure, errors.Join(never...)}
}

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

// advice is how netwatch gets onto a host that has none, or another one: the exact
// lines, for its system and machine.
func (p *peer) advice(ctx context.Context, said string) string {
	missing := strings.Contains(said, "not found") || strings.Contains(said, "No such file") || strings.Contains(said, "Exec format") ||
		strings.Contains(said, "exec format") || strings.Contains(said, "is netwatch ")
	if !missing || ctx.Err() != nil {
		return ""
	}
	told, err := proc.Ask(askLimit, p.argv("uname", "-sm")...)
	told = strings.TrimSpace(told)
	f := strings.Fields(told[strings.LastIndexByte(told, '\n')+1:]) // a banner may come first
	if err != nil || len(f) < 2 {
		return ""
	}
	remote, file := p.host, "netwatch."+strings.ReplaceAll(p.host, ":", "-")
	if user, addr := cutUser(p.host); strings.Contains(addr, ":") { // scp takes the first colon for its own
		remote = user + "[" + addr + "]"
	}
	arch := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[f[1]]
	return fmt.Sprintf("build and copy it: GOOS=%s GOARCH=%s CGO_ENABLED=0 go build -o %s ./cmd/netwatch && scp %s %s:netwatch, then --peer-path ./netwatch",
		strings.ToLower(f[0]), cmp.Or(arch, f[1]), file, file, remote)
}
