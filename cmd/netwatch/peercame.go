package main

import (
	"cmp"
	"errors"
	"fmt"
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
