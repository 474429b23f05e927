package cpu

import (
	"io"
	"os"

	"netwatch/parsers/linux"
)

// procStat is where Linux tells the time of its cores.
const procStat = "/proc/stat"

// A linuxKernel reads /proc/stat, kept open.
type linuxKernel struct {
	f     *os.File
	text  []byte
	times []linux.CPUTime
}

func openKernel() (kernel, error) { return openStat(procStat) }

func openStat(path string) (*linuxKernel, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &linuxKernel{f: f, text: make([]byte, 16<<10)}, nil
}

func (k *linuxKernel) close() error { return k.f.Close() }

func (k *linuxKernel) read(dst []coreTime) ([]coreTime, error) {
	n, err := k.f.ReadAt(k.text, 0)
	for err == nil { // the text fills the buffer: there may be more
		k.text = append(k.text, make([]byte, len(k.text))...)
		n, err = k.f.ReadAt(k.text, 0)
	}
	if err != io.EOF {
		return dst, err
	}
	if k.times, err = linux.AppendCPUTimes(k.times[:0], k.text[:n]); err != nil {
		return dst, err
	}
	for _, c := range k.times {
		dst = append(dst, coreTime{c.CPU, c.Busy, c.Total()})
	}
	return dst, nil
}
