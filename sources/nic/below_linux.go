package nic

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netwatch/parsers/linux"
)

// below asks what the interface lies on.
func below(iface string) (kind string, over []string) {
	links, err := allLinks()
	if err != nil {
		return "", nil
	}
	return belowIn(links, iface)
}

// belowIn finds a vlan's parent, the members of a bond, team or bridge. A veth's
// link is its other end, which it does not lie on.
func belowIn(links []linux.Link, iface string) (kind string, over []string) {
	at := slices.IndexFunc(links, func(l linux.Link) bool { return l.Name == iface })
	if at < 0 {
		return "", nil
	}
	own := links[at]
	switch own.Kind {
	case "vlan":
		kind = fmt.Sprintf("vlan %d", own.VLAN)
	case "bond", "team", "bridge", "macvlan":
		kind = own.Kind
	default:
		return "", nil
	}
	for _, l := range links {
		if l.Master == own.Index || l.Index == own.Lower && own.Lower > 0 {
			over = append(over, l.Name)
		}
	}
	return kind, over
}

// allLinks asks rtnetlink for every link.
func allLinks() (links []linux.Link, err error) {
	fd, err := routeSocket(0, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	patience := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return nil, os.NewSyscallError("rtnetlink", err)
	}
	buf := make([]byte, 64<<10)
	if _, err := unix.Write(fd, linux.LinksRequest(buf, 1)); err != nil {
		return nil, os.NewSyscallError("rtnetlink send", err)
	}
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("rtnetlink receive", err)
		}
		for rest := buf[:n]; len(rest) > 0; {
			var m linux.Message
			if m, rest, err = linux.NextMessage(rest); err != nil {
				return nil, err
			}
			switch m.Type {
			case linux.TypeDone:
				return links, nil
			case linux.TypeError:
				errno, _ := m.Errno()
				return nil, os.NewSyscallError("rtnetlink", unix.Errno(errno))
			}
			if l, err := linux.ParseLink(m); err == nil {
				links = append(links, l)
			}
		}
	}
}
