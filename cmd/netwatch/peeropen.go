package main

import (
	"context"
	"errors"
	"net/netip"
	"strings"
)

// openPeers reads --peer and, with --push, brings netwatch there.
func (o *options) openPeers(ctx context.Context, iface string) ([]*peer, error) {
	all, err := o.parsePeers(iface)
	if err != nil || o.push == noPush {
		return all, err
	}
	for i, p := range all {
		if err := p.push(ctx); err != nil {
			for _, pushed := range all[:i] {
				err = errors.Join(err, pushed.unpush())
			}
			return nil, err
		}
	}
	return all, nil
}

// parsePeers reads --peer. A host is one end, with one interface: what its agent says is
// told by the host's name alone.
func (o *options) parsePeers(iface string) ([]*peer, error) {
	var all []*peer
	named := map[string]bool{}
	for _, text := range o.peers {
		p, err := o.parsePeer(text, iface)
		if err != nil {
			return nil, err
		}
		_, host := cutUser(p.host)
		if host = strings.ToLower(host); named[host] {
			return nil, usageError("--peer %q: %s is a peer already; of each host one interface can be watched", text, host)
		}
		named[host] = true
		all = append(all, p)
	}
	return all, nil
}

// splitPeer reads HOST or HOST:IFACE. An IPv6 address stands in brackets, as in an URL,
// or alone; ssh wants it bare.
func splitPeer(text string) (host, iface string, named bool) {
	user, rest := cutUser(text)
	if addr, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && strings.HasPrefix(rest, "[") {
		iface, named = strings.CutPrefix(after, ":")
		if after != "" && !named {
			return "", "", false
		}
		return user + addr, iface, named
	}
	if a, err := netip.ParseAddr(rest); err == nil && a.Is6() {
		return text, "", false
	}
	return strings.Cut(text, ":")
}

// cutUser parts "root@" from a host.
func cutUser(text string) (user, host string) {
	at := strings.IndexByte(text, '@') + 1
	return text[:at], text[at:]
}

// parsePeer reads HOST or HOST:IFACE.
func (o *options) parsePeer(text, iface string) (*peer, error) {
	host, name, named := splitPeer(text)
	p := &peer{host: host, iface: iface, ssh: strings.Fields(o.ssh), path: o.peerPath, every: o.peerEvery, knobFlags: o.knob, program: o.push}
	if named {
		p.iface = name
	}
	if strings.Contains(p.iface, ":") {
		return nil, usageError("--peer %q: an IPv6 address with an interface is [ADDRESS]:IFACE", text)
	}
	for _, k := range p.knobFlags {
		if strings.ContainsFunc(k, unsafeInQuotes) {
			return nil, usageError("--knob %q cannot be passed on to %s", k, p.host)
		}
	}
	for _, word := range []string{p.host, p.iface, p.path} {
		if word == "" || word != iface && strings.HasPrefix(word, "-") || strings.ContainsFunc(word, unsafeInShell) {
			return nil, usageError("--peer %q: HOST or HOST:IFACE, in plain letters (%q cannot be passed on)", text, word)
		}
	}
	if len(p.ssh) == 0 {
		return nil, usageError("--ssh needs a command")
	}
	p.restore = o.restoreCommand(text)
	return p, nil
}

// unsafeInShell: ssh hands its arguments to a shell over there, so only what no
// shell takes for its own is passed on.
func unsafeInShell(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/@+:=,%", r))
}

// unsafeInQuotes: values of knobs may have blanks, which double quotes keep together.
func unsafeInQuotes(r rune) bool { return r != ' ' && unsafeInShell(r) }

// restoreCommand is what a person types to put back what was left turned on a peer: it
// reaches the peer as this netwatch does.
func (o *options) restoreCommand(peer string) string {
	words := []string{"netwatch", "restore", "--peer", peer}
	if o.ssh != sshCommand {
		words = append(words, "--ssh", o.ssh)
	}
	switch o.push {
	case noPush:
		if o.peerPath != peerProgram {
			words = append(words, "--peer-path", o.peerPath)
		}
	case pushThis:
		words = append(words, "--push")
	default:
		words = append(words, "--push="+o.push)
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted is one word for a shell of this host.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, unsafeInShell) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
