// Package sysctl reads and writes FreeBSD's kernel variables by direct calls: no
// tool is started, and a name that is polled is looked up once. It also asks what
// a vlan, lagg or bridge lies on. It gives bytes; parsers/bsd decodes them. On
// other systems every call is unsupported.
//
// Errors satisfy errors.Is for os.ErrNotExist (ENOENT: no such name, for example of a
// module that is not loaded) and os.ErrPermission.
package sysctl

// A MIB is the kernel's number for a name. It is good as long as what the name
// belongs to stays: a driver or module that is loaded again gets new numbers, and
// the old ones may come to mean something else.
type MIB []int32
