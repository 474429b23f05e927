package siftr_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"netwatch/sources/siftr"
)

// A kernel is the modules' switches with the habits that real kernels have: widths
// of 1, 2, 4 bytes; stock siftr makes its file at the set and reads a refused name
// back; siftr2 makes it at the enable, which is what is refused.
type kernel struct {
	mu     sync.Mutex
	vars   map[string][]byte
	inUse  map[string]string // module -> the file that is written
	denied error             // what a turn that cannot be tried says
	turns  []string
}

const defaults = "\x00\x00\x00\x00"

// newKernel has the modules loaded, with logs in dir, as after kldload.
func newKernel(dir string, modules ...string) *kernel {
	k := &kernel{vars: map[string][]byte{}, inUse: map[string]string{}}
	for _, m := range modules {
		base := "net.inet." + m + "."
		k.vars[base+"enabled"] = []byte(defaults)
		k.vars[base+"ppl"] = []byte{1, 0, 0, 0}
		k.vars[base+"port_filter"] = []byte{0, 0}
		k.vars[base+"logfile"] = []byte(filepath.Join(dir, m+".log") + "\x00")
		k.inUse[m] = filepath.Join(dir, m+".log")
		if m == "siftr2" {
			k.vars[base+"cwnd_filter"] = []byte{0}
			k.vars[base+"flowid_filter"] = []byte("00000000\x00")
			k.vars[base+"enable_binary_record"] = []byte{0}
		}
	}
	return k
}

// Read implements siftr.Kernel.
func (k *kernel) Read(name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b, ok := k.vars[name]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("sysctl %s: %w", name, os.ErrNotExist)
}

func (k *kernel) put(name string, value []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.vars["net.inet."+name] = value
}

// Turn implements sources.Turner. What the kernel refuses is no error.
func (k *kernel) Turn(_ context.Context, _, knob, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.denied != nil {
		return k.denied
	}
	k.turns = append(k.turns, knob+"="+filepath.Base(value))
	switch knob {
	case "siftr.log":
		k.vars["net.inet.siftr.logfile"] = []byte(value + "\x00")
		if touch(value, os.O_APPEND) == nil {
			k.inUse["siftr"] = value
		}
	case "siftr2.log":
		k.vars["net.inet.siftr2.logfile"] = []byte(value + "\x00")
	case "siftr.port", "siftr2.port":
		n, _ := strconv.Atoi(value)
		k.vars["net.inet."+knob[:len(knob)-5]+".port_filter"] = binary.LittleEndian.AppendUint16(nil, uint16(n))
	case "siftr", "siftr2":
		if value == "1" && knob == "siftr2" {
			path := string(k.vars["net.inet.siftr2.logfile"])
			path = path[:len(path)-1]
			if touch(path, os.O_TRUNC) != nil {
				return nil // ENOENT, and it stays off
			}
			k.inUse[knob] = path
		}
		k.vars["net.inet."+knob+".enabled"] = []byte{value[0] - '0', 0, 0, 0}
	}
	return nil
}

func touch(path string, flag int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// write appends to the file that a module writes.
func (k *kernel) write(t *testing.T, module, text string) {
	t.Helper()
	k.mu.Lock()
	path := k.inUse[module]
	k.mu.Unlock()
	appendTo(t, path, text)
}

func TestReadSwitches(t *testing.T) {
	k := newKernel("/var/log", "siftr", "siftr2")
	k.put("siftr2.enabled", []byte{1, 0, 0, 0})
	k.put("siftr2.ppl", []byte{10, 0, 0, 0})
	k.put("siftr2.port_filter", []byte{0x51, 0x14}) // 5201
	k.put("siftr2.cwnd_filter", []byte{1})
	k.put("siftr2.flowid_filter", []byte("dd7fc950\x00"))
	k.put("siftr2.enable_binary_record", []byte{1})
	tests := []struct {
		module, thinned string
		want            siftr.Switches
	}{
		{"siftr", "", siftr.Switches{Module: "siftr", LogFile: "/var/log/siftr.log", Filters: siftr.Filters{PPL: 1}}},
		{"siftr2", "ppl=10, cwnd_filter, flowid_filter=dd7fc950", siftr.Switches{Module: "siftr2", Enabled: true, LogFile: "/var/log/siftr2.log",
			Filters: siftr.Filters{PPL: 10, Port: 5201, Cwnd: true, FlowID: "dd7fc950"}, Binary: true}},
	}
	for _, tt := range tests {
		got, err := siftr.ReadSwitches(k, tt.module)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.module, got, err, tt.want)
		}
		if why := got.Thinned(); why != tt.thinned {
			t.Errorf("%s: thinned by %q, want %q", tt.module, why, tt.thinned)
		}
	}
	if _, err := siftr.ReadSwitches(newKernel(""), "siftr2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("not loaded: %v", err)
	}
	// ppl=0 logs every packet, a flowid_filter of zeros is none.
	for _, f := range []siftr.Filters{{PPL: 0}, {PPL: 1}, {Port: 5201}} {
		if why := f.Thinned(); why != "" {
			t.Errorf("%+v is said to be thinned by %q", f, why)
		}
	}
}

// TestThisKernel asks the real one: FreeBSD has the module loaded or not, any
// other system has no such thing.
func TestThisKernel(t *testing.T) {
	sw, err := siftr.ReadSwitches(siftr.Sysctl{}, "siftr")
	switch {
	case err == nil && sw.LogFile == "", err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported):
		t.Errorf("%+v, %v", sw, err)
	}
}
