package cpu

import (
	"netwatch/parsers/bsd"
	"netwatch/sources/sysctl"
)

// A freebsdKernel reads kern.cp_times.
type freebsdKernel struct {
	mib   sysctl.MIB
	raw   []byte
	times []bsd.CPTime
}

func openKernel() (kernel, error) {
	mib, err := sysctl.Lookup("kern.cp_times")
	if err != nil {
		return nil, err
	}
	return &freebsdKernel{mib: mib}, nil
}

func (k *freebsdKernel) close() error { return nil }

func (k *freebsdKernel) read(dst []coreTime) (_ []coreTime, err error) {
	if k.raw, err = k.mib.Read(k.raw); err != nil {
		return dst, err
	}
	if k.times, err = bsd.AppendCPTimes(k.times[:0], k.raw); err != nil {
		return dst, err
	}
	for i, c := range k.times {
		dst = append(dst, coreTime{i, c.Busy(), c.Total()})
	}
	return dst, nil
}
