package tcp

import (
	"errors"

	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads net.inet.tcp.pcblist. It carries cwnd, ssthresh, the send
// queue and the retransmitted packets; no RTT and no count of payload.
type freebsdKernel struct {
	mib  sysctl.MIB
	raw  []byte
	pcbs []bsd.PCB
}

func openKernel() (kernel, error) {
	mib, err := sysctl.Lookup("net.inet.tcp.pcblist")
	if err != nil {
		return nil, err
	}
	return &freebsdKernel{mib: mib}, nil
}

func (k *freebsdKernel) close() error { return nil }

func (k *freebsdKernel) one(*socket) error { return errors.ErrUnsupported }

func (k *freebsdKernel) dump(dst []socket) (_ []socket, err error) {
	if k.raw, err = k.mib.Read(k.raw); err != nil {
		return dst, err
	}
	if k.pcbs, err = bsd.AppendPCBs(k.pcbs[:0], k.raw); err != nil {
		return dst, err
	}
	for _, p := range k.pcbs {
		if p.State.Moving() {
			dst = append(dst, fromPCB(p))
		}
	}
	return dst, nil
}
