package siftr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"netwatch/sources/sysctl"
)

// A Kernel reads kernel variables by name, as sysctl(3) gives them. Errors satisfy
// errors.Is for os.ErrNotExist (the module is not loaded) and
// errors.ErrUnsupported (a system without sysctl).
type Kernel interface {
	Read(name string) ([]byte, error)
}

// Sysctl is the Kernel of this host.
type Sysctl struct{}

// Read implements Kernel.
func (Sysctl) Read(name string) ([]byte, error) { return sysctl.Read(name) }

// modules are the two that log, the richer one first.
var modules = []string{"siftr2", "siftr"}

// Switches are how a module is set: net.inet.siftr or net.inet.siftr2. What a
// module does not have keeps its zero value.
type Switches struct {
	Module  string // "siftr", "siftr2"
	Enabled bool
	LogFile string // as it reads; stock siftr reads back also a name that it refused
	Filters
	Binary bool // enable_binary_record: siftr2 2.4 and newer
}

// Filters are the switches that keep packets out of a log.
type Filters struct {
	PPL    uint32 // of a flow each so many packets one is logged; 0 is 1
	Port   uint16 // port_filter: only flows with this port on either side; 0 all
	Cwnd   bool   // cwnd_filter: only packets at which cwnd changed
	FlowID string // flowid_filter: only packets that carry this id; "" all
}

// ReadSwitches asks the kernel. Widths are those the kernel gave: 1 byte for the
// bools, 2 for port_filter, 4 for the rest.
func ReadSwitches(k Kernel, module string) (Switches, error) {
	s := Switches{Module: module}
	r := switchReader{k: k, base: "net.inet." + module + "."}
	s.Enabled = r.number("enabled") != 0
	s.LogFile = r.text("logfile")
	if r.err != nil {
		return s, r.err
	}
	s.PPL = uint32(r.number("ppl"))
	s.Port = uint16(r.number("port_filter"))
	s.Cwnd = r.number("cwnd_filter") != 0
	s.FlowID = r.text("flowid_filter")
	s.Binary = r.number("enable_binary_record") != 0
	if strings.Trim(s.FlowID, "0") == "" {
		s.FlowID = ""
	}
	if errors.Is(r.err, os.ErrNotExist) { // an older module has fewer switches
		return s, nil
	}
	return s, r.err
}

// A switchReader keeps the first error.
type switchReader struct {
	k    Kernel
	base string
	err  error
}

func (r *switchReader) read(leaf string) []byte {
	b, err := r.k.Read(r.base + leaf)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s%s: %w", r.base, leaf, err)
	}
	return b
}

func (r *switchReader) number(leaf string) uint64 {
	var b [8]byte
	copy(b[:], r.read(leaf))
	return binary.LittleEndian.Uint64(b[:])
}

func (r *switchReader) text(leaf string) string {
	s, _, _ := strings.Cut(string(r.read(leaf)), "\x00")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, s)
}

// Thinned says why a log written so lacks packets of a flow, "" when it has them
// all. port_filter is not among the reasons: a flow is logged whole or not at all.
func (f Filters) Thinned() string {
	var why []string
	if f.PPL > 1 {
		why = append(why, fmt.Sprintf("ppl=%d", f.PPL))
	}
	if f.Cwnd {
		why = append(why, "cwnd_filter")
	}
	if f.FlowID != "" {
		why = append(why, "flowid_filter="+f.FlowID)
	}
	return strings.Join(why, ", ")
}

// words say what else a person should know of the filters.
func (f Filters) words() []string {
	var out []string
	if f.Port != 0 {
		out = append(out, fmt.Sprintf("only flows with port %d are logged (port_filter)", f.Port))
	}
	if f.FlowID != "" {
		out = append(out, "flowid_filter logs nothing when the card gives no hash: it compares the packet's own id")
	}
	return out
}
