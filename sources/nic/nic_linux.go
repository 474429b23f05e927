package nic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"netwatch/parsers/linux"
)

// A linuxKernel asks rtnetlink for the one link by name: counters, state and
// index come from the same answer, and from the network namespace the process is
// in (files in /sys are those of the namespace that mounted it).
type linuxKernel struct {
	iface string
	fd    int
	seq   uint32
	buf   []byte
	index int
	card  *cardStats
	speed uint64
}

func openKernel(iface string) (kernel, error) {
	fd, err := routeSocket(0, 0)
	if err != nil {
		return nil, err
	}
	card, err := openCardStats(iface)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &linuxKernel{iface: iface, fd: fd, buf: make([]byte, 32<<10), card: card}, nil
}

// routeSocket opens an rtnetlink socket that listens to the given groups.
func routeSocket(flags int, groups uint32) (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|flags, unix.NETLINK_ROUTE)
	if err != nil {
		return -1, os.NewSyscallError("rtnetlink socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("rtnetlink bind", err)
	}
	return fd, nil
}

func (k *linuxKernel) close() error { return errors.Join(k.card.Close(), unix.Close(k.fd)) }

func (k *linuxKernel) read(r *reading, whole bool) error {
	l, err := k.link()
	if err != nil {
		if now, lookup := net.InterfaceByIndex(k.index); k.index > 0 && errors.Is(err, errGone) && lookup == nil {
			return renamed{now.Name}
		}
		return err
	}
	if !l.HasStats {
		return fmt.Errorf("rtnetlink: no 64-bit statistics: %w", errors.ErrUnsupported)
	}
	s := l.Stats
	if l.Index != k.index {
		k.index = l.Index
		k.card.find()
	}
	r.epoch, r.up = l.Index, l.Up()
	r.mac.reset()
	if whole {
		k.speed = 0
		if k.card.driver.line {
			k.speed, _ = linkOf(k.card.Card)
		}
		k.card.read(&r.mac)
	}
	r.speed = k.speed
	r.stack = append(r.stack[:0], s.RxOctets, s.TxOctets, s.RxPackets, s.TxPackets,
		s.RxDropped, s.TxDropped, s.RxErrors, s.TxErrors, s.RxMissed)
	return nil
}

// link asks for the link. The kernel answers within the send, so the answer is
// there when it returns.
func (k *linuxKernel) link() (linux.Link, error) {
	k.seq++
	if _, err := unix.Write(k.fd, linux.LinkRequest(k.buf, k.seq, k.iface)); err != nil {
		return linux.Link{}, os.NewSyscallError("rtnetlink send", err)
	}
	for {
		n, err := unix.Read(k.fd, k.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return linux.Link{}, os.NewSyscallError("rtnetlink receive", err)
		}
		m, _, err := linux.NextMessage(k.buf[:n])
		if err != nil {
			return linux.Link{}, err
		}
		if m.Seq != k.seq {
			continue // the answer to a request that was given up
		}
		if errno, ok := m.Errno(); ok {
			if e := unix.Errno(errno); e != unix.ENODEV {
				return linux.Link{}, os.NewSyscallError("rtnetlink", e)
			}
			return linux.Link{}, errGone
		}
		l, err := linux.ParseLink(m)
		if err == nil && l.Name != k.iface {
			// An alternative name finds a link too; only the name itself counts.
			return linux.Link{}, errGone
		}
		return l, err
	}
}

// watch listens to the kernel's own announcements.
func (k *linuxKernel) watch(ctx context.Context, changes chan<- linkChange) error {
	fd, err := routeSocket(unix.SOCK_NONBLOCK, unix.RTMGRP_LINK)
	if err != nil {
		return err
	}
	return listen(ctx, os.NewFile(uintptr(fd), "rtnetlink"), changes, k.announced)
}

// announced reads the first message of b.
func (k *linuxKernel) announced(b []byte) (up, ours bool, rest []byte, err error) {
	m, rest, err := linux.NextMessage(b)
	if err != nil || m.Type != linux.TypeNewLink {
		return false, false, rest, err
	}
	l, err := linux.ParseLink(m)
	return l.Up(), err == nil && l.Name == k.iface, rest, nil
}
