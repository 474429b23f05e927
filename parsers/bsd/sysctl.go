package bsd

import (
	"fmt"
	"strconv"
	"strings"
)

// A SysctlType is CTLTYPE of sys/sysctl.h: the low four bits of the kind that the
// kernel tells of a name.
type SysctlType uint32

// The types.
const (
	TypeNode   SysctlType = 1
	TypeInt    SysctlType = 2
	TypeString SysctlType = 3
	TypeS64    SysctlType = 4
	TypeOpaque SysctlType = 5
	TypeUint   SysctlType = 6
	TypeLong   SysctlType = 7
	TypeUlong  SysctlType = 8
	TypeU64    SysctlType = 9
	TypeU8     SysctlType = 10
	TypeU16    SysctlType = 11
	TypeS8     SysctlType = 12
	TypeS16    SysctlType = 13
	TypeS32    SysctlType = 14
	TypeU32    SysctlType = 15
)

func (t SysctlType) signed() bool {
	switch t {
	case TypeInt, TypeS64, TypeLong, TypeS8, TypeS16, TypeS32:
		return true
	}
	return false
}

// ParseSysctlType reads the type out of the reply to {0, 4, MIB…} (CTL_SYSCTL_OIDFMT).
func ParseSysctlType(b []byte) (SysctlType, error) {
	if len(b) < 4 {
		return 0, fmt.Errorf("sysctl kind: %d bytes: %w", len(b), ErrFormat)
	}
	return SysctlType(order.Uint32(b) & 0xf), nil
}

// Flags of a kind, sys/sysctl.h.
const (
	flagTunable  = 0x00080000 // CTLFLAG_TUN: the loader sets it
	flagWritable = 0x40000000 // CTLFLAG_WR
)

// WhyReadOnly reads out of the same reply why a name cannot be set, in the words of
// sysctl(8); "" for one that can.
func WhyReadOnly(b []byte) string {
	switch {
	case len(b) < 4 || order.Uint32(b)&flagWritable != 0:
		return ""
	case order.Uint32(b)&flagTunable != 0:
		return "a read only tunable, which is set in /boot/loader.conf"
	}
	return "read only"
}

// Uint reads an unsigned value by its length: 1, 2, 4 or 8 bytes
// (net.inet.siftr.port_filter has 2, mac_stats have 8).
func Uint(b []byte) (uint64, error) {
	switch len(b) {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(order.Uint16(b)), nil
	case 4:
		return uint64(order.Uint32(b)), nil
	case 8:
		return order.Uint64(b), nil
	}
	return 0, fmt.Errorf("sysctl number of %d bytes: %w", len(b), ErrFormat)
}

// Word gives a value as sysctl(8) prints it. A string keeps its first line that
// is not empty; structures are refused.
func Word(t SysctlType, b []byte) (string, error) {
	switch t {
	case TypeString:
		for line := range strings.Lines(cString(b)) {
			if line = strings.TrimSpace(line); line != "" {
				return line, nil
			}
		}
		return "", nil
	case TypeNode, TypeOpaque:
		return "", fmt.Errorf("sysctl of type %d is no number and no text: %w", t, ErrFormat)
	}
	v, err := Uint(b)
	if err != nil {
		return "", err
	}
	if t.signed() {
		unused := 64 - 8*len(b)
		return strconv.FormatInt(int64(v<<unused)>>unused, 10), nil
	}
	return strconv.FormatUint(v, 10), nil
}

// AppendWord encodes a value for a write into dst: a number in size bytes, a
// string with its NUL.
func AppendWord(dst []byte, t SysctlType, size int, value string) ([]byte, error) {
	if t == TypeString {
		if strings.ContainsRune(value, 0) {
			return dst, fmt.Errorf("NUL in %q: %w", value, ErrFormat)
		}
		return append(append(dst, value...), 0), nil
	}
	if t == TypeNode || t == TypeOpaque || (size != 1 && size != 2 && size != 4 && size != 8) {
		return dst, fmt.Errorf("sysctl of type %d and %d bytes cannot be set: %w", t, size, ErrFormat)
	}
	var v uint64
	var err error
	if t.signed() {
		var i int64
		i, err = strconv.ParseInt(value, 10, 8*size)
		v = uint64(i)
	} else {
		v, err = strconv.ParseUint(value, 10, 8*size)
	}
	if err != nil {
		return dst, fmt.Errorf("%q is no number of %d bytes: %w", value, size, ErrFormat)
	}
	return append(dst, order.AppendUint64(nil, v)[:size]...), nil
}

// A CCModule is a row of net.inet.tcp.cc.available.
type CCModule struct {
	Name    string
	Default bool
	PCBs    int // connections that use it; -1 where the row does not tell
}

// ParseCCAvailable reads net.inet.tcp.cc.available: since FreeBSD 12 a table with an empty
// first line, a heading and "NAME [*] COUNT" rows, before that "newreno, cubic".
func ParseCCAvailable(b []byte) ([]CCModule, error) {
	var list []CCModule
	text := cString(b)
	if !strings.Contains(text, "CCmod") {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				list = append(list, CCModule{Name: name, PCBs: -1})
			}
		}
		return list, nil
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "CCmod" {
			continue
		}
		m := CCModule{Name: words[0], Default: words[1] == "*", PCBs: -1}
		n, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return list, fmt.Errorf("net.inet.tcp.cc.available: row %q: %w", strings.TrimSpace(line), ErrFormat)
		}
		m.PCBs = n
		list = append(list, m)
	}
	return list, nil
}
