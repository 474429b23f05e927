package tcp

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"netwatch/parsers/linux"
)

// A linuxKernel asks INET_DIAG. A dump walks the kernel's whole table of
// connections (over 1 ms), an exact request finds one in some 10 microseconds.
type linuxKernel struct {
	fd       int
	seq      uint32
	buf      []byte
	families []uint8 // dump these one by one: the kernel does not take both at once
	cc       string  // the congestion control seen last
}

func openKernel() (kernel, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("inet_diag socket", err)
	}
	return &linuxKernel{fd: fd, buf: make([]byte, 64<<10)}, nil
}

func (k *linuxKernel) close() error { return unix.Close(k.fd) }

func (k *linuxKernel) dump(dst []socket) ([]socket, error) {
	if len(k.families) == 0 {
		k.seq++
		all, err := k.ask(linux.DiagDumpAll(k.buf, k.seq), false, dst)
		if err == nil {
			return all, nil
		}
		k.families = []uint8{linux.FamilyIPv4, linux.FamilyIPv6}
	}
	for _, family := range k.families {
		k.seq++
		var err error
		if dst, err = k.ask(linux.DiagDump(k.buf, k.seq, family), false, dst); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (k *linuxKernel) one(s *socket) error {
	k.seq++
	var room [1]socket
	found, err := k.ask(linux.DiagExact(k.buf, k.seq, s.family, linux.SockID(s.key)), true, room[:0])
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESTALE), err == nil && len(found) == 0:
		return errEnded
	case err != nil:
		return err
	}
	*s = found[0]
	return nil
}

// ask sends a request and appends the answers to dst. An exact request has one
// answer, a dump ends with a mark.
func (k *linuxKernel) ask(request []byte, exact bool, dst []socket) ([]socket, error) {
	if _, err := unix.Write(k.fd, request); err != nil {
		return dst, os.NewSyscallError("inet_diag send", err)
	}
	for {
		n, err := unix.Read(k.fd, k.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return dst, os.NewSyscallError("inet_diag receive", err)
		}
		for rest := k.buf[:n]; len(rest) > 0; {
			var m linux.Message
			if m, rest, err = linux.NextMessage(rest); err != nil {
				return dst, err
			}
			if m.Seq != k.seq {
				continue // the answer to a request that was given up
			}
			if errno, ok := m.Errno(); ok && errno != 0 {
				return dst, os.NewSyscallError("inet_diag", unix.Errno(errno))
			}
			if m.Type == linux.TypeDone || m.Type == linux.TypeError {
				return dst, nil
			}
			s, err := linux.ParseSocket(m, k.cc)
			if err != nil {
				return dst, err
			}
			k.cc = s.CC
			if s.HasInfo {
				dst = append(dst, toSocket(s))
			}
			if exact {
				return dst, nil
			}
		}
	}
}

func toSocket(s linux.Socket) socket {
	t := s.Info
	ssthresh, _ := t.SsthreshBytes()
	to := socket{
		key: key(s.ID), family: s.Family, local: s.Local, remote: s.Remote, cc: s.CC, mss: int(t.SndMSS),
		cwnd: float64(t.CwndBytes()), ssthresh: float64(ssthresh), inflight: float64(t.InflightBytes()),
		srtt: float64(t.RTT), rttvar: float64(t.RTTVar), queue: s.SendQueue, retrans: uint64(t.TotalRetrans),
		acked: t.BytesAcked, received: t.BytesReceived,
		knows: knowsRTT | knowsInflight | knowsCwnd,
	}
	if t.HasBytes {
		to.knows |= knowsBytes
	}
	return to
}
